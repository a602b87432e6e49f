"""Games and their replays."""
