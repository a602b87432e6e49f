"""Games whose replays must never change."""
