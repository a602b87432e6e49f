"""``arena challenge``, ``arena games`` and ``arena logs``: your bots' games on a site."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Final

import typer
from msgspec import to_builtins

from arena.cli.console import INTERRUPTED, WRONG, echo, print_json, print_table, say
from arena.cli.login import visiting
from arena.client.events import Patience
from arena.client.games import ListedGame, game_id, games_of, newest_games, own_bots, part
from arena.client.site import SiteClient
from arena.client.sites import ClientError, SiteTrouble
from arena.platform.speech import visible
from arena.protocol.documents import (
    ChallengeState,
    ChallengeSummary,
    LoggedSeat,
    Logs,
    PlayedGame,
    SeatDecision,
)
from arena.protocol.match import OUT_OF_MEMORY

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
        asked = site.read(told, ChallengeSummary)
        if not no_follow:
            told = _followed(site, asked)
        known = site.read(told, ChallengeSummary)
        if as_json:
            print_json(told)
        elif no_follow:
            echo(known.id)
        else:
            _print(known, _page(site, known))
        if no_follow:
            say(f"{_page(site, known)} shows how far it is")
    if known.state is ChallengeState.FAILED:
        say("the arena could not play all of it, for a fault of its own: ask again")
        raise typer.Exit(WRONG)


def _followed(site: SiteClient, asked: ChallengeSummary) -> Any:  # noqa: ANN401 - JSON
    """Report the games once they are available, and return the challenge when it is over."""
    shown = f"{_page(site, asked)} shows how far it is"
    look = f"the challenge goes on by itself: {shown}"
    told: Any = None
    try:
        say(shown)
        for told in _answers(site, asked.id):
            for number, game in enumerate(site.read(told, ChallengeSummary).games, 1):
                say(f"game {number}: {visible(_result(game))}")
    except KeyboardInterrupt:
        say(f"stopped following; {look}")
        raise typer.Exit(INTERRUPTED) from None
    except SiteTrouble as trouble:
        raise SiteTrouble(f"{trouble}. {look}") from trouble
    return told


def _answers(site: SiteClient, id_: str) -> Iterator[Any]:
    """Poll a challenge until it is over."""
    patience = Patience(pause=_LOOK_SECONDS)
    while True:
        try:
            told = site.get(f"/challenges/{part(id_)}")
        except SiteTrouble as trouble:
            patience.lose(trouble)
            continue
        patience.regain()
        yield told
        if site.read(told, ChallengeSummary).state.over:
            return
        patience.rest()


def _result(game: PlayedGame) -> str:
    seats = sorted(game.seats, key=lambda seat: seat.place)
    return ", ".join(f"{seat.place}. {seat.bot}@{seat.version} {seat.points}" for seat in seats)


def _page(site: SiteClient, known: ChallengeSummary) -> str:
    return visible(f"{site.address}/challenges/{known.id}")


def _print(known: ChallengeSummary, page: str) -> None:
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


def logs(
    game: Annotated[
        str | None, typer.Argument(help="Its id, its number, or the address of its page.")
    ] = None,
    *,
    last: Annotated[bool, typer.Option("--last", help="The newest rated game of your bots.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what your bots wrote to stderr in a game, their notes and their faults.

    Example: arena logs --last
    """
    if (game is not None) == last:
        raise typer.BadParameter("name a game, by id, number or address, or give --last")
    with visiting() as site:
        told = site.get(f"/games/{part(_last(site) if game is None else game_id(site, game))}/logs")
        if as_json:
            print_json(told)
            return
        for seat in site.read(told, Logs).seats:
            for line in _lines(seat):
                echo(line)


def _last(site: SiteClient) -> str:
    """Return the id of the newest rated game of the caller's bots."""
    for game in games_of(site, own_bots(site)):
        return game.game
    raise ClientError("your bots have played no rated game yet")


_GAME_COLUMNS: Final = ("number", "ended", "players", "winner", "game")
_OWN_COLUMNS: Final = ("number", "ended", "players", "yours", "place", "points", "winner", "game")


def games(
    *,
    mine: Annotated[bool, typer.Option("--mine", help="Only those of your bots.")] = False,
    lost: Annotated[
        bool, typer.Option("--lost", help="With --mine: only those that none of your bots won.")
    ] = False,
    count: Annotated[int, typer.Option("--games", "-n", min=1, help="How many, at most.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List rated games, newest first.

    Example: arena games --mine --lost
    """
    if lost and not mine:
        raise typer.BadParameter("--lost is for your bots' games: arena games --mine --lost")
    with visiting() as site:
        bots = own_bots(site) if mine else frozenset()
        known = games_of(site, bots) if mine else newest_games(site)
        told = list(islice((game for game in known if not lost or game.is_lost_by(bots)), count))
    if as_json:
        print_json([to_builtins(game) for game in told])
        return
    if not told:
        whose = "your bots have" if mine else "this arena has"
        say(f"{whose} {'lost' if lost else 'played'} no rated game yet")
        return
    numbers = ("number", "players", "place", "points")
    columns = _OWN_COLUMNS if mine else _GAME_COLUMNS
    print_table(columns, [_game_row(game, bots) for game in told], numbers=numbers)


def _game_row(game: ListedGame, bots: frozenset[str]) -> tuple[str, ...]:
    own = sorted((seat for seat in game.seats if seat.bot in bots), key=lambda seat: seat.place)
    winner = min(game.seats, key=lambda seat: seat.place)
    return (
        str(game.number),
        f"{game.ended.astimezone():%Y-%m-%d %H:%M}",
        str(game.players),
        *(
            text
            for best in own[:1]
            for text in (f"{best.bot}@{best.version}", str(best.place), str(best.points))
        ),
        f"{winner.bot}@{winner.version} {winner.points}",
        game.game,
    )


def _lines(seat: LoggedSeat) -> Iterator[str]:
    name = seat.bot if seat.version is None else f"{seat.bot}@{seat.version}"
    yield f"seat {seat.seat}: {name}{_end(seat)}"
    if seat.decisions:
        yield "  decisions"
        yield from (f"    {_decision(each)}" for each in seat.decisions)
    if seat.stderr.strip():
        yield "  stderr of the whole match"
        yield from (f"    {line}" for line in seat.stderr.rstrip().split("\n"))


def _end(seat: LoggedSeat) -> str:
    words = [] if seat.exit_code is None else [f"exit code {seat.exit_code}"]
    if seat.out_of_memory:
        words.append(OUT_OF_MEMORY)
    if seat.trouble:
        words.append(seat.trouble)
    return f" ({', '.join(words)})" if words else ""


def _decision(decision: SeatDecision) -> str:
    words = [word for word in (decision.fault, decision.trouble) if word]
    if decision.millis is not None:
        words.append(f"{decision.millis:.0f} ms")
    if decision.waited_millis:
        words.append(f"the host kept it waiting for {decision.waited_millis:.0f} ms more")
    told = f"round {decision.round}, turn {decision.turn}: {', '.join(words)}"
    return f"{told}  {decision.note}" if decision.note else told
