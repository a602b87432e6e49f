// Follows a submission: at each event, fetches this page again and replaces the parts that changed.
// Events report stages and games immediately. The page is also polled, in case events are blocked.

import { refresh } from "./fresh.js";
import { poll } from "./polling.js";

const follow = document.querySelector("[data-follow]");
const status = document.querySelector("[data-status]");
let source = null;
let fetching = false;
let again = false;
let isFinal = "last" in lineState();

// The page's state: the current sentence, whether the submission is over, and whether everything has arrived.
function lineState() {
  return document.querySelector('[data-live="line"]').dataset;
}

async function refreshPage() {
  const before = lineState().now;
  const fresh = await refresh();
  follow.toggleAttribute("data-cut", !fresh);
  if (!fresh) return;
  isFinal = "last" in lineState() && fresh.isComplete;
  document.title = fresh.page.title;
  if (lineState().now !== before) status.textContent = lineState().now;
}

// Fetches the page, but never twice at the same time: calls during a fetch trigger one more fetch afterwards.
async function update() {
  again = fetching;
  if (fetching) return;
  fetching = true;
  try {
    await refreshPage();
  } catch {
    follow.toggleAttribute("data-cut", true);
  }
  fetching = false;
  if (again) await update();
}

function listen() {
  if ("over" in lineState()) {
    source?.close();
    return;
  }
  if (source && source.readyState !== EventSource.CLOSED) return;
  source = new EventSource(follow.dataset.follow);
  source.addEventListener("stage", async (event) => {
    if (JSON.parse(event.data).ended) source.close();
    await update();
  });
}

listen();
poll(async () => {
  if (isFinal) return true;
  await update();
  listen();
  return isFinal;
});
