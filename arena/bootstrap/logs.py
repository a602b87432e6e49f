"""Where logs go."""

import sys

import structlog


def configure_logs() -> None:
    """Let logs go to stderr, where messages go."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
