// Watches a running game: adds each finished round to the frames.
// A viewer who has stepped back stays at that frame; from the last frame, playback continues to the new ones.

import { refresh } from "./fresh.js";
import { poll, timeout } from "./polling.js";
import { say } from "./viewer-share.js";
import { addFrames } from "./viewer.js";

const match = document.querySelector("[data-match]").dataset.match;
const state = () => document.querySelector('[data-live="state"]');
const { attempt } = state().dataset;
let { frames } = state().dataset; // the number of frames that are loaded

/** Add new events below the table and on the scale. */
function addEvents(page) {
  const moments = document.getElementById("moments-so-far");
  const all = page.querySelector("#moments-so-far");
  moments?.append(...[...(all?.children ?? [])].slice(moments.children.length));
  for (const part of [".marks", ".race", "#sheet"]) {
    const more = page.querySelector(part);
    if (more) document.querySelector(part).replaceWith(more);
  }
}

function link(label, href) {
  return Object.assign(document.createElement("a"), { href, textContent: label });
}

/** Say why the match stops here, with a link (by default to the current frame of the replay) and one to another
 * match. */
function end(words, label, href) {
  const [text, elsewhere] = [document.createElement("p"), link(label, href ?? location.href)];
  if (!href) elsewhere.dataset.here = "";
  text.append(`${words} `, elsewhere, " ", link("Watch another match", state().dataset.next));
  state().replaceChildren(text);
  say(words);
  document.getElementById("film").dispatchEvent(new Event("gone"));
}

/** The page is gone: ask whether the match has ended or failed. Other responses, such as a proxy's, are ignored. */
async function ended() {
  const response = await fetch(state().dataset.facts, { cache: "no-store", signal: timeout() });
  const { state: matchState, game, status } = await response.json();
  const isOver = matchState === "done";
  const hasFailed = !isOver && (game === null || status === 404);
  if (isOver) end("This match is over.", "Watch the replay from here");
  if (hasFailed) end("The arena could not finish this match and is playing it again.", "Watch it", match);
  return isOver || hasFailed;
}

poll(async () => {
  const page = (await refresh())?.page;
  if (!page) return ended();
  const now = page.querySelector('[data-live="state"]') ?? state(); // the former is still there if it isn't shown
  if (now.dataset.attempt !== attempt) {
    location.assign(document.body.matches(".tv") ? "/tv" : match);
    return true;
  }
  if (now.dataset.frames !== frames) {
    await addFrames(() => addEvents(page));
    frames = now.dataset.frames;
    say(now.textContent.trim());
  }
  return false;
});
