"""Bots in C++. They are submitted as images; only the files for a new bot are here."""

from pathlib import Path
from typing import Final

from arena.languages.language import Starter

CPP_STARTER: Final = Starter(folder=Path(__file__).parent / "starter")
