"""Builds images: base images for bots, one image per bot, and the arena's own.

    ensure_base_image(builder, language) kaiten/bot-base-python:latest and the like, built only if missing
                                         or outdated
    build_bot_image(builder, folder)     an image from a folder with a Dockerfile
    build_canary_image(builder)          kaiten/canary:latest, which tests the sandbox from inside
    build_server_image(builder)          localhost/kaiten/server:latest, from a checkout
    build_database_image(builder)        localhost/kaiten/postgresql:15, for docker-compose.yml

Build inputs are trusted: they are the arena's sample bots and the local user's own bots. The steps of a
Dockerfile run in the engine's ordinary containers, without a network but outside the sandbox.

Failures raise RuntimeFailure, whose message says what failed and why, and often what to do.
"""
