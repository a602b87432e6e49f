/** What a bot may answer, and what it means. */

import { inspect } from "node:util";

import { isCard } from "./cards.js";

/**
 * What `choose` may return: a card, two cards in the order of placing, a move of `view.legalMoves()`, or any
 * object with such `cards`. Beside them it may hold `dummy`, the dummy's card in control of it, and `note`,
 * free text that is kept for the bot's owner.
 *
 * @typedef {string | readonly string[] |
 *   {cards: string | readonly string[], dummy?: string | null, note?: string}} Choice
 */

/**
 * Return what an answer means. Whether it is legal is the rules' business.
 *
 * @param {unknown} answer What `choose` returned.
 * @param {import("./view.js").View} view What it was asked about; named in the error.
 * @returns {{cards: string[], dummy: string | null, note: string}}
 * @throws {TypeError} It is nothing that Choice allows; the text says what it is.
 */
export function readAnswer(answer, view) {
  const plain = typeof answer === "string" || Array.isArray(answer);
  const { cards, dummy = null, note = "" } = plain ? { cards: answer } : Object(answer);
  const named = typeof cards === "string" ? [cards] : Array.isArray(cards) ? cards : [undefined];
  if (!named.every(isCard) || !(dummy === null || isCard(dummy))) {
    throw new TypeError(
      `round ${view.round}, turn ${view.turn}: choose() returned ${inspect(answer)}; it must return a card ` +
        'such as "maki_2", two cards, a move of view.legalMoves(), or an object with cards, dummy and note',
    );
  }
  if (typeof note !== "string") {
    throw new TypeError(`the note of an answer is text, not ${inspect(note)}`);
  }
  return { cards: named, dummy, note };
}
