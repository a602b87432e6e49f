/** Plays the move that scores the most now and ignores later turns: greedy, in JavaScript. */

import { Card, run, scoreRound } from "kaiten";

/**
 * Return the move that would score the most if the round ended after this turn.
 *
 * Among equal moves, the one that leaves the other players fewer points wins, then the first in `legalMoves()`.
 */
function choose(view) {
  let best = { own: -Infinity };
  for (const move of view.legalMoves()) {
    const { own, others } = pointsAfter(view, move);
    if (own > best.own || (own === best.own && others < best.others)) {
      best = { move, own, others };
    }
  }
  return best.move;
}

/** Return this seat's points after a move, and the sum of the other seats' points. */
function pointsAfter(view, move) {
  const table = [...view.table];
  if (move.cards.length > 1) {
    table.splice(table.indexOf(Card.CHOPSTICKS), 1); // They return to the hand.
  }
  const tables = [...view.tables];
  tables[view.seat] = [...table, ...move.cards];
  if (move.dummy) {
    tables.push([...tables.pop(), move.dummy]);
  }
  const totals = scoreRound(view.rules, tables).map((score) => score.total);
  const own = totals[view.seat];
  return { own, others: totals.reduce((sum, total) => sum + total, -own) };
}

run(choose);
