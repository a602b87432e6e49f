// Steps by swiping over the table: left for forward, right for back.

const MIN_PIXELS = 40;
const MIN_RATIO = 2; // minimum ratio of a swipe's width to its height; other movements scroll

export function onSwipe(film, go) {
  let start = null;
  film.addEventListener(
    "touchstart",
    (event) => {
      const isOne = event.touches.length === 1 && !event.target.closest("input, .scroll");
      start = isOne ? event.touches[0] : null;
    },
    { passive: true },
  );
  film.addEventListener("touchend", (event) => {
    if (!start) return;
    const { clientX, clientY } = event.changedTouches[0];
    const [across, along] = [clientX - start.clientX, clientY - start.clientY];
    start = null;
    if (Math.abs(across) < Math.max(MIN_PIXELS, MIN_RATIO * Math.abs(along))) return;
    go(across < 0 ? "next" : "previous");
  });
}
