/** Bots: functions, or classes with an instance per game. */

import { inspect } from "node:util";

/**
 * @typedef {import("./answer.js").Choice} Choice
 * @typedef {import("./view.js").View} View
 *
 * @typedef {object} GameOver The end of a game.
 * @property {import("./cards.js").Rules} rules The game's rules.
 * @property {number} seat The bot's seat.
 * @property {readonly import("./view.js").Turn[]} turns Everything revealed in the game.
 * @property {{puddings: number[], puddingScores: number[], totals: number[], places: number[]}} result The
 *   referee's result; lists have one entry per participant, `places` one per player.
 *
 * @typedef {object} Player A bot's player in one game.
 * @property {(view: View) => Choice | Promise<Choice>} choose Returns the move.
 * @property {(end: GameOver) => unknown} [gameOver] Called at the end of the game.
 *
 * @typedef {((view: View) => Choice | Promise<Choice>) | (new () => Player)} Bot A `choose` function, or a
 *   class of players.
 */

/**
 * Return whether a bot is a class, not a function.
 *
 * @param {unknown} bot
 * @returns {boolean}
 * @throws {TypeError} `bot` is neither. The message shows what it is.
 */
export function isClass(bot) {
  if (typeof bot !== "function") {
    throw new TypeError(
      `${inspect(bot)} is not a bot: pass a function choose(view), or a class with a method choose(view)`,
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
 * Begin a game with a new instance of a class, or with the function itself.
 *
 * @param {Bot} bot
 * @returns {Player}
 */
export function newPlayer(bot) {
  return isClass(bot) ? new bot() : { choose: bot };
}
