"""Which documents the site shows, in which order, and where. Paths are those of the repository."""

from pathlib import PurePosixPath
from typing import Final

RULES: Final = "docs/rules.md"

CHAPTERS: Final = (
    (
        "Write a bot",
        (
            "docs/first-bot.md",
            "docs/javascript.md",
            "docs/protocol.md",
            "docs/base-images.md",
            "bots/base-python/README.md",
            "bots/base-javascript/README.md",
        ),
    ),
    (
        "Let it play",
        (
            RULES,
            "docs/arena-rules.md",
            "docs/submitting.md",
            "docs/cli.md",
            "docs/sandbox.md",
            "docs/accounts.md",
        ),
    ),
    (
        "Games and data",
        ("docs/leaderboard.md", "docs/viewer.md", "docs/bot-pages.md", "docs/replay.md", "docs/api.md"),
    ),
    (
        "Sample bots",
        (
            "bots/random/README.md",
            "bots/greedy/README.md",
            "bots/greedy-js/README.md",
            "bots/spoiler/README.md",
            "bots/expected/README.md",
            "bots/rollout/README.md",
        ),
    ),
    (
        "Run an arena",
        (
            "docs/operating.md",
            "docs/monitoring.md",
            "docs/backup.md",
            "docs/reliability.md",
            "docs/compose.md",
            "docs/cluster.md",
            "docs/settings.md",
            "docs/intake.md",
            "docs/canary.md",
            "docs/security.md",
        ),
    ),
)
"""Titles of the chapters, and what is in them."""

FILES: Final = {
    "referee.proto": "proto/arena/wire/v1/referee.proto",
    "shuffle-vectors.json": "docs/shuffle-vectors.json",
    "greedy.py": "bots/greedy/bot.py",
    "greedy.js": "bots/greedy-js/bot.js",
}
"""What the documents tell their readers to take along, by its name on the site."""


def address_of(path: str) -> str:
    """Return where the page of a document is."""
    if path == RULES:
        return "/rules"
    name = PurePosixPath(path)
    return f"/docs/{name.parent.name if name.stem == 'README' else name.stem}"
