// Looks for something new now and then while somebody looks at the page.

const EVERY_MILLIS = 4000;

/** Call `look` again and again, until it says that it was the last time. Where it fails the next time tries again. */
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
      // The site can't be reached just now.
    } finally {
      asking = false;
      timer = setTimeout(tick, EVERY_MILLIS);
    }
  }

  document.addEventListener("visibilitychange", tick);
  timer = setTimeout(tick, EVERY_MILLIS);
}
