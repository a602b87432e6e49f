// Polls while the page is visible.

const EVERY_MILLIS = 4000;

/** Call `look` repeatedly until it returns true. An error, such as an unreachable site, doesn't stop this. */
export function poll(look) {
  let timer = 0;
  let asking = false;
  let over = false;

  async function tick() {
    clearTimeout(timer);
    if (document.hidden || asking || over) return;
    asking = true;
    try {
      over = await look();
    } catch {
      // The site can't be reached at the moment.
    } finally {
      asking = false;
      timer = setTimeout(tick, EVERY_MILLIS);
    }
  }

  document.addEventListener("visibilitychange", tick);
  timer = setTimeout(tick, EVERY_MILLIS);
}
