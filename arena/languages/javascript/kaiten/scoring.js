/** Points, according to the rules of the game (the arena's docs/rules.md). */

const DUMPLING_POINTS = [0, 1, 3, 6, 10, 15];
const MAKI_ICONS = { maki_1: 1, maki_2: 2, maki_3: 3 };
const MAKI_FIRST = 6;
const MAKI_SECOND = 3;
const NIGIRI_POINTS = { salmon_nigiri: 2, squid_nigiri: 3, egg_nigiri: 1 };
const PUDDING_POINTS = 6;
const SOY_POINTS = 4;
const WASABI_FACTOR = 3;

const COLOURS = {
  tempura: "purple",
  sashimi: "green",
  dumpling: "blue",
  maki_1: "red",
  maki_2: "red",
  maki_3: "red",
  salmon_nigiri: "yellow",
  squid_nigiri: "yellow",
  egg_nigiri: "yellow",
  pudding: "pink",
  wasabi: "yellow",
  chopsticks: "light blue",
  soy_sauce: "dark purple",
};

/**
 * One participant's points in one round.
 *
 * @typedef {object} RoundScore
 * @property {number} tempura
 * @property {number} sashimi
 * @property {number} dumpling
 * @property {number} maki
 * @property {number} nigiri
 * @property {number} soySauce
 * @property {number} total The sum of the above.
 */

/**
 * Score a finished round.
 *
 * @param {{soySauce: boolean}} rules Determines whether soy sauce scores.
 * @param {readonly (readonly string[])[]} tables Each participant's cards, in the order in which they were placed.
 * @returns {RoundScore[]}
 */
export function scoreRound(rules, tables) {
  const maki = scoreMaki(tables.map((table) => sum(table.map((card) => MAKI_ICONS[card] ?? 0))));
  const soySauce = rules.soySauce ? scoreSoySauce(tables) : tables.map(() => 0);
  return tables.map((table, player) => {
    const score = {
      tempura: Math.floor(count(table, "tempura") / 2) * 5,
      sashimi: Math.floor(count(table, "sashimi") / 3) * 10,
      dumpling: DUMPLING_POINTS[Math.min(count(table, "dumpling"), 5)],
      maki: maki[player],
      nigiri: scoreNigiri(table),
      soySauce: soySauce[player],
    };
    return { ...score, total: sum(Object.values(score)) };
  });
}

/**
 * Return the points for all nigiri. Each uses the oldest unused wasabi before it.
 *
 * @param {readonly string[]} table Cards, in the order in which they were placed.
 * @returns {number}
 */
export function scoreNigiri(table) {
  let points = 0;
  let freeWasabi = 0;
  for (const card of table) {
    const value = NIGIRI_POINTS[card];
    if (card === "wasabi") {
      freeWasabi += 1;
    } else if (value && freeWasabi) {
      freeWasabi -= 1;
      points += value * WASABI_FACTOR;
    } else if (value) {
      points += value;
    }
  }
  return points;
}

/**
 * Return the points at the end of the game for these numbers of puddings.
 *
 * @param {{participants: number}} rules With two participants, nobody loses points.
 * @param {readonly number[]} puddings One number per participant.
 * @returns {number[]}
 */
export function scorePuddings(rules, puddings) {
  const most = Math.max(...puddings);
  const fewest = Math.min(...puddings);
  if (most === fewest) {
    return puddings.map(() => 0);
  }
  const gain = Math.floor(PUDDING_POINTS / count(puddings, most));
  const loss = rules.participants === 2 ? 0 : Math.floor(PUDDING_POINTS / count(puddings, fewest));
  return puddings.map((number) => (number === most ? gain : number === fewest ? 0 - loss : 0));
}

/**
 * @param {number[]} icons One number per participant.
 * @returns {number[]}
 */
function scoreMaki(icons) {
  const most = Math.max(...icons);
  if (!most) {
    return icons.map(() => 0);
  }
  const first = count(icons, most);
  if (first > 1) {
    return icons.map((icon) => (icon === most ? Math.floor(MAKI_FIRST / first) : 0));
  }
  const secondMost = Math.max(...icons.filter((icon) => icon !== most));
  const second = secondMost ? Math.floor(MAKI_SECOND / count(icons, secondMost)) : 0;
  return icons.map((icon) => (icon === most ? MAKI_FIRST : icon === secondMost ? second : 0));
}

/**
 * @param {readonly (readonly string[])[]} tables
 * @returns {number[]} Each participant's points for soy sauce together with the most colours.
 */
function scoreSoySauce(tables) {
  const colours = tables.map((table) => new Set(table.map((card) => COLOURS[card])).size);
  const most = Math.max(...colours);
  const wins = tables.map((table, player) => colours[player] === most && table.includes("soy_sauce"));
  const share = Math.floor(SOY_POINTS / Math.max(1, count(wins, true)));
  return wins.map((win) => (win ? share : 0));
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {T} wanted
 * @returns {number}
 */
function count(items, wanted) {
  return items.filter((item) => item === wanted).length;
}

/**
 * @param {number[]} numbers
 * @returns {number}
 */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
