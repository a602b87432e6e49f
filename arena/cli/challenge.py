"""``arena challenge``: unrated games against opponents of one's choice."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from arena.cli.console import INTERRUPTED, WRONG, echo, say
from arena.cli.online import part, visiting
from arena.cli.terminal import print_json, print_table
from arena.client.errors import SiteTrouble
from arena.client.patience import Patience
from arena.client.played import Challenge, PlayedGame
from arena.client.site import Site
from arena.speech import visible

_LOOK_SECONDS: Final = 2.0
_COLUMNS: Final = ("bot", "games", "wins", "place", "points")


def challenge(  # noqa: PLR0913 - its options
    bot: Annotated[str, typer.Argument(help="Yours.")],
    opponents: Annotated[
        list[str], typer.Argument(metavar="OPPONENT...", help="Bots, or versions of them as in greedy@2.")
    ],
    *,
    version: Annotated[int | None, typer.Option(min=1, help="Of yours; without, the one that plays.")] = None,
    deals: Annotated[int, typer.Option(min=1, max=6, help="Different deals of each match.")] = 1,
    no_follow: Annotated[bool, typer.Option("--no-follow", help="End when it is asked for.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the challenge as JSON.")] = False,
) -> None:
    """Let your bot play unrated games, and show how they went."""
    with visiting() as site:
        wanted = {"opponents": opponents, "version": version, "deals": deals}
        told = site.post(f"/bots/{part(bot)}/challenges", wanted)
        asked = site.read(told, Challenge)
        if not no_follow:
            told = _followed(site, asked)
        known = site.read(told, Challenge)
        if as_json:
            print_json(told)
        elif no_follow:
            echo(known.id)
        else:
            _print(known, _page(site, known))
        if no_follow:
            say(f"{_page(site, known)} shows how far it is")
    if known.state == "failed":
        say("the arena could not play all of it, for a fault of its own: ask again")
        raise typer.Exit(WRONG)


def _followed(site: Site, asked: Challenge) -> Any:  # noqa: ANN401 - JSON
    """Tell each game when it has been played, and return the challenge when it is over."""
    shown = f"{_page(site, asked)} shows how far it is"
    look = f"the challenge goes on by itself: {shown}"
    told: Any = None
    played = 0
    try:
        say(shown)
        for told in _answers(site, asked.id):
            games = site.read(told, Challenge).games
            for number, game in enumerate(games[played:], played + 1):
                say(f"game {number}: {visible(_result(game))}")
            played = len(games)
    except KeyboardInterrupt:
        say(f"stopped following; {look}")
        raise typer.Exit(INTERRUPTED) from None
    except SiteTrouble as trouble:
        raise SiteTrouble(f"{trouble}. {look}") from trouble
    return told


def _answers(site: Site, id_: str) -> Iterator[Any]:
    """Yield a challenge again and again until it is over."""
    patience = Patience(pause=_LOOK_SECONDS)
    while True:
        try:
            told = site.get(f"/challenges/{part(id_)}")
        except SiteTrouble as trouble:
            patience.lose(trouble)
            continue
        patience.regain()
        yield told
        if site.read(told, Challenge).over:
            return
        patience.rest()


def _result(game: PlayedGame) -> str:
    seats = sorted(game.seats, key=lambda seat: seat.place)
    return ", ".join(f"{seat.place}. {seat.bot}@{seat.version} {seat.points}" for seat in seats)


def _page(site: Site, known: Challenge) -> str:
    return visible(f"{site.address}/challenges/{known.id}")


def _print(known: Challenge, page: str) -> None:
    rows = [
        (
            f"{each.bot}@{each.version}",
            str(each.games),
            str(each.wins),
            "-" if each.mean_place is None else f"{each.mean_place:.2f}",
            "-" if each.points is None else f"{each.points:.1f}",
        )
        for each in known.entrants
    ]
    print_table(_COLUMNS, rows, numbers=_COLUMNS[1:])
    for game in known.games:
        echo(f"{page}/games/{game.game}")
