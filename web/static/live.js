// Keeps the leaderboard current while someone looks at it. The page is complete without.

const EVERY_MILLIS = 4000;
let timer = 0;
let asking = false;

function inUse(board) {
  const selection = document.getSelection();
  return board.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(board, true));
}

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
  const board = document.querySelector("[data-live]");
  if (fresh && !inUse(board) && fresh.innerHTML !== board.innerHTML) board.replaceWith(fresh);
}

async function tick() {
  clearTimeout(timer);
  if (document.hidden || asking) return;
  asking = true;
  try {
    await refresh();
  } catch {
    // The site can't be reached just now; the next round tries again.
  } finally {
    asking = false;
    timer = setTimeout(tick, EVERY_MILLIS);
  }
}

document.addEventListener("visibilitychange", tick);
timer = setTimeout(tick, EVERY_MILLIS);
