/** The kinds of cards and the deck, according to the rules of the game (the arena's docs/rules.md). */

/**
 * The kinds by name, in the order of the table of cards. The protocol's number for a kind is its position in this
 * list, counting from 1.
 *
 * @type {readonly string[]}
 */
export const CARDS = Object.freeze([
  "tempura",
  "sashimi",
  "dumpling",
  "maki_1",
  "maki_2",
  "maki_3",
  "salmon_nigiri",
  "squid_nigiri",
  "egg_nigiri",
  "pudding",
  "wasabi",
  "chopsticks",
  "soy_sauce",
]);

/**
 * The names as constants, so that misspelt names are noticed: `Card.MAKI_2` is `"maki_2"`.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const Card = Object.freeze(Object.fromEntries(CARDS.map((card) => [card.toUpperCase(), card])));

/**
 * Number of cards of each kind in the deck. Soy sauce is used only in its variant.
 *
 * @type {Readonly<Record<string, number>>}
 */
export const DECK_COUNTS = Object.freeze({
  tempura: 14,
  sashimi: 14,
  dumpling: 14,
  maki_1: 6,
  maki_2: 12,
  maki_3: 8,
  salmon_nigiri: 10,
  squid_nigiri: 5,
  egg_nigiri: 5,
  pudding: 10,
  wasabi: 6,
  chopsticks: 4,
  soy_sauce: 4,
});

export const ROUNDS = 3;

const NUMBERS = new Map(CARDS.map((card, index) => [card, index + 1]));
const HAND_SIZES = { 2: 10, 3: 9, 4: 8, 5: 7 };

/**
 * Return whether a value is a card's name.
 *
 * @param {unknown} value
 * @returns {boolean}
 */
export function isCard(value) {
  return NUMBERS.has(value);
}

/**
 * Return a card's number in the protocol.
 *
 * @param {string} card
 * @returns {number}
 */
export function numberOf(card) {
  return NUMBERS.get(card);
}

/**
 * Return the cards with these numbers, frozen.
 *
 * @param {number[]} numbers
 * @returns {readonly string[]}
 * @throws {RangeError} A number is not a card's number.
 */
export function cardsOf(numbers) {
  return Object.freeze(numbers.map(cardOf));
}

/**
 * Return the card with this number.
 *
 * @param {number} number
 * @returns {string}
 * @throws {RangeError} It is not a card's number.
 */
export function cardOf(number) {
  const card = CARDS[number - 1];
  if (card === undefined) {
    throw new RangeError(`${number} is not a card number: card numbers run from 1 to ${CARDS.length}`);
  }
  return card;
}

/**
 * The rules of a game.
 *
 * @typedef {object} Rules
 * @property {number} players 2 to 5.
 * @property {boolean} passBothWays In round 2, hands go to the previous seat.
 * @property {boolean} soySauce Four soy sauce cards are in the deck.
 * @property {boolean} dummy Two players with a dummy.
 * @property {number} participants Number of players, plus the dummy if there is one. The dummy comes last.
 * @property {number} handSize Number of cards dealt to each hand, and to the dummy's pile.
 * @property {number} turns Number of turns in a round, including the automatic last one.
 */

/**
 * Return rules with the numbers derived from them.
 *
 * @param {{players: number, passBothWays: boolean, soySauce: boolean, dummy: boolean}} switches
 * @returns {Rules}
 * @throws {RangeError} There is no such game.
 */
export function rulesOf({ players, passBothWays, soySauce, dummy }) {
  if (!(players in HAND_SIZES) || (dummy && players !== 2)) {
    throw new RangeError(`there is no game for ${players} players${dummy ? " with a dummy" : ""}`);
  }
  const participants = players + (dummy ? 1 : 0);
  const handSize = HAND_SIZES[participants];
  return Object.freeze({ players, passBothWays, soySauce, dummy, participants, handSize, turns: handSize });
}
