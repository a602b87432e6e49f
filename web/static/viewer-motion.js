// Moves cards from their old to their new places. This is only decoration: the frames are the same without it.

const MILLIS = { pick: 180, reveal: 420, pass: 750 };
const GATHERED = 0.75;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export const prefersReducedMotion = () => reducedMotion.matches;

/** Record the positions of all cards before the next frame is drawn. */
export function recordPositions(film) {
  return [...film.querySelectorAll("[data-seat]")].map((section) => ({
    hand: section.querySelector(".hand").getBoundingClientRect(),
    picked: boxes(section.querySelectorAll(".hand .picked")),
    given: boxes(section.querySelectorAll(".hand .given")),
    chopsticks: boxes(section.querySelectorAll(".placed .c")).filter(({ kind }) => kind.endsWith("#chopsticks")),
  }));
}

/** Animate one step forward, from the recorded places to the current ones. */
export function move(film, seen, stage, direction, speed) {
  if (reducedMotion.matches) return;
  const duration = MILLIS[stage] / speed;
  if (stage === "pick") lift(film, duration);
  if (stage === "reveal") reveal(film, seen, duration);
  if (stage === "pass") pass(film, seen, direction, duration);
}

/** Cancel running animations. */
export function cancelAnimations(film) {
  for (const animation of film.getAnimations({ subtree: true })) animation.cancel();
}

function boxes(elements) {
  return [...elements].map((element) => ({ kind: kindOf(element), box: element.getBoundingClientRect() }));
}

function kindOf(element) {
  return element.querySelector("use").getAttribute("href");
}

function lift(film, duration) {
  for (const card of film.querySelectorAll(".hand .picked, .hand .given")) {
    card.animate([{ translate: "0 0", outlineColor: "transparent" }, {}], { duration, easing: "ease-out" });
  }
}

function reveal(film, seen, duration) {
  const given = seen.flatMap((seat) => seat.given);
  for (const [number, section] of [...film.querySelectorAll("[data-seat]")].entries()) {
    const sources = [...seen[number].picked, ...(section.matches(".dummy") ? given : [])];
    for (const card of section.querySelectorAll(".placed .new")) fly(card, take(sources, kindOf(card)), duration);
    for (const card of section.querySelectorAll(".hand .returned")) fly(card, seen[number].chopsticks[0], duration);
    for (const badge of section.querySelectorAll(".fresh b, .gain")) {
      badge.animate([{ opacity: 0, scale: 0.3 }, { opacity: 1, scale: 1.25, offset: 0.7 }, {}], {
        duration: duration * 0.8,
        delay: duration * 0.8,
        fill: "backwards",
        easing: "ease-out",
      });
    }
  }
}

/** Find a card of this kind, or one that was face down. */
function take(sources, kind) {
  const found = sources.findIndex((source) => source.kind === kind);
  return sources.splice(Math.max(found, 0), 1)[0];
}

function fly(card, source, duration) {
  if (!source) return;
  const to = card.getBoundingClientRect();
  const [x, y] = [middle(source.box).x - middle(to).x, middle(source.box).y - middle(to).y];
  card.animate([{ transform: `translate(${x}px, ${y}px) scale(${source.box.width / to.width})`, zIndex: 5 }, { zIndex: 5 }], {
    duration,
    easing: "cubic-bezier(.3, 0, .2, 1)",
  });
}

function pass(film, seen, direction, duration) {
  const hands = [...film.querySelectorAll(".seat:not(.dummy) .hand")];
  const ring = film.querySelector(".rim");
  const isRing = ring.getBoundingClientRect().width > 0;
  const timing = { duration, easing: "cubic-bezier(.45, 0, .25, 1)" };
  for (const [number, hand] of hands.entries()) {
    const to = middle(hand.getBoundingClientRect());
    const from = middle(seen[(number - direction + hands.length) % hands.length].hand);
    const path = isRing ? along(corners(ring, hand.offsetHeight), from, to, direction) : [from, to];
    hand.animate(steps(path, to), timing);
    if (isRing) gather(hand, timing);
  }
  film.querySelector(".plates").animate([{ strokeDashoffset: 4 * direction }, {}], timing);
}

/** Overlap the cards of a moving hand, so that it is no wider than the belt. */
function gather(hand, timing) {
  const cards = [...hand.children];
  const lefts = cards.map((card) => card.getBoundingClientRect());
  const width = lefts.at(-1).right - lefts[0].left;
  const [card, room] = [lefts[0].width, (0.8 * hand.offsetHeight) / GATHERED];
  if (width <= room) return;
  const kept = Math.max(0, room - card) / (width - card);
  const centre = (lefts[0].left + lefts.at(-1).right) / 2;
  for (const [number, each] of cards.entries()) {
    const aside = middle(lefts[number]).x - centre;
    const there = { translate: `${(kept - 1) * aside}px 0` };
    each.animate([{}, { ...there, offset: 0.25 }, { ...there, offset: 0.75 }, {}], timing);
  }
}

/** Return keyframes along a path. Between its ends, the cards are smaller. */
function steps(path, to) {
  const lengths = path.slice(1).map((point, number) => Math.hypot(point.x - path[number].x, point.y - path[number].y));
  const total = lengths.reduce((sum, length) => sum + length, 0) || 1;
  let covered = 0;
  return path.map((point, number) => {
    covered += number ? lengths[number - 1] : 0;
    const isEnd = number === 0 || number === path.length - 1;
    return {
      offset: Math.min(1, covered / total),
      transform: `translate(${point.x - to.x}px, ${point.y - to.y}px) scale(${isEnd ? 1 : GATHERED})`,
    };
  });
}

/** Return the path between two points of the ring, in the belt's direction. */
function along([topLeft, topRight, bottomRight, bottomLeft], from, to, direction) {
  const [width, height] = [topRight.x - topLeft.x, bottomLeft.y - topLeft.y];
  const length = 2 * (width + height);
  const isTop = ({ y }) => y < topLeft.y + height / 2;
  // A point's distance along the belt, clockwise from the top left.
  const place = (point) => (isTop(point) ? point.x - topLeft.x : width + height + (bottomRight.x - point.x));
  const start = place(from);
  const ahead = (at) => ((at - start) * direction + 2 * length) % length;
  const turns = [
    { at: 0, point: topLeft },
    { at: width, point: topRight },
    { at: width + height, point: bottomRight },
    { at: 2 * width + height, point: bottomLeft },
  ];
  const passed = turns.filter(({ at }) => ahead(at) < ahead(place(to))).sort((a, b) => ahead(a.at) - ahead(b.at));
  return [from, ...passed.map(({ point }) => point), to];
}

/** Return the corners of the ring's centre line, moved inwards because the ring's corners are round. */
function corners(ring, lane) {
  const { left, right, top, bottom } = ring.getBoundingClientRect();
  const [x, y] = [0.25 * lane, 0.1 * lane];
  return [
    { x: left + x, y: top + y },
    { x: right - x, y: top + y },
    { x: right - x, y: bottom - y },
    { x: left + x, y: bottom - y },
  ];
}

function middle({ left, top, width, height }) {
  return { x: left + width / 2, y: top + height / 2 };
}
