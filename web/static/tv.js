// Kaiten TV: opens the next game when this one is over. A running game counts as over after its last round, or if no
// new round has arrived for a while.

import "./viewer.js";

const LINGER_MILLIS = 15_000;
const PATIENCE_MILLIS = 60_000;

const film = document.getElementById("film");
const isLive = Boolean(document.querySelector("[data-match]"));
let leaving = 0;

function leave(millis) {
  clearTimeout(leaving);
  leaving = setTimeout(() => location.replace(document.getElementById("next-show").href), millis);
}

film.addEventListener("playing", () => clearTimeout(leaving));
film.addEventListener("over", () => leave(isLive && !film.matches(".ended") ? PATIENCE_MILLIS : LINGER_MILLIS));
film.addEventListener("gone", () => leave(LINGER_MILLIS));

if (isLive) import("./viewer-live.js");
