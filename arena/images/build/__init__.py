"""Builds images: base images for bots, one image per bot, and the arena's own.

Build inputs are trusted: they are the arena's sample bots and the local user's own bots. The steps of a
Dockerfile run in the engine's ordinary containers, without a network but outside the sandbox.

Failures raise RuntimeFailure, whose message says what failed and why, and often what to do.
"""
