/** A bot's decisions and their legal moves. */

/**
 * @typedef {import("./cards.js").Rules} Rules
 *
 * @typedef {object} Move A legal choice.
 * @property {readonly string[]} cards One card, or two in the order in which they are placed.
 * @property {string | null} dummy The dummy's card if this seat controls the dummy.
 *
 * @typedef {object} Turn A revealed turn.
 * @property {number} round From 1.
 * @property {number} turn Within the round, from 1.
 * @property {readonly (readonly string[])[]} plays Each participant's cards, in the order in which they were placed.
 */

/**
 * A decision as its seat sees it.
 *
 * Lists that cover all participants have one entry for each: the seats in order, then the dummy, if any. All lists are
 * frozen: sort a copy.
 */
export class View {
  /**
   * @param {object} seen
   * @param {Rules} seen.rules
   * @param {number} seen.seat The deciding seat, from 0. Hands go to the next seat, unless `direction(view)` is -1.
   * @param {number} seen.round From 1.
   * @param {number} seen.turn Within the round, from 1.
   * @param {readonly string[]} seen.hand In the order of the table of cards. It includes the drawn card if this seat
   *   controls the dummy.
   * @param {readonly (readonly string[])[]} seen.tables Cards in front of every participant in this round,
   *   in the order in which they were placed.
   * @param {readonly number[]} seen.puddings From earlier rounds; those from this round are on the tables.
   * @param {readonly number[]} seen.scores Points from earlier rounds.
   * @param {readonly number[]} seen.handSizes Number of cards in each hand; for the dummy, the number left in its
   *   pile.
   * @param {boolean} seen.control Whether this seat also chooses the dummy's card.
   * @param {string | null} seen.drawn The card drawn from the dummy's pile, if this seat controls the dummy.
   * @param {readonly Turn[]} seen.turns Everything revealed in this game.
   * @param {readonly (readonly string[])[]} seen.pastHands This seat's hands in this round before this turn.
   */
  constructor(seen) {
    this.rules = seen.rules;
    this.seat = seen.seat;
    this.round = seen.round;
    this.turn = seen.turn;
    this.hand = seen.hand;
    this.tables = seen.tables;
    this.puddings = seen.puddings;
    this.scores = seen.scores;
    this.handSizes = seen.handSizes;
    this.control = seen.control;
    this.drawn = seen.drawn;
    this.turns = seen.turns;
    this.pastHands = seen.pastHands;
    Object.freeze(this);
  }

  /** The cards in front of this seat. */
  get table() {
    return this.tables[this.seat];
  }

  /**
   * Return every legal choice once: single cards before pairs, and otherwise in the order of the table of cards.
   *
   * @returns {Move[]}
   */
  legalMoves() {
    const kinds = [...new Set(this.hand)];
    const choices = kinds.map((card) => [card]);
    if (this.table.includes("chopsticks") && this.hand.length >= (this.control ? 3 : 2)) {
      for (const first of kinds) {
        choices.push(...without(this.hand, [first]).map((second) => [first, second]));
      }
    }
    if (!this.control) {
      return choices.map((cards) => move(cards, null));
    }
    return choices.flatMap((cards) => without(this.hand, cards).map((dummy) => move(cards, dummy)));
  }
}

/**
 * Return the kinds that remain in a hand after some cards are removed.
 *
 * @param {readonly string[]} hand
 * @param {string[]} cards
 * @returns {string[]}
 */
function without(hand, cards) {
  const rest = [...hand];
  for (const card of cards) {
    rest.splice(rest.indexOf(card), 1);
  }
  return [...new Set(rest)];
}

/**
 * @param {string[]} cards
 * @param {string | null} dummy
 * @returns {Move}
 */
function move(cards, dummy) {
  return Object.freeze({ cards: Object.freeze(cards), dummy });
}
