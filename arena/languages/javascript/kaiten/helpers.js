/**
 * Helpers for bots: what a view implies, given the hands that this seat has passed on and the turns revealed since.
 */

import { CARDS, DECK_COUNTS } from "./cards.js";

/** @typedef {import("./view.js").View} View */

/**
 * Return 1 if hands go to the next seat in this round, -1 if they go to the previous one.
 *
 * @param {View} view
 * @returns {1 | -1}
 */
export function direction(view) {
  return view.rules.passBothWays && view.round === 2 ? -1 : 1;
}

/**
 * Return the known cards of every hand, in seat order.
 *
 * This seat's own hand is known. Hands that it passed on are known too, without the cards that other seats took from
 * them. All other hands are returned as empty. With a dummy, the opponent in control has one card that is not
 * included: the drawn one.
 *
 * @param {View} view
 * @returns {string[][]}
 */
export function knownHands(view) {
  const { players } = view.rules;
  const step = direction(view);
  const hands = Array.from({ length: players }, () => []);
  hands[view.seat] = [...view.hand];
  for (let passed = 1; passed <= Math.min(players - 1, view.pastHands.length); passed += 1) {
    // This hand was seen `passed` turns ago. Since then, this seat and the following seats have taken cards from it.
    const hand = new Pile(view.pastHands.at(-passed));
    view.turns.slice(-passed).forEach((turn, nth) => {
      take(hand, turn, modulo(view.seat + nth * step, players), view);
    });
    hands[modulo(view.seat + passed * step, players)] = hand.cards();
  }
  return hands;
}

/**
 * Return the cards that are neither on a table, nor played in earlier rounds, nor in a known hand.
 *
 * These cards are in hands that this seat has not seen, in the dummy's pile, or undealt. They are listed in the
 * order of the table of cards.
 *
 * @param {View} view
 * @returns {string[]}
 */
export function unseenCards(view) {
  const pile = new Pile();
  for (const card of CARDS) {
    pile.add(card, card === "soy_sauce" && !view.rules.soySauce ? 0 : DECK_COUNTS[card]);
  }
  for (const turn of view.turns) {
    turn.plays.forEach((play, player) => {
      pile.remove(play);
      if (play.length > 1 && player < view.rules.players) {
        pile.add("chopsticks", 1);
      }
    });
  }
  for (const hand of knownHands(view)) {
    pile.remove(hand);
  }
  return pile.cards();
}

/** Cards, counted by kind. */
class Pile {
  /** @param {readonly string[]} cards */
  constructor(cards = []) {
    this.counts = new Map(CARDS.map((card) => [card, 0]));
    cards.forEach((card) => this.add(card, 1));
  }

  /**
   * @param {string} card
   * @param {number} times
   */
  add(card, times) {
    this.counts.set(card, this.counts.get(card) + times);
  }

  /** @param {readonly string[]} cards */
  remove(cards) {
    cards.forEach((card) => this.add(card, -1));
  }

  /** @returns {string[]} In the order of the table of cards. */
  cards() {
    return CARDS.flatMap((card) => Array.from({ length: Math.max(0, this.counts.get(card)) }, () => card));
  }
}

/**
 * Remove the cards that a seat placed, and put its chopsticks back.
 *
 * @param {Pile} hand
 * @param {import("./view.js").Turn} turn
 * @param {number} seat
 * @param {View} view
 */
function take(hand, turn, seat, view) {
  const play = turn.plays[seat];
  hand.remove(play);
  if (play.length > 1) {
    hand.add("chopsticks", 1);
  }
  if (view.rules.dummy && seat === ((turn.round - 1) * view.rules.turns + turn.turn - 1) % 2) {
    hand.remove(turn.plays.at(-1));
  }
}

/**
 * @param {number} number
 * @param {number} divisor
 * @returns {number} At least 0 and less than the divisor, even for a negative number.
 */
function modulo(number, divisor) {
  return ((number % divisor) + divisor) % divisor;
}
