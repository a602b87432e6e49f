/** NAME, a Sushi Go! bot. */

import { Card, run } from "kaiten";

const WANTED = [Card.SQUID_NIGIRI, Card.SALMON_NIGIRI, Card.MAKI_3, Card.DUMPLING, Card.TEMPURA];

/** Return the card to play. */
export function choose(view) {
  return WANTED.find((card) => view.hand.includes(card)) ?? view.hand[0];
}

if (process.env.ARENA_REFEREE) {
  run(choose);
}
