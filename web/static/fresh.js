// Asks for this page again and puts those of its parts in place that have changed.

function inUse(part) {
  const selection = document.getSelection();
  return part.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(part, true));
}

function differs(part, fresh) {
  return fresh.innerHTML !== part.innerHTML || [...fresh.attributes].some(({ name, value }) => part.getAttribute(name) !== value);
}

// A connection that is gone may say nothing at all: after so long it counts as lost.
const PATIENCE_MILLIS = 10_000;

// What was sent last, so that a page which says what it is need not be sent twice.
let last = { etag: null, page: null };

async function ask() {
  const headers = { Accept: "text/html" };
  if (last.etag) headers["If-None-Match"] = last.etag;
  const answer = await fetch(location.href, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MILLIS) });
  if (answer.status === 304) return last.page;
  if (!answer.ok || answer.redirected) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  last = { etag: answer.headers.get("ETag"), page };
  return page;
}

// Returns the page as it is now, or null where the site doesn't give it. A part that somebody
// reads with the keyboard or copies from is left alone until the next time.
export async function refresh() {
  const page = await ask();
  if (!page) return null;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
    if (fresh && !inUse(part) && differs(part, fresh)) part.replaceWith(fresh);
  }
  return page;
}
