"""Plays matches on one host: launcher, referee, replays, analysis and simulation."""
