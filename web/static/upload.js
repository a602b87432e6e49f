// Sends a file as a request's body and reports progress, which fetch can't do.

// Don't load larger files into memory just to hash them.
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

const UNITS = ["bytes", "KiB", "MiB"];

export function unitOf(bytes) {
  return bytes < 1024 ? 0 : bytes < 1024 ** 2 ? 1 : 2;
}

export function inUnit(bytes, unit) {
  const digits = unit ? 1 : 0;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return (bytes / 1024 ** unit).toLocaleString("en", format);
}

// Returns a number of bytes in the largest unit that fits, as the server formats it.
export function size(bytes) {
  return bytes === 1 ? "1 byte" : `${inUnit(bytes, unitOf(bytes))} ${UNITS[unitOf(bytes)]}`;
}

// Returns a file's SHA-256, or null. Browsers hash only on pages served over HTTPS or from this machine.
export async function sha256(file) {
  if (!globalThis.crypto?.subtle || file.size > MAX_HASHED_BYTES) return null;
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Returns the upload address of a bot's file, without the digest if it is null.
export function address(bot, { kind, note, digest, isCheck = false }) {
  const query = new URLSearchParams({ kind, note });
  if (isCheck) query.set("check_only", "true");
  if (digest) query.set("sha256", digest);
  return `/api/v1/bots/${encodeURIComponent(bot)}/submissions?${query}`;
}

// Returns the reason why the site refused a file, and a remedy.
export function refusal(status, body) {
  if (status === 401) return ["Your session has ended.", "Log in again in another tab, then submit again here. The form keeps what you entered."];
  return [body?.detail ?? `The site responded with status ${status}.`, body?.hint ?? "Try again in a moment."];
}

// Shows reasons and remedies, one per paragraph; text in backticks becomes code.
export function showRefusal(place, ...texts) {
  place.replaceChildren(...texts.map(paragraph));
}

function paragraph(text) {
  const element = document.createElement("p");
  element.append(...text.split("`").map((part, index) => (index % 2 ? code(part) : part)));
  return element;
}

function code(textContent) {
  return Object.assign(document.createElement("code"), { textContent });
}

// Returns the response's status and body (null if it isn't JSON). Rejects with the signal's reason if aborted, and
// with an Error if there is no response.
export function put(address, file, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", address);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded, total));
    request.addEventListener("load", () => resolve({ status: request.status, body: request.response }));
    request.addEventListener("error", () => reject(new Error("no response")));
    request.addEventListener("abort", () => reject(signal.reason));
    signal.addEventListener("abort", () => request.abort());
    signal.throwIfAborted();
    request.send(file);
  });
}
