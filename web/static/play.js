// Lets people play without reloading the page: sends choices, and follows the bots.

import { timeout } from "./fresh.js";

// Polling intervals, keyed by what the page is waiting for: a table, the bots' decisions, the person's decision,
// the analysis.
const MILLIS = { queue: 3000, wait: 700, decide: 10_000, analysing: 10_000 };

const announcement = document.getElementById("announcement");
let timer = 0;

const table = () => document.getElementById("table");

function show(page) {
  const fresh = page.getElementById("table");
  if (!fresh) {
    // The choice came too late, or the game is gone. The address that choices are sent to has no page.
    location.assign(location.pathname);
    return;
  }
  const before = table();
  // The page of a finished game has other style sheets.
  if (before.dataset.state !== fresh.dataset.state && ["over", "analysing"].includes(fresh.dataset.state)) {
    location.assign(location.pathname);
    return;
  }
  const moved = before.dataset.step !== fresh.dataset.step || before.dataset.state !== fresh.dataset.state;
  if (moved || before.innerHTML !== fresh.innerHTML) {
    fresh.classList.toggle("moved", moved);
    const focused = document.activeElement;
    const hasChanged = moved || before.querySelector("#turn")?.textContent !== fresh.querySelector("#turn")?.textContent;
    before.replaceWith(fresh);
    document.title = page.title;
    if (hasChanged) announce(fresh);
    keepFocus(focused, before, fresh);
  }
  follow();
}

function announce(fresh) {
  const parts = ["turn", "news"].map((id) => fresh.querySelector(`#${id}`)?.textContent.trim() ?? "");
  announcement.textContent = parts.reverse().join(" ");
}

/** Keep the focus on the same control outside the hand; otherwise, focus the hand for a new decision. */
function keepFocus(focused, before, fresh) {
  const isElsewhere = before.contains(focused) && !focused.closest("#hand");
  const same = isElsewhere && [...fresh.querySelectorAll("a, button")].find((each) => each.textContent === focused.textContent);
  if (same) same.focus({ preventScroll: true });
  else if (fresh.dataset.state === "decide" && (focused === document.body || before.contains(focused))) {
    fresh.querySelector(".pick:is(button), .pick input")?.focus({ preventScroll: true });
  }
}

async function fetchPage(url, options = {}) {
  const response = await fetch(url, { cache: "no-store", signal: timeout(), ...options });
  if (response.status >= 500) throw new Error(`${response.url}: ${response.status}`);
  return { status: response.status, page: new DOMParser().parseFromString(await response.text(), "text/html") };
}

// While the bots are deciding or the table is not ready, poll often. Otherwise, report occasionally that the
// person is here, or check for the analysis.
function follow() {
  clearTimeout(timer);
  const { state } = table().dataset;
  if (state === "over") return;
  timer = setTimeout(pollTable, MILLIS[state]);
}

async function pollTable() {
  const { state, step } = table().dataset;
  try {
    const isWaiting = state === "wait" || state === "queue";
    const { page } = await fetchPage(isWaiting && step ? `${location.pathname}?after=${step}` : location.pathname);
    if (isWaiting) show(page);
    else {
      // The game may have ended elsewhere: in another tab, or because the arena stopped.
      const fresh = page.getElementById("table");
      if (fresh?.dataset.step !== step || fresh.dataset.state !== state) location.reload();
      else follow();
    }
  } catch {
    follow();  // the site can't be reached or doesn't respond properly at the moment
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.id !== "hand") return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const chosen = document.activeElement;
  form.querySelector("fieldset").disabled = true;
  clearTimeout(timer);
  try {
    const { status, page } = await fetchPage(form.action, { method: "POST", body });
    if (status === 422) chooseAgain(form, chosen, page.querySelector("h1 + p").textContent);
    else show(page);
  } catch {
    // Don't reload: an error page would replace the table, and would no longer report that the person is here.
    chooseAgain(form, chosen, "The site can't be reached. Choose again in a moment.");
  }
});

function chooseAgain(form, chosen, reason) {
  const warning = Object.assign(document.createElement("p"), { className: "warning", role: "alert" });
  warning.textContent = reason;
  form.querySelector(".warning")?.remove();
  form.append(warning);
  form.querySelector("fieldset").disabled = false;
  if (form.contains(chosen)) chosen.focus();
  follow();
}

// Neither the second click of a double click nor a held key may choose from the next hand.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest("#hand")) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target.closest("#hand")) event.preventDefault();
});

// The keys 1 to 9 and 0 choose a card, if only one is to be chosen.
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || !/^[0-9]$/.test(event.key)) return;
  if (event.target.matches("input:not([type=radio]), select, textarea")) return;
  const cards = document.querySelectorAll("#hand fieldset:enabled button.pick");
  cards[(Number(event.key) + 9) % 10]?.click();
});

// A page from the browser's cache may be outdated.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

follow();
