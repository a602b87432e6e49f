// The form of a submission: takes a file that is chosen or dropped, says what it is, sends it, and shows how far it is.

import { put, sha256 } from "./upload.js";

const form = document.querySelector("[data-kinds]");
const kinds = JSON.parse(form.dataset.kinds);
const { bot, file, note, submit } = form.elements;
const [about, refusal, sending, told] = ["about", "refusal", "sending", "told"].map((name) => form.querySelector(`[data-${name}]`));
const progress = form.querySelector("progress");
const cancel = form.querySelector("[data-cancel]");
const UNITS = ["bytes", "KiB", "MiB"];

function unitOf(bytes) {
  return bytes < 1024 ? 0 : bytes < 1024 ** 2 ? 1 : 2;
}

function inUnit(bytes, unit) {
  return (bytes / 1024 ** unit).toFixed(unit ? 1 : 0);
}

function size(bytes) {
  return `${inUnit(bytes, unitOf(bytes))} ${UNITS[unitOf(bytes)]}`;
}

// The last kind has no suffixes: it is what everything else is taken for.
function kindOf(name) {
  return kinds.find(({ suffixes }) => suffixes.some((suffix) => name.toLowerCase().endsWith(suffix))) ?? kinds.at(-1);
}

function trouble(chosen) {
  const { most } = kindOf(chosen.name);
  if (!chosen.size) return "This file is empty.";
  return chosen.size > most ? `This file has ${size(chosen.size)}, and ${size(most)} is the most of its kind.` : "";
}

function describe() {
  const chosen = file.files[0];
  file.setCustomValidity(chosen ? trouble(chosen) : "");
  about.textContent = chosen ? `${kindOf(chosen.name).title}, ${size(chosen.size)}. ${trouble(chosen)}` : "";
}

function refuse(...texts) {
  refusal.replaceChildren(...texts.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
}

// Which of the fields are asked for and which are shown while a file is on its way.
function turn(isSending) {
  sending.hidden = !isSending;
  submit.hidden = isSending;
  for (const field of [bot, file, note]) field.disabled = isSending;
  progress.removeAttribute("value");
  told.textContent = "Getting ready.";
  cancel.disabled = false;
  (isSending ? cancel : submit).focus();
  (isSending ? addEventListener : removeEventListener)("beforeunload", stay);
}

function stay(event) {
  event.preventDefault();
}

function tell(loaded, total) {
  const unit = unitOf(total);
  progress.max = total;
  progress.value = loaded;
  cancel.disabled = loaded === total;
  told.textContent =
    loaded < total
      ? `${inUnit(loaded, unit)} of ${size(total)}, ${Math.floor((100 * loaded) / total)}%`
      : `All ${size(total)} are sent; the arena writes them down.`;
}

function address(kind, digest) {
  const query = new URLSearchParams({ kind, note: note.value });
  if (digest) query.set("sha256", digest);
  return `/api/v1/bots/${encodeURIComponent(bot.value)}/submissions?${query}`;
}

async function send(chosen, signal) {
  const where = address(kindOf(chosen.name).kind, await sha256(chosen));
  const { status, body } = await put(where, chosen, { signal, onProgress: tell });
  if (status === 201) return body.id;
  if (status === 401) refuse("You are not logged in any more.", "Log in in another tab, and submit again here: what you have filled in stays.");
  else refuse(body?.detail ?? `The site answered with ${status}.`, body?.hint ?? "Try again in a moment.");
  return null;
}

async function attempt() {
  const stop = new AbortController();
  let id = null;
  cancel.onclick = () => stop.abort();
  refuse();
  turn(true);
  try {
    id = await send(file.files[0], stop.signal);
  } catch {
    if (stop.signal.aborted) refuse("Stopped. The arena has kept nothing of the file.");
    else refuse("The file did not get through.", "The connection ended, or the file has changed since you chose it. Choose it again, and submit it once more.");
  }
  turn(false);
  if (id) location.assign(`/submissions/${id}`);
}

function take(transfer) {
  const folder = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.()).some((entry) => entry?.isDirectory);
  if (file.disabled) return;
  refuse();
  if (folder) refuse("That is a folder.", "Drop one file: a source file, or an image's archive. From a terminal, arena submit takes folders.");
  else if (transfer.files.length !== 1) refuse(`Those are ${transfer.files.length} files.`, "Drop one.");
  else file.files = transfer.files;
  describe();
}

function hover(event) {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  form.toggleAttribute("data-over", true);
}

// On the way from one element to the next the file is still over the page.
function leave(event) {
  if (!event.relatedTarget) form.toggleAttribute("data-over", false);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt();
});
file.addEventListener("change", describe);
document.addEventListener("dragover", hover);
document.addEventListener("dragleave", leave);
document.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  form.toggleAttribute("data-over", false);
  take(event.dataTransfer);
});
describe();
submit.disabled = false;
