/** One game: the bot's player, and the history that is part of every view. */

import { readAnswer } from "./answer.js";
import { newPlayer } from "./bot.js";
import { cardOf, cardsOf, numberOf, rulesOf } from "./cards.js";
import { View } from "./view.js";

/** The bot's code failed: `cause` is what was thrown, and `message` says when. */
export class BotFailed extends Error {}

export class Game {
  #player;

  /**
   * Begin a game.
   *
   * @param {import("./bot.js").Bot} bot
   * @param {object} start The GameStart.
   * @throws {BotFailed} The bot's constructor threw.
   * @throws {RangeError} The referee's rules are unknown.
   */
  constructor(bot, start) {
    this.number = start.game;
    this.seat = start.seat;
    this.rules = rulesOf(start.rules);
    this.turns = Object.freeze([]);
    this.round = 0;
    this.pastHands = Object.freeze([]);
    try {
      this.#player = newPlayer(bot);
    } catch (cause) {
      throw new BotFailed("a game began", { cause });
    }
  }

  /**
   * Add a revealed turn to the history.
   *
   * @param {object} result The TurnResult.
   */
  revealed({ round, turn, plays }) {
    const revealed = { round, turn, plays: Object.freeze(plays.map((play) => cardsOf(play.cards))) };
    this.turns = Object.freeze([...this.turns, Object.freeze(revealed)]);
  }

  /**
   * Request a decision from the bot.
   *
   * @param {object} request The TurnRequest.
   * @param {number} maxNoteBytes Longer notes are truncated.
   * @returns {Promise<object>} The Move.
   * @throws {BotFailed} `choose` threw, or its result is not an answer.
   * @throws {RangeError} The referee sent an unknown card.
   */
  async answer(request, maxNoteBytes) {
    const view = this.#view(request);
    this.pastHands = Object.freeze([...this.pastHands, view.hand]);
    try {
      const { cards, dummy, note } = readAnswer(await this.#player.choose(view), view);
      return {
        game: this.number,
        round: view.round,
        turn: view.turn,
        cards: cards.map(numberOf),
        dummyCard: dummy === null ? 0 : numberOf(dummy),
        note: cut(note, maxNoteBytes),
        nonce: request.nonce,
      };
    } catch (cause) {
      throw new BotFailed(this.#shown(view), { cause });
    }
  }

  /**
   * Call the bot's `gameOver`, if it has one.
   *
   * @param {object} end The GameEnd.
   * @throws {BotFailed} `gameOver` threw.
   */
  async over({ puddings, puddingScores, totals, places }) {
    const { rules, seat, turns } = this;
    try {
      await this.#player.gameOver?.({ rules, seat, turns, result: { puddings, puddingScores, totals, places } });
    } catch (cause) {
      throw new BotFailed(`game ${this.number} ended`, { cause });
    }
  }

  #view({ position, hand, control, drawn }) {
    if (position.round !== this.round) {
      this.round = position.round;
      this.pastHands = Object.freeze([]);
    }
    return new View({
      rules: this.rules,
      seat: this.seat,
      round: position.round,
      turn: position.turn,
      hand: cardsOf(hand),
      tables: Object.freeze(position.tables.map((table) => cardsOf(table.cards))),
      puddings: Object.freeze([...position.puddings]),
      scores: Object.freeze([...position.scores]),
      handSizes: Object.freeze([...position.handSizes]),
      control,
      drawn: drawn ? cardOf(drawn) : null,
      turns: this.turns,
      pastHands: this.pastHands,
    });
  }

  #shown(view) {
    const tables = view.tables.map(
      (table, player) => `${player === view.seat ? "own" : player}: ${table.join(" ") || "nothing"}`,
    );
    return (
      `it was asked for a move in game ${this.number}, round ${view.round}, turn ${view.turn}, seat ${view.seat}\n` +
      `  hand    ${view.hand.join(" ")}\n  tables  ${tables.join("; ")}`
    );
  }
}

/**
 * Truncate text without splitting a character.
 *
 * @param {string} text
 * @param {number} maxBytes Maximum length in UTF-8.
 * @returns {string}
 */
function cut(text, maxBytes) {
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  // With `stream`, the decoder holds back an incomplete character.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}
