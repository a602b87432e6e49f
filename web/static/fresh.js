// Asks for this page again and puts those of its parts in place that have changed.

function inUse(part) {
  const selection = document.getSelection();
  return part.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(part, true));
}

function differs(part, fresh) {
  return fresh.innerHTML !== part.innerHTML || [...fresh.attributes].some(({ name, value }) => part.getAttribute(name) !== value);
}

// Returns the page as it is now, or null where the site doesn't give it. A part that somebody
// reads with the keyboard or copies from is left alone until the next time.
export async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
    if (fresh && !inUse(part) && differs(part, fresh)) part.replaceWith(fresh);
  }
  return page;
}
