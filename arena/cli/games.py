"""``arena challenge``, ``arena games`` and ``arena logs``: games on a site, and their logs."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from arena.cli.console import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    Json,
    at_version,
    echo,
    print_json,
    print_table,
    say,
)
from arena.cli.login import logged_in_site
from arena.client.events import RetryPolicy
from arena.client.games import game_id, games_of, is_lost_by, listed, own_bots, part
from arena.client.sites import ClientError, SiteError
from arena.platform.text import visible
from arena.protocol.challenges import ChallengeState, ChallengeSummary, PlayedGame
from arena.protocol.games import GameLine, GameList, LoggedSeat, Logs, SeatDecision
from arena.protocol.match import OUT_OF_MEMORY

if TYPE_CHECKING:
    from arena.client.site import SiteClient

_POLL_SECONDS: Final = 2.0
_COLUMNS: Final = ("bot", "games", "wins", "place", "points")


def challenge(  # noqa: PLR0913 - one argument per option
    bot: Annotated[str, typer.Argument(help="Name of your bot.")],
    opponents: Annotated[
        list[str], typer.Argument(metavar="OPPONENT", help="Bots, or versions such as greedy@2.")
    ],
    *,
    version: Annotated[
        int | None, typer.Option(min=1, help="Version of your bot. Default: the active one.")
    ] = None,
    deals: Annotated[int, typer.Option(min=1, max=6, help="Deals per match.")] = 1,
    no_follow: Annotated[bool, typer.Option("--no-follow", help="Don't wait for the games.")] = False,
    as_json: Json = False,
) -> None:
    """Play unrated games between your bot and others, and show their results."""
    with logged_in_site() as site:
        request = {"opponents": opponents, "version": version, "deals": deals}
        response = site.post(f"/bots/{part(bot)}/challenges", request)
        created = site.read(response, ChallengeSummary)
        if not no_follow:
            response = _follow(site, created)
        known = site.read(response, ChallengeSummary)
        if as_json:
            print_json(response)
        elif no_follow:
            echo(known.id)
        else:
            _print(known, _page(site, known))
        if no_follow:
            say(f"progress: {_page(site, known)}")
    if known.state is ChallengeState.FAILED:
        say("the challenge failed: see its page for the reason")
        raise typer.Exit(EXIT_FAILURE)


def _follow(site: "SiteClient", created: ChallengeSummary) -> Any:  # noqa: ANN401 - JSON
    """Wait for a challenge to end, report its games, and return it."""
    shown = f"progress: {_page(site, created)}"
    hint = f"The challenge continues; {shown}"
    response: Any = None
    try:
        say(shown)
        for response in _poll(site, created.id):
            for number, game in enumerate(site.read(response, ChallengeSummary).games, 1):
                say(f"game {number}: {visible(_result(game))}")
    except KeyboardInterrupt:
        say(f"stopped following. {hint}")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except SiteError as trouble:
        raise SiteError(f"{str(trouble).removesuffix('.')}. {hint}") from trouble
    return response


def _poll(site: "SiteClient", id_: str) -> Iterator[Any]:
    """Poll a challenge until it is over."""
    retries = RetryPolicy(pause=_POLL_SECONDS)
    while True:
        try:
            response = site.get(f"/challenges/{part(id_)}")
        except SiteError as trouble:
            retries.fail(trouble)
            continue
        retries.reset()
        yield response
        if site.read(response, ChallengeSummary).state.over:
            return
        retries.wait()


def _result(game: PlayedGame) -> str:
    seats = sorted(game.seats, key=lambda seat: seat.place)
    return ", ".join(f"{seat.place}. {seat.bot}@{seat.version} {seat.points}" for seat in seats)


def _page(site: "SiteClient", known: ChallengeSummary) -> str:
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
    game: Annotated[str | None, typer.Argument(help="The game's id, number or URL.")] = None,
    *,
    last: Annotated[bool, typer.Option("--last", help="Use your bots' latest rated game.")] = False,
    as_json: Json = False,
) -> None:
    """Print your bots' stderr, notes and faults in a game.

    Example: arena logs --last
    """
    if (game is not None) == last:
        raise typer.BadParameter("give either a game (id, number or URL) or --last")
    with logged_in_site() as site:
        response = site.get(
            f"/games/{part(_latest_game_id(site) if game is None else game_id(site, game))}/logs"
        )
        if as_json:
            print_json(response)
            return
        for seat in site.read(response, Logs).seats:
            for line in _lines(seat):
                echo(line)


def _latest_game_id(site: "SiteClient") -> str:
    """Return the id of the latest rated game that the caller's bots played."""
    for game in games_of(site, own_bots(site)):
        return game.game
    raise ClientError("your bots have not played a rated game yet")


_GAME_COLUMNS: Final = ("number", "ended", "players", "winner", "game")
_OWN_COLUMNS: Final = ("number", "ended", "players", "yours", "place", "points", "winner", "game")


def games(
    *,
    mine: Annotated[bool, typer.Option("--mine", help="Only games that your bots played.")] = False,
    lost: Annotated[
        bool, typer.Option("--lost", help="With --mine: only games that none of your bots won.")
    ] = False,
    count: Annotated[
        int, typer.Option("--games", "-n", min=1, max=1_000_000, help="Maximum number of games.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """List rated games, newest first.

    Example: arena games --mine --lost
    """
    if lost and not mine:
        raise typer.BadParameter("--lost needs --mine: arena games --mine --lost")
    with logged_in_site() as site:
        bots = own_bots(site) if mine else frozenset()
        known = games_of(site, bots) if mine else listed(site)
        response = list(islice((game for game in known if not lost or is_lost_by(game, bots)), count))
    if as_json:
        print_json(GameList(games=tuple(response), next=None))
        return
    if not response:
        say(f"no rated games {'lost' if lost else 'played'}{' by your bots' if mine else ''} yet")
        return
    numbers = ("number", "players", "place", "points")
    columns = _OWN_COLUMNS if mine else _GAME_COLUMNS
    print_table(columns, [_game_row(game, bots) for game in response], numbers=numbers)


def _game_row(game: GameLine, bots: frozenset[str]) -> tuple[str, ...]:
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
    yield f"seat {seat.seat}: {at_version(seat.bot, seat.version)}{_end(seat)}"
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
        words.append(f"plus {decision.waited_millis:.0f} ms of host delay")
    response = f"round {decision.round}, turn {decision.turn}: {', '.join(words)}"
    return f"{response}  {decision.note}" if decision.note else response
