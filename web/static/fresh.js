// Fetches this page again and replaces the parts that changed.

import { localise } from "./times.js";

function inUse(part) {
  const selection = document.getSelection();
  return part.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(part, true));
}

function differs(part, fresh) {
  return fresh.innerHTML !== part.innerHTML || [...fresh.attributes].some(({ name, value }) => part.getAttribute(name) !== value);
}

const TIMEOUT_MILLIS = 10_000;

/** Return a signal that ends a fetch. A dead connection may never report an error. */
export const timeout = () => AbortSignal.timeout(TIMEOUT_MILLIS);

// The last response, for conditional requests.
let last = { etag: null, page: null };

async function fetchPage() {
  const headers = { Accept: "text/html" };
  if (last.etag) headers["If-None-Match"] = last.etag;
  const response = await fetch(location.href, { headers, cache: "no-store", redirect: "manual", signal: timeout() });
  if (response.status === 304) return last.page;
  if (!response.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  localise(page);
  last = { etag: response.headers.get("ETag"), page };
  return page;
}

// Replaces the changed parts. A part that has the focus or a selection is not replaced until a later refresh.
// Returns the current page and whether all parts show it, or null if the site doesn't return the page.
export async function refresh() {
  const page = await fetchPage();
  if (!page) return null;
  let isComplete = true;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
    if (!fresh || !differs(part, fresh)) continue;
    if (inUse(part)) isComplete = false;
    else part.replaceWith(fresh);
  }
  return { page, isComplete };
}
