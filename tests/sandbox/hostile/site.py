"""Checks what the site shows of a match with a hostile bot."""

import html
import json
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Final
from unittest.mock import patch

from fastapi.testclient import TestClient
from httpx2 import Response

import web.http.rendering
from arena.db.store import Store, open_store
from arena.protocol.match import encode
from arena.scheduler.check import verified_match
from tests.db.builders import START, add_bot, claim_one, new_match
from tests.sandbox.hostile.attack import Outcome
from tests.sandbox.hostile.system.talking import BIDI, MARKUP
from tests.web.app import site_of

_NAME: Final = f"{BIDI}{MARKUP}"


@contextmanager
def unescaped() -> Iterator[None]:
    """Make the site's templates write text unescaped."""
    real = web.http.rendering.ENVIRONMENT
    loose = real.overlay(autoescape=False)
    loose.filters = {**real.filters, "clean_name": str}
    with patch("web.http.rendering.ENVIRONMENT", loose):
        yield


def shown(outcome: Outcome) -> str:
    """Name the bot's text that the site shows unescaped, or shows to anyone although it is private.

    Raises ValueError if the record doesn't hold what the bot wrote, since the pages would then prove nothing.
    """
    seat, note = outcome.report, outcome.told["note"]
    decisions = [step[outcome.seat] for step in outcome.record.games[0].steps]
    notes = {decision.note for decision in decisions if decision is not None}
    if (seat.sdk, notes, note in seat.stderr) != (outcome.told["sdk"], {note}, True):
        raise ValueError(f"the record holds {seat.sdk!r}, {notes}, {seat.stderr[:200]!r}")
    found = []
    for path, answer in _answers(outcome).items():
        if answer.headers["content-type"].startswith("text/html"):
            found += [f"{what!r} in {path}" for what in (MARKUP, *BIDI) if what in answer.text]
        if any(form in answer.text for form in (note, html.escape(note), json.dumps(note)[1:-1])):
            found.append(f"its note in {path}")
    return ", ".join(found)


def _answers(outcome: Outcome) -> dict[str, Response]:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_store(f"sqlite:///{folder}/a.sqlite3")) as store,
    ):
        game = f"/games/{_stored(store, outcome)}"
        with TestClient(site_of(store)) as client:
            answers = {path: client.get(path) for path in ("/", "/games", game, f"{game}/replay.json")}
    for path, answer in answers.items():
        if not answer.is_success or "alert(" not in answer.text:
            raise ValueError(f"{path} ({answer.status_code}) does not show the bot: {answer.text[:200]}")
    return answers


def _stored(store: Store, outcome: Outcome) -> str:
    """Store a record as the coordinator would, under malicious names, and return its game's id."""
    record = outcome.record
    versions = [
        add_bot(store, f"{_NAME}{seat}", source=report.image, author=_NAME)
        for seat, report in enumerate(record.seats)
    ]
    seeds = tuple(game.seed for game in record.games)
    store.queue.add(replace(new_match("hostile", versions), seeds=seeds))
    claim = claim_one(store)
    claimed = replace(record, match=claim.spec.match, attempt=claim.spec.attempt)
    finished = verified_match(claim, encode(claimed), START)
    store.results.record(finished)
    return finished.games[0].id
