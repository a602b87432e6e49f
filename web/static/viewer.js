// Steps through a game without page loads. Every frame is also a page of its own that works without scripts.

import { addressOf, draw, frameOf, waysFrom, whereIs } from "./viewer-draw.js";
import { listen } from "./viewer-keys.js";
import { cancelAnimations, move, prefersReducedMotion, recordPositions } from "./viewer-motion.js";
import { onSwipe } from "./viewer-swipe.js";
import { poll } from "./polling.js";
import { copy, notify, offerCopies, say } from "./viewer-share.js";

const PAUSE_MILLIS = { pick: 1100, reveal: 1700, pass: 1000, score: 3500 };
const QUIET_MILLIS = 300;
const FRAMES_MILLIS = 60_000; // enough for slow connections
const SMALL_SPEED = "2";

const film = document.getElementById("film");
const playButton = document.getElementById("play");
const speed = document.getElementById("speed");
const position = document.getElementById("position");

const isSmall = document.body.matches(".small");
const isTelevision = document.body.matches(".tv");
// In an iframe, the history belongs to the page that contains it. Kaiten TV must keep its address for reloads.
const isAlone = window.top === window && !isTelevision;
const WAYS_OF_STEPS = ["previous", "next", "previous-turn", "next-turn"];

let loaded = new Map();
let data;
let chosen = film.dataset.view; // its frames may still be loading
let index = Number(film.dataset.at);
let playing = false;
let nextStep = 0;
let quiet = 0;

const frame = () => frameOf(data, index);
export const sharedAddress = () => addressOf(film.dataset.home, frame(), data.view);
const here = () => addressOf(film.dataset.base, frame(), data.view);

async function framesOf(view) {
  const kept = loaded;
  if (!kept.has(view)) {
    const response = await fetch(`${film.dataset.frames}?view=${view}`, { signal: AbortSignal.timeout(FRAMES_MILLIS) });
    if (!response.ok) throw Object.assign(new Error(`${response.url}: ${response.status}`), { gone: response.status === 404 });
    kept.set(view, await response.json());
  }
  return kept.get(view);
}

/** Show a frame. If it is the next one, animate the changes. */
function show(to) {
  if (to === undefined || to === index) return;
  cancelAnimations(film);
  const seen = to === index + 1 ? recordPositions(film) : null;
  index = to;
  draw(data, index);
  if (seen) {
    const { round, stage } = frame();
    move(film, seen, stage, data.directions[round - 1], playing ? Number(speed.value) : 1);
  }
  changed();
}

/** Show a frame that the viewer chose, and stop playback. */
function go(to) {
  if (to === undefined) return;
  pause();
  show(to);
}

/** Go to another moment, and add it to the browser's history. */
function jump(to) {
  if (to === undefined || to === index) return;
  if (isAlone) {
    history.replaceState(null, "", here());
    history.pushState(null, "", addressOf(film.dataset.base, frameOf(data, to), data.view));
  }
  go(to);
}

const goWay = (way) => (WAYS_OF_STEPS.includes(way) ? go : jump)(waysFrom(data, index)[way]);

/** Show the frame at the current address, after Back or Forward. */
async function goBack() {
  pause();
  const view = new URLSearchParams(location.search).get("view") ?? "all";
  if (view !== data.view) await choose(view);
  const to = [...data.frames.keys()].find(
    (number) => addressOf(film.dataset.base, frameOf(data, number), view) === location.pathname + location.search,
  );
  show(to);
}

async function choose(view) {
  chosen = view;
  const [kept, frames] = [loaded, await framesOf(view).catch((error) => error)];
  if (view !== chosen) return; // another view has been chosen since
  if (kept !== loaded) {
    await choose(view); // more has been disclosed since
    return;
  }
  if (frames.gone) {
    location.assign(addressOf(film.dataset.base, frame(), view));
    return;
  }
  if (frames instanceof Error) {
    chosen = data.view; // its page probably can't be loaded either
    notify("This view can't be loaded at the moment.");
    changed(); // the address, after Back
    return;
  }
  data = frames;
  cancelAnimations(film);
  draw(data, index);
  changed();
}

/** Once nothing has changed for a moment, update the address and announce the frame. */
function changed() {
  clearTimeout(quiet);
  quiet = setTimeout(() => {
    if (!isTelevision && !isSmall) history.replaceState(null, "", here());
    document.title = `${whereIs(frame())} · ${film.dataset.title}`;
    // During playback, choices and passes are not announced, because they would drown out the events.
    // The small viewer and Kaiten TV announce nothing during playback.
    if (!playing || !(isSmall || isTelevision || ["pick", "pass"].includes(frame().stage))) say(`${whereIs(frame())}. ${frame().says}`);
  }, QUIET_MILLIS);
}

function play() {
  if (index === data.frames.length - 1) show(0);
  setPlaying(true);
  film.dispatchEvent(new Event("playing"));
  wait();
}

function pause() {
  clearTimeout(nextStep);
  setPlaying(false);
}

function over() {
  pause();
  film.dispatchEvent(new Event("over"));
}

function wait() {
  clearTimeout(nextStep);
  nextStep = setTimeout(() => {
    show(index + 1);
    if (index < data.frames.length - 1) wait();
    else over();
  }, PAUSE_MILLIS[frame().stage] / Number(speed.value));
}

function setPlaying(value) {
  playing = value;
  const icon = playButton.querySelector("use");
  icon.setAttribute("href", icon.getAttribute("href").replace(/#.*/, playing ? "#pause" : "#play"));
  playButton.querySelector(".hidden").textContent = playing ? "Pause" : "Play";
  playButton.title = `${playing ? "Pause" : "Play"} (Space)`;
}

function nextEvent() {
  const numbers = [...document.querySelectorAll("[data-event]")].map((link) => Number(link.dataset.event));
  jump(numbers.find((number) => number > index));
}

function nextView() {
  const views = [...document.querySelectorAll(".views [data-view]")].map((link) => link.dataset.view);
  if (views.length) choose(views[(views.indexOf(chosen) + 1) % views.length]);
}

/** Close the lists of views, except one that was clicked without choosing a view. */
function closeMenus(event) {
  for (const menu of document.querySelectorAll(".views details[open]")) {
    if (!event.target.closest("a") && menu.contains(event.target)) continue;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
}

/** Handle clicks on links to frames; with a modifier key they work as usual. */
function follow(event) {
  const link = event.target.closest("[data-way], [data-event], .views [data-view]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.dataset.way) goWay(link.dataset.way);
  else if (link.dataset.event) jump(Number(link.dataset.event));
  else choose(link.dataset.view);
}

/** The texts to copy. Links lead to the current frame, whichever page was opened. */
const TEXTS = {
  link: () => new URL(sharedAddress(), location.href).href,
  embed: () => document.getElementById("embed-code").value,
  seed: () => film.dataset.seed,
};

const ACTIONS = {
  ArrowLeft: () => goWay("previous"),
  ArrowRight: () => goWay("next"),
  "[": () => goWay("previous-round"),
  "]": () => goWay("next-round"),
  Home: () => goWay("first"),
  End: () => goWay("last"),
  " ": () => (playing ? pause() : play()),
  x: nextEvent,
  c: () => copy("link", TEXTS.link()),
  e: () => document.getElementById("embed-code") && copy("embed", TEXTS.embed()),
  q: nextView,
};

/**
 * Add the newly disclosed part of a running game. The current frame stays, except that playback continues from the
 * last frame to the new ones. `between` updates the page around the frames.
 */
export async function addFrames(between) {
  loaded = new Map();
  if (!data) {
    between(); // the frames are still being fetched
    return;
  }
  const more = await framesOf(data.view);
  if (more.view !== data.view) {
    await addFrames(between); // another view has been chosen since
    return;
  }
  const sawAll = index === data.frames.length - 1 && more.frames.length > data.frames.length;
  data = more;
  between();
  draw(data, index);
  if (sawAll && !playing) play();
}

/** Activate the controls, now that the frames are loaded. */
function begin(frames) {
  data = frames;
  document.addEventListener("click", follow);
  document.addEventListener("click", closeMenus);
  playButton.addEventListener("click", () => ACTIONS[" "]());
  speed.addEventListener("change", () => playing && wait());
  position.addEventListener("input", () => go(Number(position.value)));
  addEventListener("popstate", goBack);
  onSwipe(film, (way) => goWay(way));
  offerCopies(TEXTS);
  listen(ACTIONS);
  for (const control of document.querySelectorAll(".scripted:disabled, .scripted :disabled")) control.disabled = false;
  film.dataset.ready = "";
  if (isSmall) speed.value = SMALL_SPEED;
  if (isTelevision || ((isSmall || location.hash === "#autoplay") && !prefersReducedMotion())) play();
}

/** Fetch the frames, retrying until this succeeds. */
async function start() {
  const [kept, first] = [loaded, await framesOf(chosen).catch(() => null)];
  if (first && kept === loaded) {
    begin(first);
    return;
  }
  const trying = document.getElementById("trying");
  if (!first) trying.textContent = "The frames of this game can't be loaded at the moment. Retrying. Until they are loaded, every step loads a page.";
  poll(async () => {
    const kept = loaded;
    const frames = await framesOf(chosen).catch((error) => {
      if (!error.gone) throw error;
    });
    if (kept !== loaded) return false; // more has been disclosed since
    trying.textContent = ""; // even if the frames are gone, which means that this match is over
    if (!frames) return true;
    begin(frames);
    draw(data, index);
    return true;
  });
}

start();
