"""Files of this project that are no code, such as the sample bots and the documentation."""

import sys
from pathlib import Path


def shared_folder() -> Path:
    """Return the folder they are in: that of the source tree, or where the wheel puts them."""
    root = Path(__file__).resolve().parent.parent
    if (root / "pyproject.toml").is_file():
        return root
    return Path(sys.prefix) / "share" / "kaiten-arena"
