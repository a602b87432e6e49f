// Writes and submits a bot in the browser. The text of each language is kept until it is submitted.

import { edit } from "./editor.js";
import { address, put, refusal, sha256 } from "./upload.js";

const form = document.querySelector("[data-start]");
const { bot, kind, submit } = form.elements;
const refused = form.querySelector("[data-refusal]");
const sources = new Map(Array.from(form.querySelectorAll("textarea"), (area) => [area.dataset.kind, area]));

const kept = (language) => `kaiten-start-${language}`;

// If storage is full or forbidden, the text lasts only as long as the page.
function keep(text) {
  try {
    localStorage.setItem(kept(kind.value), text);
  } catch {}
}

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

const host = form.querySelector("[data-editor]");
const description = document.querySelector("#keys").textContent; // ids don't work inside the editor
const editor = edit(host, { label: "Source", description, change: keep });

function show() {
  editor.show(stored(kept(kind.value)) ?? sources.get(kind.value).value, kind.value);
}

function refuse(...texts) {
  refused.replaceChildren(...texts.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
}

async function send() {
  const file = new File([editor.text], "bot", { type: "text/plain" });
  const most = Number(form.dataset.most);
  if (!editor.text.trim()) return refuse("There is no code yet.", "Write a bot, or reset to the example.");
  if (file.size > most) return refuse(`The code has ${file.size} bytes; the limit is ${most}.`);
  refuse();
  submit.disabled = true;
  try {
    const where = address(bot.value, { kind: kind.value, note: "", digest: await sha256(file) });
    const { status, body } = await put(where, file, { signal: new AbortController().signal, onProgress() {} });
    if (status === 201) return location.assign(`/submissions/${body.id}`);
    refuse(...refusal(status, body));
  } catch {
    refuse("The upload failed.", "The connection ended. Submit again; your code is still here.");
  }
  submit.disabled = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (submit) send(); // missing if the visitor isn't logged in
});
kind.addEventListener("change", () => {
  show();
  refuse();
});
form.querySelector("[data-again]").addEventListener("click", () => {
  try {
    localStorage.removeItem(kept(kind.value));
  } catch {}
  show();
  editor.focus();
});
for (const area of sources.values()) area.closest("p").hidden = true;
host.hidden = false;
show();
if (submit) submit.disabled = false;
