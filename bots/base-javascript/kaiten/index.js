/**
 * What a bot imports.
 *
 * A bot is a function that gets a {@link View} and returns what it plays:
 *
 *     import { run } from "kaiten";
 *
 *     run((view) => view.hand[0]);
 *
 * A bot that remembers things is a class with a method `choose(view)`, made anew for every game.
 */

export { CARDS, Card, DECK_COUNTS, ROUNDS } from "./cards.js";
export { run } from "./main.js";
export { direction, knownHands, unseenCards } from "./memory.js";
export { scoreNigiri, scorePuddings, scoreRound } from "./scoring.js";
export { View } from "./view.js";
