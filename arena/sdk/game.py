"""What a bot's side remembers of one game."""

from arena.rules import Hand, Result, Rules, Turn, View
from arena.sdk.answer import as_move, note_of
from arena.sdk.bot import Bot, GameOver, new_chooser
from arena.wire import convert
from arena.wire.v1 import referee_pb2 as pb


class BotFailed(Exception):
    """The bot's own code raised; the cause is what it raised.

    Attributes:
        what: The call that failed, in words.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Game:
    """One game: the bot's side of it, and the history that completes a view."""

    def __init__(self, bot: Bot, start: pb.GameStart) -> None:
        """Begin a game.

        Raises:
            BotFailed: The bot's class could not be made.
            InvalidRules: The referee named a game that there is not.
        """
        self._number = start.game
        self._seat = start.seat
        self._rules: Rules = convert.rules_from_wire(start.rules)
        self._turns: tuple[Turn, ...] = ()
        self._round = 0
        self._past_hands: tuple[Hand, ...] = ()
        try:
            self._chooser = new_chooser(bot)
        except Exception as error:
            raise BotFailed("a game began") from error

    def revealed(self, message: pb.TurnResult) -> None:
        """Remember a turn."""
        self._turns += (convert.turn_from_wire(message),)

    def answer(self, request: pb.TurnRequest, max_note_bytes: int) -> pb.Move:
        """Ask the bot.

        Args:
            request: What the referee asks.
            max_note_bytes: A longer note is cut there.

        Raises:
            BotFailed: ``choose`` raised, or returned what is no answer.
            ValueError: The referee named a card that there is not.
        """
        position = request.position
        if position.round != self._round:
            self._round, self._past_hands = position.round, ()
        view = convert.view_from_wire(
            request, rules=self._rules, seat=self._seat, turns=self._turns, past_hands=self._past_hands
        )
        self._past_hands += (view.hand,)
        try:
            answer = self._chooser.choose(view)
            move, note = as_move(answer, view), note_of(answer)
        except Exception as error:
            raise BotFailed(_shown(self._number, view)) from error
        if note:
            # Cut at whole characters, and never a surrogate that UTF-8 can't hold.
            note = note.encode(errors="replace")[:max_note_bytes].decode(errors="ignore")
        return convert.move_to_wire(self._number, view, move, note)

    def over(self, message: pb.GameEnd) -> None:
        """Tell the bot.

        Raises:
            BotFailed: Its ``game_over`` raised.
        """
        result: Result = convert.result_from_wire(message)
        if self._chooser.game_over is None:
            return
        try:
            self._chooser.game_over(GameOver(self._rules, self._seat, self._turns, result))
        except Exception as error:
            raise BotFailed(f"game {self._number} ended") from error


def _shown(number: int, view: View) -> str:
    tables = "; ".join(
        f"{'own' if player == view.seat else player}: {' '.join(card.label for card in table) or 'nothing'}"
        for player, table in enumerate(view.tables)
    )
    return (
        f"it was asked in game {number}, round {view.round}, turn {view.turn}, in seat {view.seat}\n"
        f"  hand    {' '.join(card.label for card in view.hand)}\n"
        f"  tables  {tables}"
    )
