"""Files that have to be there whatever happens to this machine."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until a file is on the disk; of a folder, until the names in it are.

    Raises:
        OSError: It isn't there, or its disk fails.
    """
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
