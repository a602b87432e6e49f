/** The bot's main program. */

import { isClass } from "./bot.js";

const ADDRESS = "ARENA_REFEREE"; // the environment variable that holds the referee's address
const NO_ADDRESS = `\
${ADDRESS} is not set: this bot is meant to be started by the arena, which sets it to the address of a referee.
`;

/**
 * Play the match that the arena started this program for, and exit.
 *
 * Exit codes: 0 if the referee ended the match, 1 if the bot's code threw an error (the stack is on stderr), 2 if
 * there was no referee, or if it disappeared or refused the bot.
 *
 * @param {import("./bot.js").Bot} bot A function `choose(view)`, or a class with a method `choose(view)` and an
 *   optional `gameOver(end)`; every game gets a new instance. `choose` may be asynchronous.
 * @param {{gamesAtOnce?: number}} [options] Number of games to play at the same time in a match. Default: 32 for
 *   a function, 1 for a class.
 * @returns {Promise<never>}
 * @throws {TypeError} `bot` is neither such a function nor such a class.
 * @throws {RangeError} `gamesAtOnce` is not an integer, or is less than 1.
 */
export async function run(bot, { gamesAtOnce = isClass(bot) ? 1 : 32 } = {}) {
  isClass(bot);
  if (!Number.isSafeInteger(gamesAtOnce) || gamesAtOnce < 1) {
    throw new RangeError(`gamesAtOnce is ${gamesAtOnce}; it must be 1 or more`);
  }
  const address = process.env[ADDRESS];
  if (!address) {
    process.stderr.write(NO_ADDRESS);
    process.exit(2);
  }
  const { playMatch } = await import("./match.js"); // gRPC takes a long time to load, and only a match needs it
  process.exit(await playMatch(bot, address, gamesAtOnce));
}
