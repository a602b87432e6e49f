"""Run the tests in this folder: python -m unittest"""

import unittest

from arena.sdk import Card, play

from bot import choose


class TestBot(unittest.TestCase):
    """Tests of whole games and of single decisions."""

    def test_it_plays_whole_games(self) -> None:
        """It plays legally at every table size."""
        for players in (2, 3, 4, 5):
            self.assertTrue(play([choose] * players, seed=players).over)

    def test_it_wants_nigiri(self) -> None:
        """It plays a squid nigiri whenever it has one."""
        seen = []
        play([lambda view: seen.append(view) or choose(view)] * 2, seed=1)
        for view in seen:
            if Card.SQUID_NIGIRI in view.hand:
                self.assertEqual(choose(view), Card.SQUID_NIGIRI)


if __name__ == "__main__":
    unittest.main()
