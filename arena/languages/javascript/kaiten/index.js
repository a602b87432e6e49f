/**
 * The library for bots.
 *
 * A bot is a function that gets a {@link View} and returns its move:
 *
 *     import { run } from "kaiten";
 *
 *     run((view) => view.hand[0]);
 *
 * A bot with a memory is a class with a method `choose(view)`; every game gets a new instance.
 */

export { CARDS, Card, DECK_COUNTS, ROUNDS } from "./cards.js";
export { run } from "./main.js";
export { direction, knownHands, unseenCards } from "./helpers.js";
export { scoreNigiri, scorePuddings, scoreRound } from "./scoring.js";
export { View } from "./view.js";
