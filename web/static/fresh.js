// Fetches this page again and replaces the parts that changed.

import { localise } from "./times.js";

function inUse(part) {
  const selection = document.getSelection();
  return part.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(part, true));
}

function differs(part, fresh) {
  return fresh.innerHTML !== part.innerHTML || [...fresh.attributes].some(({ name, value }) => part.getAttribute(name) !== value);
}

// A dead connection may never report an error, so a fetch times out.
const PATIENCE_MILLIS = 10_000;

// The last response, for conditional requests.
let last = { etag: null, page: null };

async function ask() {
  const headers = { Accept: "text/html" };
  if (last.etag) headers["If-None-Match"] = last.etag;
  const signal = AbortSignal.timeout(PATIENCE_MILLIS);
  const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "manual", signal });
  if (answer.status === 304) return last.page;
  if (!answer.ok) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  localise(page);
  last = { etag: answer.headers.get("ETag"), page };
  return page;
}

// Replaces the changed parts. Returns the current page, or null if the site doesn't return it. A part that has the
// focus or a selection is not replaced until a later refresh.
export async function refresh() {
  const page = await ask();
  if (!page) return null;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
    if (fresh && !inUse(part) && differs(part, fresh)) part.replaceWith(fresh);
  }
  return page;
}
