/** One match over one stream. */

import { readFileSync, statSync } from "node:fs";
import { inspect } from "node:util";

import { Client, credentials, status } from "@grpc/grpc-js";

import { BotFailed, Game } from "./game.js";
import { decode, encode, faultName, PLAY } from "./wire.js";

const PROTOCOL = 1;
/** Maximum wait for a socket that doesn't exist yet. */
const PATIENCE_MILLIS = 10_000;
/**
 * Maximum wait for a referee whose socket exists. While the host is stalled, the referee can't answer, and the time
 * doesn't count towards the limit for the Hello. The arena kills bots that it has given up on, so a long wait does no
 * harm.
 */
const STALL_MILLIS = 300_000;
const OPTIONS = {
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  // The bot may start a moment before the socket exists.
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 200,
};
/** Answers to one message that are ready within this time are sent together. */
const BATCH_MILLIS = 20;
const HERE = new URL(".", import.meta.url).href;
/** The module that calls the author's code. */
const CALLER = new URL("game.js", import.meta.url).href;
const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/**
 * Play a match.
 *
 * @param {import("./bot.js").Bot} bot
 * @param {string} address The referee's address.
 * @param {number} gamesAtOnce
 * @returns {Promise<number>} The exit code, as `run` describes it.
 */
export async function playMatch(bot, address, gamesAtOnce) {
  const client = new Client(address, credentials.createInsecure(), OPTIONS);
  const match = new Match(bot);
  try {
    await connected(client, address);
    const call = client.makeBidiStreamRequest(PLAY, encode, decode);
    call.write({ hello: { protocol: PROTOCOL, sdk: `kaiten-javascript/${version}`, gamesAtOnce } });
    for await (const message of call) {
      for await (const moves of inBatches(match.answers(message))) {
        // Without this wait, Node.js sends the message only when the bot next yields to the event loop.
        await new Promise((sent) => call.write({ moves }, () => setImmediate(sent)));
      }
    }
    return 0;
  } catch (error) {
    // The referee closes its socket after MatchEnd, which may look like a lost connection.
    return match.over ? 0 : explain(error);
  } finally {
    client.close();
  }
}

/**
 * Yield answers in batches, which saves time. A slow answer is sent immediately, because the bot's clock runs until the
 * answer has been sent.
 *
 * @param {AsyncGenerator<object>} answers
 * @returns {AsyncGenerator<object[]>}
 */
async function* inBatches(answers) {
  let together = [];
  let began = performance.now();
  for await (const answer of answers) {
    together.push(answer);
    if (performance.now() - began > BATCH_MILLIS) {
      yield together;
      together = [];
      began = performance.now();
    }
  }
  if (together.length) yield together;
}

/** A match's games, by number. */
class Match {
  #bot;
  #games = new Map();
  #maxNoteBytes = 0;
  /** Whether MatchEnd has arrived. */
  over = false;

  /** @param {import("./bot.js").Bot} bot */
  constructor(bot) {
    this.#bot = bot;
  }

  /**
   * Process a message's events, and yield the answer to every request among them. Unknown events are ignored.
   *
   * @param {object} message The RefereeMessage.
   * @returns {AsyncGenerator<object>} Moves.
   * @throws {BotFailed} The bot's code failed.
   * @throws {RangeError} The referee sent an unknown card or game, or unknown rules.
   */
  async *answers(message) {
    for (const event of message.events) {
      const what = event[event.event];
      switch (event.event) {
        case "turnRequest":
          yield await this.#game(what.game).answer(what, this.#maxNoteBytes);
          break;
        case "turnResult":
          this.#game(what.game).revealed(what);
          break;
        case "gameStart":
          this.#games.set(what.game, new Game(this.#bot, what));
          break;
        case "gameEnd":
          await this.#game(what.game).over(what);
          this.#games.delete(what.game);
          break;
        case "notice":
          say(inWords(what));
          break;
        case "welcome":
          this.#maxNoteBytes = what.maxNoteBytes;
          break;
        case "matchEnd":
          this.over = true;
          break;
      }
    }
  }

  #game(number) {
    const game = this.#games.get(number);
    if (game === undefined) {
      throw new RangeError(`an event for game ${number}, which has not begun or is already over`);
    }
    return game;
  }
}

/** No referee answered in time. */
class NoReferee extends Error {}

/**
 * @param {Client} client
 * @param {string} address
 * @returns {Promise<void>}
 * @throws {NoReferee}
 */
async function connected(client, address) {
  try {
    await ready(client, PATIENCE_MILLIS);
  } catch {
    const socket = statSync(address.replace(/^unix:/, ""), { throwIfNoEntry: false });
    if (!socket?.isSocket()) {
      throw new NoReferee(`no referee answered at ${address}`);
    }
    await ready(client, STALL_MILLIS).catch(() => {
      throw new NoReferee(`no referee answered at ${address}`);
    });
  }
}

/**
 * @param {Client} client
 * @param {number} millis
 * @returns {Promise<void>}
 */
function ready(client, millis) {
  return new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + millis, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Print why the match ended, and return the program's exit code.
 *
 * @param {unknown} error
 * @returns {number}
 */
function explain(error) {
  if (error instanceof BotFailed) {
    process.stderr.write(`${trace(error.cause)}\n`);
    say(`the bot failed when ${error.message}`);
    return 1;
  }
  if (error instanceof NoReferee) {
    say(error.message);
  } else if (error instanceof RangeError) {
    say(`the referee sent a message that this library does not understand: ${error.message}`);
  } else if (error?.code in status) {
    say(`the connection to the referee was lost: ${error.details} (${status[error.code]})`);
  } else {
    throw error;
  }
  return 2;
}

/**
 * Return what was thrown as text. Its stacks, including those of its causes, end with the author's code.
 *
 * @param {unknown} thrown
 * @returns {string}
 */
function trace(thrown) {
  return inspect(thrown).replace(/(?:\n +(?:at|\.\.\. \d+ lines) .*)+/g, (stack) => {
    const frames = stack.split("\n");
    // An omitted part of the stack, which is the same in the cause's, ends in the library too.
    let end = frames.findIndex((frame) => frame.includes(CALLER) || /^ +\.\.\. /.test(frame));
    if (end < 0) {
      return stack;
    }
    while (frames[end - 1].includes(HERE)) {
      end -= 1;
    }
    return frames.slice(0, end).join("\n") + (stack.endsWith(" {") ? " {" : "");
  });
}

/**
 * @param {object} notice
 * @returns {string}
 */
function inWords({ game, round, turn, fault, text, takenOver }) {
  const after = takenOver ? "; a stand-in plays this game to its end" : "";
  const words = text.trim().split(/\s+/).join(" ");
  return `game ${game}, round ${round}, turn ${turn}: ${faultName(fault)}: ${words}${after}`;
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`kaiten: ${text}\n`);
}
