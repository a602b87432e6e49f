/** What a bot is: a function, or a class of which every game gets an instance. */

import { inspect } from "node:util";

/**
 * @typedef {import("./answer.js").Choice} Choice
 * @typedef {import("./view.js").View} View
 *
 * @typedef {object} GameOver The end of a game, for a bot that wants to know.
 * @property {import("./cards.js").Rules} rules What was played.
 * @property {number} seat The bot's own.
 * @property {readonly import("./view.js").Turn[]} turns Everything revealed in the game.
 * @property {{puddings: number[], puddingScores: number[], totals: number[], places: number[]}} result As the
 *   referee gave them; lists have one entry a participant, `places` one a player.
 *
 * @typedef {object} Player What plays one game.
 * @property {(view: View) => Choice | Promise<Choice>} choose Returns what to play.
 * @property {(end: GameOver) => unknown} [gameOver] Is told the end.
 *
 * @typedef {((view: View) => Choice | Promise<Choice>) | (new () => Player)} Bot A function that chooses, or
 *   a class of players.
 */

/**
 * Tell the two kinds of bots apart.
 *
 * @param {unknown} bot
 * @returns {boolean}
 * @throws {TypeError} It is neither; the text says what it is.
 */
export function isClass(bot) {
  if (typeof bot !== "function") {
    throw new TypeError(
      `${inspect(bot)} is not a bot: that is a function choose(view), or a class with such a method`,
    );
  }
  if (typeof bot.prototype?.choose === "function") {
    return true;
  }
  if (/^class\b/.test(Function.prototype.toString.call(bot))) {
    throw new TypeError(`the class ${bot.name} is not a bot: it has no method choose(view)`);
  }
  return false;
}

/**
 * Begin a game: a class gets a new instance, a function is used as it is.
 *
 * @param {Bot} bot
 * @returns {Player}
 */
export function newPlayer(bot) {
  return isClass(bot) ? new bot() : { choose: bot };
}
