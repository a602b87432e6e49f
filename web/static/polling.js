// Polls while the page is visible.

const EVERY_MILLIS = 4000;

const TIMEOUT_MILLIS = 10_000;

/** Return a signal that ends a fetch, including its body. A dead connection may never report an error. */
export function timeout(millis = TIMEOUT_MILLIS) {
  return AbortSignal.timeout(millis);
}

/** Call `check` repeatedly until it returns true. An error, such as an unreachable site, doesn't stop the polling. */
export function poll(check) {
  let timer = 0;
  let checking = false;
  let over = false;

  async function tick() {
    clearTimeout(timer);
    if (document.hidden || checking || over) return;
    checking = true;
    try {
      over = await check();
    } catch {
      // The site can't be reached at the moment.
    } finally {
      checking = false;
      timer = setTimeout(tick, EVERY_MILLIS);
    }
  }

  document.addEventListener("visibilitychange", tick);
  timer = setTimeout(tick, EVERY_MILLIS);
}
