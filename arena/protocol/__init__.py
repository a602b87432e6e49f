"""Data that processes exchange: matches, recorded games, languages of bots, controls."""
