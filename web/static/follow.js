// Follows a submission: at each event, fetches this page again and replaces the parts that changed.
// Events report stages and games immediately. If events are blocked, the page is polled instead, which is slower.

import { refresh } from "./fresh.js";

const EVERY_MILLIS = 4000;
const follow = document.querySelector("[data-follow]");
const status = document.querySelector("[data-status]");
let source = null;
let timer = 0;
let asking = false;
let again = false;

// The page's state: the current sentence, whether the submission is over, and whether everything arrived.
function said() {
  return document.querySelector('[data-live="line"]').dataset;
}

async function look() {
  const before = said().now;
  const page = await refresh();
  follow.toggleAttribute("data-cut", !page);
  if (!page) return;
  document.title = page.title;
  if (said().now !== before) status.textContent = said().now;
}

// Fetches the page, but only once at a time: calls during a fetch cause one more afterwards.
async function update() {
  again = asking;
  if (asking) return;
  asking = true;
  try {
    await look();
  } catch {
    follow.toggleAttribute("data-cut", true);
  }
  asking = false;
  if (again) await update();
}

function listen() {
  if (source && source.readyState !== EventSource.CLOSED) return;
  source = new EventSource(follow.dataset.follow);
  source.addEventListener("stage", async (event) => {
    if (JSON.parse(event.data).ended) source.close();
    await update();
  });
}

function goOn() {
  clearTimeout(timer);
  if ("over" in said()) source?.close();
  else listen();
  if (!("last" in said())) timer = setTimeout(tick, EVERY_MILLIS);
}

async function tick() {
  clearTimeout(timer);
  if (document.hidden || "last" in said()) return;
  await update();
  goOn();
}

document.addEventListener("visibilitychange", tick);
goOn();
