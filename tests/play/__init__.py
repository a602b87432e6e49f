"""Referee, launcher and replays."""
