"""Tests of public replays."""
