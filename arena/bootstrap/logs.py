"""Where logs go."""

import logging
import sys

import structlog


def configure_logs(least: int = logging.NOTSET) -> None:
    """Let logs go to stderr, where messages go.

    Args:
        least: Level of the least of them.
    """
    structlog.configure(
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(least),
    )
