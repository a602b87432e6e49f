// Watches a running game: adds each finished round to the frames.
// A viewer who has stepped back stays at that frame; from the last frame, playback continues to the new ones.

import { refresh, timeout } from "./fresh.js";
import { poll } from "./polling.js";
import { say } from "./viewer-share.js";
import { addFrames, sharedAddress } from "./viewer.js";

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

/** Say why the match stops here, with these links and one to another match. */
function end(words, ...links) {
  const text = document.createElement("p");
  text.append(words);
  for (const each of [...links, link("Watch another match", state().dataset.next)]) text.append(" ", each);
  state().replaceChildren(text);
  say(words);
  document.getElementById("film").dispatchEvent(new Event("gone"));
}

/** Return a link to the current frame, whichever it is; the site redirects from here to the replay. */
function linkToReplay() {
  const here = link("Watch the replay from here", sharedAddress());
  here.dataset.here = "";
  return here;
}

/** The page is gone: ask why. Return false after other responses, such as a proxy's. */
async function ended() {
  const response = await fetch(state().dataset.facts, { cache: "no-store", signal: timeout() });
  const { state: matchState, game, replays, status } = await response.json();
  if (matchState === "done") {
    if (replays.length) end("This match is over.", linkToReplay());
    else end("This match is over. Its games will be shown when all matches in its challenge are over.", link("About this match", match));
  } else if (game === null) end("The arena could not finish this match and is playing it again.", link("Watch it", match));
  else if (status === 404) end("This match can't be shown any more.");
  else return false;
  return true;
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
