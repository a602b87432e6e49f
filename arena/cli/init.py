"""``arena init``: create the files of a new bot."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.console import echo, fail, print_json
from arena.home.starter import FolderTaken, StarterLanguage, starter_files, write_starter
from arena.platform.names import WrongName


def init(
    name: Annotated[str, typer.Argument(help="Name of the bot and of its folder.")],
    *,
    language: Annotated[StarterLanguage, typer.Option(help="Programming language.")] = StarterLanguage.PYTHON,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Create a folder with a working bot, its test, a Dockerfile and a README.

    Example: arena init mybot --language javascript
    """
    folder = Path(name)
    try:
        files = starter_files(name, language)
        write_starter(folder, files)
    except (FolderTaken, WrongName) as error:
        fail(str(error))
    except OSError as error:
        fail(f"can't create {folder}: {error}")
    if as_json:
        print_json({"folder": str(folder), "files": sorted(files)})
        return
    for file in files:
        echo(f"{folder / file}")
    echo(f"next steps: see {folder / 'README.md'}")
