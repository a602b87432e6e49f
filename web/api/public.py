"""Data for programs: the same numbers as on the pages, and the public replays."""

from typing import Final

import msgspec
from fastapi import APIRouter, Response

from arena.store import Reads
from web.reading import GameId, Players, read_board, read_game
from web.status import read_status

_JSON: Final = "application/json"
_METHODS: Final = ["GET", "HEAD"]


def public_api(reads: Reads) -> APIRouter:
    """Return the routes of all data."""
    router = APIRouter()

    @router.api_route("/api/v1/leaderboard", methods=_METHODS)
    def leaderboard(players: Players = None) -> Response:
        return Response(msgspec.json.encode(read_board(reads, players)), media_type=_JSON)

    @router.api_route("/api/v1/status", methods=_METHODS)
    def status() -> Response:
        return Response(msgspec.json.encode(read_status(reads)), media_type=_JSON)

    @router.api_route("/games/{game}/replay.json", methods=_METHODS)
    def replay(game: GameId) -> Response:
        return Response(read_game(reads, game).replay, media_type=_JSON)

    @router.api_route("/healthz", methods=_METHODS)
    def health() -> Response:
        reads.totals()
        return Response("ok\n", media_type="text/plain")

    return router
