// Sends a file as the body of a request, and tells how far it is: fetch can't.

// Larger files don't belong into a browser's memory just to be hashed.
const LARGEST_HASHED = 64 * 1024 * 1024;

// Returns a file's SHA-256, or null. Browsers hash on pages alone that nobody can have changed on their way.
export async function sha256(file) {
  if (!globalThis.crypto?.subtle || file.size > LARGEST_HASHED) return null;
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Returns status and body (JSON, else null) of the answer. Throws the signal's reason where it was aborted, and
// an Error where there was no answer.
export function put(address, file, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", address);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded, total));
    request.addEventListener("load", () => resolve({ status: request.status, body: request.response }));
    request.addEventListener("error", () => reject(new Error("no answer")));
    request.addEventListener("abort", () => reject(signal.reason));
    signal.addEventListener("abort", () => request.abort());
    signal.throwIfAborted();
    request.send(file);
  });
}
