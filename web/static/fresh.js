// Fetches this page again and replaces the parts that changed.

import { localise } from "./times.js";

function inUse(part) {
  const selection = document.getSelection();
  return part.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(part, true));
}

function differs(part, fresh) {
  return fresh.innerHTML !== part.innerHTML || [...fresh.attributes].some(({ name, value }) => part.getAttribute(name) !== value);
}

// A dead connection may never report an error, so fetches time out.
const TIMEOUT_MILLIS = 10_000;

// The last response, for conditional requests.
let last = { etag: null, page: null };

async function fetchPage() {
  const headers = { Accept: "text/html" };
  if (last.etag) headers["If-None-Match"] = last.etag;
  const signal = AbortSignal.timeout(TIMEOUT_MILLIS);
  const response = await fetch(location.href, { headers, cache: "no-store", redirect: "manual", signal });
  if (response.status === 304) return last.page;
  if (!response.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  localise(page);
  last = { etag: response.headers.get("ETag"), page };
  return page;
}

// Replaces the changed parts. Returns the current page, or null if the site doesn't return it. A part that has the
// focus or a selection is not replaced until a later refresh.
export async function refresh() {
  const page = await fetchPage();
  if (!page) return null;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
    if (fresh && !inUse(part) && differs(part, fresh)) part.replaceWith(fresh);
  }
  return page;
}
