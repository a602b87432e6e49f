// The submission form: accepts a chosen or dropped file, describes it, uploads it and shows progress.

import { address, inUnit, put, refusal, sha256, showRefusal, size, unitOf } from "./upload.js";

const form = document.querySelector("[data-kinds]");
const kinds = JSON.parse(form.dataset.kinds);
const { bot, file, note, submit } = form.elements;
const [about, refused, sending, uploadStatus] = ["about", "refusal", "sending", "upload-status"].map((name) => form.querySelector(`[data-${name}]`));
const progress = form.querySelector("progress");
const cancel = form.querySelector("[data-cancel]");

// The last kind has no suffixes: it is the default.
function kindOf(name) {
  return kinds.find(({ suffixes }) => suffixes.some((suffix) => name.toLowerCase().endsWith(suffix))) ?? kinds.at(-1);
}

function problem(chosen) {
  const { maxBytes } = kindOf(chosen.name);
  if (!chosen.size) return "This file is empty.";
  return chosen.size > maxBytes ? `This file is ${size(chosen.size)}; the limit is ${size(maxBytes)}.` : "";
}

function describe() {
  const chosen = file.files[0];
  file.setCustomValidity(chosen ? problem(chosen) : "");
  about.textContent = chosen ? `${kindOf(chosen.name).title}, ${size(chosen.size)}. ${problem(chosen)}` : "";
}

function refuse(...texts) {
  showRefusal(refused, ...texts);
}

// Switches between the fields and the progress of an upload.
function showSending(isSending) {
  sending.hidden = !isSending;
  submit.hidden = isSending;
  for (const field of [bot, file, note]) field.disabled = isSending;
  progress.removeAttribute("value");
  uploadStatus.textContent = "Preparing…";
  cancel.disabled = false;
  (isSending ? cancel : submit).focus();
  (isSending ? addEventListener : removeEventListener)("beforeunload", preventUnload);
}

function preventUnload(event) {
  event.preventDefault();
}

function showProgress(loaded, total) {
  const unit = unitOf(total);
  progress.max = total;
  progress.value = loaded;
  cancel.disabled = loaded === total;
  uploadStatus.textContent =
    loaded < total
      ? `${inUnit(loaded, unit)} of ${size(total)}, ${Math.floor((100 * loaded) / total)}%`
      : `All ${size(total)} sent; the arena is storing the file.`;
}

async function send(chosen, signal) {
  const { kind } = kindOf(chosen.name);
  const where = address(bot.value, { kind, note: note.value, digest: await sha256(chosen) });
  const { status, body } = await put(where, chosen, { signal, onProgress: showProgress });
  if (status === 201) return body.id;
  refuse(...refusal(status, body));
  return null;
}

async function attempt() {
  const stop = new AbortController();
  let id = null;
  cancel.onclick = () => stop.abort();
  refuse();
  showSending(true);
  try {
    id = await send(file.files[0], stop.signal);
  } catch {
    if (stop.signal.aborted) refuse("Upload cancelled. Nothing was stored.");
    else refuse("The upload failed.", "The connection was lost, or the file has changed since you chose it. Choose it again and resubmit.");
  }
  showSending(false);
  if (id) location.assign(`/submissions/${id}`);
}

function accept(transfer) {
  const folder = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.()).some((entry) => entry?.isDirectory);
  if (file.disabled) return;
  refuse();
  if (folder) refuse("That is a folder.", "Drop a source file or an image archive. From a terminal, `arena submit` accepts folders.");
  else if (transfer.files.length !== 1) refuse(`You dropped ${transfer.files.length} files.`, "Drop only one.");
  else file.files = transfer.files;
  describe();
}

function hover(event) {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  form.toggleAttribute("data-over", true);
}

// A dragged file that leaves one element for another is still over the page.
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
  accept(event.dataTransfer);
});
describe();
submit.disabled = form.hasAttribute("data-closed");
