// Kaiten TV: opens the next game when this one is over. A running game counts as over after its last round, or if no
// new round has arrived for a while.

import "./viewer.js";

const LINGER_MILLIS = 15_000;
const PATIENCE_MILLIS = 60_000;
const RETRY_MILLIS = 5000;

const film = document.getElementById("film");
const isLive = Boolean(document.querySelector("[data-match]"));
let leaving = 0;
let isPlaying = false;
let isGone = false; // the match is over, or can't be shown any more

/**
 * Open the next game after this time, or later if the site doesn't return its page; otherwise, an error page would
 * remain on the screen.
 */
function leave(millis, retry = RETRY_MILLIS) {
  clearTimeout(leaving);
  leaving = setTimeout(async () => {
    const mine = leaving;
    try {
      const { href } = document.getElementById("next-show");
      const response = await fetch(href, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MILLIS) });
      if (response.ok && leaving === mine) return location.replace(response.url);
    } catch {
      // The site can't be reached at the moment.
    }
    if (leaving === mine) leave(retry, Math.min(2 * retry, PATIENCE_MILLIS));
  }, millis);
}

film.addEventListener("playing", () => {
  clearTimeout(leaving);
  leaving = 0;
  isPlaying = true;
});
film.addEventListener("over", () => {
  isPlaying = false;
  leave(isLive && !isGone && !film.matches(".ended") ? PATIENCE_MILLIS : LINGER_MILLIS);
});
film.addEventListener("gone", () => {
  isGone = true;
  if (!isPlaying) leave(LINGER_MILLIS);
});

if (isLive) import("./viewer-live.js");
