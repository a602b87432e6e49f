/** A bot's answers. */

import { inspect } from "node:util";

import { isCard } from "./cards.js";

/**
 * The result of `choose`: a card, two cards in the order in which they are placed, a move from `view.legalMoves()`,
 * or any object with such a `cards` property. The object may also have `dummy`, the dummy's card if this seat controls
 * the dummy, and `note`, free text that is stored for the bot's owner.
 *
 * @typedef {string | readonly string[] |
 *   {cards: string | readonly string[], dummy?: string | null, note?: string}} Choice
 */

/**
 * Read an answer, whether or not it is legal.
 *
 * @param {unknown} answer The result of `choose`.
 * @param {import("./view.js").View} view The decision, for the error message.
 * @returns {{cards: string[], dummy: string | null, note: string}}
 * @throws {TypeError} The answer is not a Choice; the message shows it.
 */
export function readAnswer(answer, view) {
  const plain = typeof answer === "string" || Array.isArray(answer);
  const { cards, dummy = null, note = "" } = plain ? { cards: answer } : Object(answer);
  const named = typeof cards === "string" ? [cards] : Array.isArray(cards) ? cards : [undefined];
  if (!named.every(isCard) || !(dummy === null || isCard(dummy))) {
    throw new TypeError(
      `round ${view.round}, turn ${view.turn}: choose() returned ${inspect(answer)}; it must return a card ` +
        'such as "maki_2", two cards, a move from view.legalMoves(), or an object with cards, dummy and note',
    );
  }
  if (typeof note !== "string") {
    throw new TypeError(`an answer's note must be text, not ${inspect(note)}`);
  }
  return { cards: named, dummy, note };
}
