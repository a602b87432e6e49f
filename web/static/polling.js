// Polls while the page is visible.

const EVERY_MILLIS = 4000;

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
