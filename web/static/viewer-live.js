// Watches a game that is being played: what is over of it is added to what can be stepped through.
// Whoever has stepped back stays where they are; whoever has seen all of it goes on with what is new.

import { refresh } from "/static/fresh.js";
import { poll } from "/static/polling.js";
import { say } from "/static/viewer-share.js";
import { takeUp } from "/static/viewer.js";

const match = document.querySelector("[data-match]").dataset.match;
const state = () => document.querySelector('[data-live="state"]');

/** Add what is new below the table, and on the scale. */
function grow(page) {
  const moments = document.getElementById("moments-so-far");
  const all = page.querySelector("#moments-so-far");
  moments.append(...[...(all?.children ?? [])].slice(moments.children.length));
  const marks = page.querySelector(".marks");
  if (marks) document.querySelector(".marks").replaceWith(marks);
}

/** Say that nothing more comes, with a link that leads on from the frame that is shown, whichever that is then. */
function end(words, label, href) {
  const [text, link] = [document.createElement("p"), document.createElement("a")];
  link.href = href ?? location.href;
  link.textContent = label;
  if (!href) link.dataset.here = "";
  text.append(`${words} `, link);
  state().replaceChildren(text);
  say(words);
}

/** The page is not given any more: the match is over, or it was in vain; or the site can't be reached. */
async function ended() {
  const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" });
  if (answer.redirected) end("This match is over.", "Watch the replay from here");
  if (answer.status === 404) {
    end("The arena could not play this match to its end, and plays it again.", "Watch it", match);
  }
  return answer.redirected || answer.status === 404;
}

poll(async () => {
  const before = { ...state().dataset };
  const page = await refresh();
  if (!page) return ended();
  const now = (page.querySelector('[data-live="state"]') ?? state()).dataset;
  if (now.attempt !== before.attempt) {
    location.assign(match);
    return true;
  }
  if (now.frames !== before.frames) {
    await takeUp(() => grow(page));
    say(state().textContent.trim());
  }
  return false;
});
