// Keeps a page current while someone looks at it, until the last change. The page is complete without.

import { refresh } from "./fresh.js";

const EVERY_MILLIS = 4000;
let timer = 0;
let asking = false;

async function tick() {
  clearTimeout(timer);
  if (document.hidden || asking || document.querySelector("[data-last]")) return;
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
