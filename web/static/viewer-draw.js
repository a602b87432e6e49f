// Draws a frame as templates/_viewer.html does. This script contains no rules: the server sends what to show.

const CARDS = `${new URL("cards.svg", import.meta.url).pathname}#`;
const MARKS = {
  p: ["picked", "chosen"],
  g: ["given", "for the dummy"],
  r: ["returned", "back in the hand"],
};
const STAGES = { pick: "Choice", reveal: "Reveal", pass: "Pass", score: "Points", end: "End" };
const FIRST_LETTER = "a".charCodeAt(0);

export function frameOf(data, index) {
  const [round, turn, stage, says, seats, unseen] = data.frames[index];
  return { round, turn, stage, says, seats, unseen };
}

export function addressOf(base, { round, turn, stage }, view) {
  const query = [stage === "pick" ? "" : `step=${stage}`, view === "all" ? "" : `view=${view}`].filter(Boolean);
  return `${base}/${round}/${turn}${query.length ? "?" : ""}${query.join("&")}`;
}

export function whereIs({ round, turn, stage }) {
  return `Round ${round}, turn ${turn}, ${STAGES[stage].toLowerCase()}`;
}

/** The indices of the controls' target frames, by the controls' names. */
export function waysFrom(data, index) {
  const numbers = [...data.frames.keys()];
  const turns = numbers.filter((number) => data.frames[number][2] === "pick");
  const rounds = turns.filter((number) => data.frames[number][1] === 1);
  const last = numbers.length - 1;
  const before = (list) => list.findLast((number) => number < index);
  const after = (list) => list.find((number) => number > index);
  return {
    first: index > 0 ? 0 : undefined,
    "previous-round": before(rounds),
    "previous-turn": before(turns),
    previous: before(numbers),
    next: after(numbers),
    "next-turn": after(turns),
    "next-round": after(rounds),
    last: index < last ? last : undefined,
  };
}

export function draw(data, index) {
  const film = document.getElementById("film");
  const frame = frameOf(data, index);
  const kinds = data.kinds;
  film.dataset.at = index;
  film.dataset.view = data.view;
  drawPosition(film, data, index, frame);
  for (const [number, seat] of frame.seats.entries()) {
    drawSeat(film.querySelector(`[data-seat="${number}"]`), seat, kinds, data.view.endsWith(`:${number}`));
  }
  film.classList.toggle("ended", frame.stage === "end");
  document.getElementById("sheet").hidden = frame.stage !== "end";
  drawRace(document.querySelector(".race"), index);
  drawUnseen(frame.unseen, kinds);
  drawEmbedCode(film, frame, data.view);
  for (const said of document.querySelectorAll("[data-turn]")) {
    said.hidden = said.dataset.turn !== `r${frame.round}t${frame.turn}`;
  }
  for (const link of document.querySelectorAll("[data-here]")) {
    link.href = addressOf(film.dataset.home, frame, data.view);
  }
  for (const link of document.querySelectorAll(".views [data-view]")) {
    link.href = addressOf(film.dataset.base, frame, link.dataset.view);
    setOrRemove(link, "aria-current", link.dataset.view === data.view && "true");
  }
  for (const menu of document.querySelectorAll(".views details")) {
    menu.querySelector("b").textContent = menu.querySelector("[aria-current]")?.textContent ?? "";
  }
  for (const link of document.querySelectorAll("[data-event]")) {
    const at = Number(link.dataset.event);
    link.href = addressOf(film.dataset.base, frameOf(data, at), data.view);
    setOrRemove(link, "aria-current", at === index && "step");
  }
}

function drawPosition(film, data, index, frame) {
  const ways = waysFrom(data, index);
  for (const link of film.querySelectorAll("[data-way]")) {
    const to = ways[link.dataset.way];
    const href = to === undefined ? null : addressOf(film.dataset.base, frameOf(data, to), data.view);
    setOrRemove(link, "tabindex", !href && "0");
    setOrRemove(link, "href", href);
    setOrRemove(link, "role", !href && "link");
    setOrRemove(link, "aria-disabled", !href && "true");
  }
  document.getElementById("where").replaceChildren(
    element("span", {}, `Round ${frame.round}, turn ${frame.turn}`, element("span", { class: "soft" }, ` of ${data.turns}`)),
    " ",
    element("b", {}, STAGES[frame.stage]),
  );
  document.getElementById("says").textContent = frame.says;
  const position = document.getElementById("position");
  position.max = data.frames.length - 1;
  position.value = index;
  position.setAttribute("aria-valuetext", whereIs(frame));
}

function drawRace(race, index) {
  if (!race) return;
  race.classList.toggle("before", index < Number(race.dataset.begins));
  race.querySelector(".now").setAttribute("d", `M${index} 0V${race.querySelector("svg").viewBox.baseVal.height}`);
  race.querySelector("#raced").setAttribute("width", index + 1);
}

function drawSeat(section, [hand = "", marks = "", stacks = "", score = 0, gain = 0, tags = "", time = "", leads = 0, place = 0], kinds, own) {
  section.classList.toggle("leads", Boolean(leads));
  section.classList.toggle("own", own);
  section.querySelector(".hand").replaceChildren(...[...hand].map((letter, number) => heldCard(letter, marks[number], kinds)));
  section.querySelector(".placed").replaceChildren(...stacks.split(" ").filter(Boolean).map((code) => stack(code, kinds)));
  section.querySelector(".facts").replaceChildren(
    ...(place ? [element("span", { class: place === 1 ? "tag won" : "tag" }, `place ${place}`), " "] : []),
    ...tags.split(",").filter(Boolean).flatMap((tag) => [element("span", { class: "tag warn" }, tag), " "]),
    ...(time ? [element("span", { class: "time" }, time)] : []),
  );
  section.querySelector(".score").replaceChildren(
    ...(gain ? [element("span", { class: "gain" }, signed(gain)), " "] : []),
    element("b", {}, signed(score).replace("+", "")),
    element("span", { class: "hidden" }, counted(score, "point")),
  );
}

function heldCard(letter, mark, kinds) {
  const [name, words] = MARKS[mark] ?? [];
  const card = letter === "?" ? ["back", "face down"] : [kindOf(letter, kinds), nameOf(letter, kinds)];
  const classes = ["c", letter === "?" && "back", name].filter(Boolean).join(" ");
  return element("li", { class: classes }, ...face(card[0], words ? `${card[1]}, ${words}` : card[1]));
}

function stack(code, kinds) {
  const [, letters, rolls, points] = code.match(/^([a-z]+)(?:~(\d+))?(?:=(.+))?$/i);
  const isNew = (letter) => letter < "a";
  return element(
    "li",
    { class: [...letters].some(isNew) ? "stack fresh" : "stack" },
    ...[...letters].flatMap((letter) => [" ", placedCard(letter.toLowerCase(), isNew(letter), kinds)]),
    ...(rolls ? [" ", element("b", { class: "rolls" }, rolls, element("span", { class: "hidden" }, counted(Number(rolls), "icon")))] : []),
    ...(points ? [" ", element("b", { class: "points" }, points, element("span", { class: "hidden" }, counted(Number(points.replace("−", "-")), "point")))] : []),
  );
}

function placedCard(letter, isNew, kinds) {
  return element("span", { class: isNew ? "c new" : "c" }, ...face(kindOf(letter, kinds), nameOf(letter, kinds)));
}

function drawUnseen(unseen, kinds) {
  const section = document.getElementById("unseen");
  section.hidden = !unseen;
  const [cards, says] = unseen ?? ["", ""];
  section.querySelector(".note").textContent = says;
  section.querySelector(".kinds").replaceChildren(
    ...cards.split(" ").filter(Boolean).map((code) =>
      element("li", {}, placedCard(code[0], false, kinds), " ", element("b", {}, code.slice(1))),
    ),
  );
}

function drawEmbedCode(film, frame, view) {
  const code = document.getElementById("embed-code");
  if (!code) return;
  const source = new URL(addressOf(film.dataset.embed, frame, view), location.href).href.replaceAll("&", "&amp;");
  code.value = code.value.replace(/src="[^"]*"/, () => `src="${source}"`);
}

function face(kind, name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", CARDS + kind);
  svg.append(use);
  return [svg, element("span", { class: "hidden" }, name)];
}

function kindOf(letter, kinds) {
  return kinds[letter.charCodeAt(0) - FIRST_LETTER];
}

function nameOf(letter, kinds) {
  return kindOf(letter, kinds).replace("_", " ");
}

function counted(number, what) {
  return Math.abs(number) === 1 ? ` ${what}` : ` ${what}s`;
}

function signed(number) {
  return number < 0 ? `−${-number}` : `+${number}`;
}

function element(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function setOrRemove(on, name, value) {
  if (value) on.setAttribute(name, value);
  else on.removeAttribute(name);
}
