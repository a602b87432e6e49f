// Steps through a game without loading pages anew. Every frame is also a page of its own, which needs no script.

import { addressOf, draw, frameOf, waysFrom, whereIs } from "/static/viewer-draw.js";
import { listen } from "/static/viewer-keys.js";
import { look, move, settle } from "/static/viewer-motion.js";
import { poll } from "/static/polling.js";
import { copy, offerCopies, say } from "/static/viewer-share.js";

const PAUSE_MILLIS = { pick: 1100, reveal: 1700, pass: 1000, score: 3500 };
const QUIET_MILLIS = 300;

const film = document.getElementById("film");
const playButton = document.getElementById("play");
const speed = document.getElementById("speed");
const position = document.getElementById("position");

let loaded = new Map();
let data;
let chosen = film.dataset.view; // its frames may still be on their way
let index = Number(film.dataset.at);
let playing = false;
let nextStep = 0;
let quiet = 0;

const frame = () => frameOf(data, index);

async function framesOf(view) {
  const kept = loaded;
  if (!kept.has(view)) {
    const answer = await fetch(`${film.dataset.frames}?view=${view}`);
    if (!answer.ok) throw Object.assign(new Error(`${answer.url}: ${answer.status}`), { gone: answer.status === 404 });
    kept.set(view, await answer.json());
  }
  return kept.get(view);
}

/** Show a frame; what differs from the one before it is moved there. */
function show(to) {
  if (to === undefined || to === index) return;
  settle(film);
  const seen = to === index + 1 ? look(film) : null;
  index = to;
  draw(data, index);
  if (seen) {
    const { round, stage } = frame();
    move(film, seen, stage, data.directions[round - 1], playing ? Number(speed.value) : 1);
  }
  changed();
}

/** Show a frame that somebody asked for, which ends what was playing. */
function go(to) {
  if (to === undefined) return;
  pause();
  show(to);
}

const goWay = (way) => go(waysFrom(data, index)[way]);

async function choose(view) {
  chosen = view;
  const [kept, frames] = [loaded, await framesOf(view).catch(() => null)];
  if (view !== chosen) return; // another one was chosen meanwhile
  if (kept !== loaded) {
    await choose(view); // there is more to be seen by now
    return;
  }
  if (!frames) {
    location.assign(addressOf(film.dataset.base, frame(), view));
    return;
  }
  data = frames;
  settle(film);
  draw(data, index);
  changed();
}

/** Once nothing has changed for a moment, keep the address current and say where we are. */
function changed() {
  clearTimeout(quiet);
  quiet = setTimeout(() => {
    history.replaceState(null, "", addressOf(film.dataset.base, frame(), data.view));
    document.title = `${whereIs(frame())} · ${film.dataset.title}`;
    // The choices and passes of a running game would drown what happens in it.
    if (!playing || !["pick", "pass"].includes(frame().stage)) say(`${whereIs(frame())}. ${frame().says}`);
  }, QUIET_MILLIS);
}

function play() {
  if (index === data.frames.length - 1) show(0);
  setPlaying(true);
  wait();
}

function pause() {
  clearTimeout(nextStep);
  setPlaying(false);
}

function wait() {
  clearTimeout(nextStep);
  nextStep = setTimeout(() => {
    show(index + 1);
    if (index < data.frames.length - 1) wait();
    else pause();
  }, PAUSE_MILLIS[frame().stage] / Number(speed.value));
}

function setPlaying(value) {
  playing = value;
  playButton.querySelector("use").setAttribute("href", `/static/viewer.svg#${playing ? "pause" : "play"}`);
  playButton.querySelector(".hidden").textContent = playing ? "Pause" : "Play";
  playButton.title = `${playing ? "Pause" : "Play"} (Space)`;
}

function nextEvent() {
  const numbers = [...document.querySelectorAll("[data-event]")].map((link) => Number(link.dataset.event));
  go(numbers.find((number) => number > index));
}

function nextView() {
  const views = [...document.querySelectorAll(".views [data-view]")].map((link) => link.dataset.view);
  choose(views[(views.indexOf(chosen) + 1) % views.length]);
}

/** Take over links to frames; with a modifier they stay links. */
function follow(event) {
  const link = event.target.closest("[data-way], [data-event], .views [data-view]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.dataset.way) goWay(link.dataset.way);
  else if (link.dataset.event) go(Number(link.dataset.event));
  else choose(link.dataset.view);
}

/** What is copied: addresses as they are now, whatever the page was opened with. */
const TEXTS = {
  link: () => new URL(addressOf(film.dataset.home, frame(), data.view), location.href).href,
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
 * Take up what can be seen by now of a game that is being played. The frame that is shown stays; whoever has seen
 * the last one goes on from there. What lies around the frames is brought up to them in between.
 */
export async function takeUp(between) {
  loaded = new Map();
  if (!data) {
    between(); // the frames are still asked for
    return;
  }
  const more = await framesOf(data.view);
  if (more.view !== data.view) {
    // Another view was chosen meanwhile.
    await takeUp(between);
    return;
  }
  const sawAll = index === data.frames.length - 1 && more.frames.length > data.frames.length;
  data = more;
  between();
  draw(data, index);
  if (sawAll && !playing) play();
}

/** Let the page be stepped through, now that there is something to step through. */
function begin(frames) {
  data = frames;
  document.addEventListener("click", follow);
  playButton.addEventListener("click", () => ACTIONS[" "]());
  speed.addEventListener("change", () => playing && wait());
  position.addEventListener("input", () => go(Number(position.value)));
  offerCopies(TEXTS);
  listen(ACTIONS);
  for (const control of document.querySelectorAll(".scripted:disabled, .scripted :disabled")) control.disabled = false;
  film.dataset.ready = "";
}

/** Ask for the frames until they come. Without them every step is a page, as without scripts. */
async function start() {
  const first = await framesOf(chosen).catch(() => null);
  if (first) {
    begin(first);
    return;
  }
  const trying = document.getElementById("trying");
  trying.textContent = "The frames of this game can't be loaded just now. Trying again; until then every step loads a page.";
  poll(async () => {
    const kept = loaded;
    const frames = await framesOf(chosen).catch((error) => {
      if (!error.gone) throw error;
    });
    if (kept !== loaded) return false; // there is more to be seen by now
    trying.textContent = ""; // also where they are gone: then this match is over
    if (!frames) return true;
    begin(frames);
    draw(data, index);
    return true;
  });
}

start();
