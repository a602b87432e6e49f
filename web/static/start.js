// The editor in which a bot is written, checked and submitted. The browser stores the language, the bot's name and
// the code in each language, until that is reset. All tabs of this page show the stored code.

import { edit } from "./editor.js";
import { timeout } from "./fresh.js";
import { localise } from "./times.js";
import { address, put, refusal, sha256, showRefusal, size } from "./upload.js";

const RETRY_MILLIS = 4000;

const form = document.querySelector("[data-start]");
const { bot, kind, check, submit } = form.elements;
const refused = form.querySelector("[data-refusal]");
const sources = new Map(Array.from(form.querySelectorAll("textarea"), (area) => [area.dataset.kind, area]));

const storageKey = (name) => `kaiten-start-${name}`;

// If storage is full or blocked, the input lasts only as long as the page.
function save(name, text) {
  try {
    localStorage.setItem(storageKey(name), text);
  } catch {}
}

function stored(name) {
  try {
    return localStorage.getItem(storageKey(name));
  } catch {
    return null;
  }
}

const host = form.querySelector("[data-editor]");
const description = document.querySelector("#keys").textContent; // ids don't work inside the editor
const editor = edit(host, { label: "Source", description, change: (text) => save(kind.value, text) });

function show() {
  editor.show(stored(kind.value) ?? sources.get(kind.value).value, kind.value);
}

function refuse(...texts) {
  showRefusal(refused, ...texts);
}

async function send(isCheck) {
  const file = new File([editor.text], "bot", { type: "text/plain" });
  const maxBytes = Number(form.dataset.maxBytes);
  if (!editor.text.trim()) return refuse("There is no code yet.", "Write a bot, or reset to the example.");
  if (file.size > maxBytes) return refuse(`The code is too long: the limit is ${size(maxBytes)}.`);
  refuse();
  check.disabled = submit.disabled = true;
  try {
    const where = address(bot.value, { kind: kind.value, note: "", digest: await sha256(file), isCheck });
    const { status, body } = await put(where, file, { signal: new AbortController().signal, onProgress() {} });
    if (status === 201) {
      if (!isCheck) return location.assign(`/submissions/${body.id}`);
      follow(body.id);
    } else refuse(...refusal(status, body));
  } catch {
    refuse("The upload failed.", "The connection was lost. Try again; your code is still here.");
  }
  check.disabled = submit.disabled = false;
}

const checked = document.querySelector("[data-checked]");
const failed = checked.querySelector("[data-failed]");
let source = null;
let newest = 0; // number of the latest request for a check's page

/** Offer to go to the line of code that the verdict mentions. */
function showLine() {
  const [, number] = checked.querySelector('[data-part="end"]').textContent.match(/\bbot\.[a-z]+(?:, line |:)(\d+)/) ?? [];
  failed.hidden = !number;
  failed.textContent = `Go to line ${number}`;
  failed.onclick = () => editor.go(Number(number));
}

/** Show a check's progress and verdict, which are parts of its page. */
async function showCheck(address) {
  newest += 1;
  const number = newest;
  const response = await fetch(address, { cache: "no-store", signal: timeout() });
  if (!response.ok) throw new Error(`${address} responded with ${response.status}`);
  const text = await response.text();
  if (number !== newest) return; // a later event or check has overtaken this one
  const page = new DOMParser().parseFromString(text, "text/html");
  localise(page);
  for (const place of checked.querySelectorAll("[data-part]")) {
    place.replaceChildren(...page.querySelector(`[data-live="${place.dataset.part}"]`).childNodes);
  }
  showLine();
  const sentence = page.querySelector('[data-live="line"]').dataset.now;
  const status = checked.querySelector("[data-status]");
  if (status.textContent !== sentence) status.textContent = sentence;
}

/** Receive a check's events, each of which shows its page. */
function listen(id, address) {
  source = new EventSource(`/api/v1/submissions/${id}/events`);
  source.addEventListener("stage", async ({ data, target }) => {
    try {
      await showCheck(address);
    } catch {
      return; // after an end that couldn't be shown, the browser reconnects and gets the event again
    }
    if (JSON.parse(data).ended) target.close();
  });
  // The browser reconnects automatically, but not after an error response.
  source.addEventListener("error", ({ target }) => {
    if (target.readyState !== EventSource.CLOSED) return;
    setTimeout(() => target === source && listen(id, address), RETRY_MILLIS);
  });
}

/** Follow a check to its end. The link leads to the check's own page. */
function follow(id) {
  source?.close();
  newest += 1;
  const address = `/submissions/${id}`;
  listen(id, address);
  checked.querySelector("[data-page]").href = address;
  checked.hidden = false;
  checked.scrollIntoView({ block: "nearest" });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (submit) send(false); // the button is missing if the visitor isn't logged in
});
check?.addEventListener("click", () => form.reportValidity() && send(true));
bot.addEventListener("input", () => save("bot", bot.value));
kind.addEventListener("change", () => {
  save("language", kind.value);
  show();
  refuse();
});
form.querySelector("[data-again]").addEventListener("click", () => {
  const isChanged = editor.text !== sources.get(kind.value).value;
  if (isChanged && !confirm("Replace your code with the example? This can't be undone.")) return;
  try {
    localStorage.removeItem(storageKey(kind.value));
  } catch {}
  show();
  editor.focus();
});
// Show what another tab of this page stored. Otherwise the next input here would overwrite it.
addEventListener("storage", ({ key }) => {
  if (key === storageKey(kind.value)) show();
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) show();
});
if (!kind.querySelector("[selected]") && sources.has(stored("language"))) kind.value = stored("language");
bot.value ||= stored("bot") ?? "";
show();
// In the first frame, the editor only estimates the heights of lines.
requestAnimationFrame(() => requestAnimationFrame(() => host.toggleAttribute("data-drawn", true)));
if (submit) check.disabled = submit.disabled = form.hasAttribute("data-closed");
