"""One match on one host: referee, launcher, replay, simulation."""
