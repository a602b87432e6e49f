from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Card(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CARD_UNSPECIFIED: _ClassVar[Card]
    CARD_TEMPURA: _ClassVar[Card]
    CARD_SASHIMI: _ClassVar[Card]
    CARD_DUMPLING: _ClassVar[Card]
    CARD_MAKI_1: _ClassVar[Card]
    CARD_MAKI_2: _ClassVar[Card]
    CARD_MAKI_3: _ClassVar[Card]
    CARD_SALMON_NIGIRI: _ClassVar[Card]
    CARD_SQUID_NIGIRI: _ClassVar[Card]
    CARD_EGG_NIGIRI: _ClassVar[Card]
    CARD_PUDDING: _ClassVar[Card]
    CARD_WASABI: _ClassVar[Card]
    CARD_CHOPSTICKS: _ClassVar[Card]
    CARD_SOY_SAUCE: _ClassVar[Card]

class FaultKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAULT_KIND_UNSPECIFIED: _ClassVar[FaultKind]
    FAULT_KIND_TIMEOUT: _ClassVar[FaultKind]
    FAULT_KIND_ILLEGAL: _ClassVar[FaultKind]
    FAULT_KIND_PROTOCOL: _ClassVar[FaultKind]
CARD_UNSPECIFIED: Card
CARD_TEMPURA: Card
CARD_SASHIMI: Card
CARD_DUMPLING: Card
CARD_MAKI_1: Card
CARD_MAKI_2: Card
CARD_MAKI_3: Card
CARD_SALMON_NIGIRI: Card
CARD_SQUID_NIGIRI: Card
CARD_EGG_NIGIRI: Card
CARD_PUDDING: Card
CARD_WASABI: Card
CARD_CHOPSTICKS: Card
CARD_SOY_SAUCE: Card
FAULT_KIND_UNSPECIFIED: FaultKind
FAULT_KIND_TIMEOUT: FaultKind
FAULT_KIND_ILLEGAL: FaultKind
FAULT_KIND_PROTOCOL: FaultKind

class BotMessage(_message.Message):
    __slots__ = ("hello", "moves")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    moves: _containers.RepeatedCompositeFieldContainer[Move]
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., moves: _Optional[_Iterable[_Union[Move, _Mapping]]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("protocol", "sdk", "games_at_once")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    GAMES_AT_ONCE_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    sdk: str
    games_at_once: int
    def __init__(self, protocol: _Optional[int] = ..., sdk: _Optional[str] = ..., games_at_once: _Optional[int] = ...) -> None: ...

class Move(_message.Message):
    __slots__ = ("game", "round", "turn", "cards", "dummy_card", "note")
    GAME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    DUMMY_CARD_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    game: int
    round: int
    turn: int
    cards: _containers.RepeatedScalarFieldContainer[Card]
    dummy_card: Card
    note: str
    def __init__(self, game: _Optional[int] = ..., round: _Optional[int] = ..., turn: _Optional[int] = ..., cards: _Optional[_Iterable[_Union[Card, str]]] = ..., dummy_card: _Optional[_Union[Card, str]] = ..., note: _Optional[str] = ...) -> None: ...

class RefereeMessage(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    def __init__(self, events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("welcome", "game_start", "turn_request", "turn_result", "round_result", "game_end", "notice")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    GAME_START_FIELD_NUMBER: _ClassVar[int]
    TURN_REQUEST_FIELD_NUMBER: _ClassVar[int]
    TURN_RESULT_FIELD_NUMBER: _ClassVar[int]
    ROUND_RESULT_FIELD_NUMBER: _ClassVar[int]
    GAME_END_FIELD_NUMBER: _ClassVar[int]
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    game_start: GameStart
    turn_request: TurnRequest
    turn_result: TurnResult
    round_result: RoundResult
    game_end: GameEnd
    notice: Notice
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., game_start: _Optional[_Union[GameStart, _Mapping]] = ..., turn_request: _Optional[_Union[TurnRequest, _Mapping]] = ..., turn_result: _Optional[_Union[TurnResult, _Mapping]] = ..., round_result: _Optional[_Union[RoundResult, _Mapping]] = ..., game_end: _Optional[_Union[GameEnd, _Mapping]] = ..., notice: _Optional[_Union[Notice, _Mapping]] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("protocol", "games", "games_at_once", "max_message_bytes", "max_note_bytes")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    GAMES_AT_ONCE_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_NOTE_BYTES_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    games: int
    games_at_once: int
    max_message_bytes: int
    max_note_bytes: int
    def __init__(self, protocol: _Optional[int] = ..., games: _Optional[int] = ..., games_at_once: _Optional[int] = ..., max_message_bytes: _Optional[int] = ..., max_note_bytes: _Optional[int] = ...) -> None: ...

class Rules(_message.Message):
    __slots__ = ("players", "pass_both_ways", "soy_sauce", "dummy")
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    PASS_BOTH_WAYS_FIELD_NUMBER: _ClassVar[int]
    SOY_SAUCE_FIELD_NUMBER: _ClassVar[int]
    DUMMY_FIELD_NUMBER: _ClassVar[int]
    players: int
    pass_both_ways: bool
    soy_sauce: bool
    dummy: bool
    def __init__(self, players: _Optional[int] = ..., pass_both_ways: _Optional[bool] = ..., soy_sauce: _Optional[bool] = ..., dummy: _Optional[bool] = ...) -> None: ...

class Clock(_message.Message):
    __slots__ = ("move_millis", "bank_millis")
    MOVE_MILLIS_FIELD_NUMBER: _ClassVar[int]
    BANK_MILLIS_FIELD_NUMBER: _ClassVar[int]
    move_millis: int
    bank_millis: int
    def __init__(self, move_millis: _Optional[int] = ..., bank_millis: _Optional[int] = ...) -> None: ...

class GameStart(_message.Message):
    __slots__ = ("game", "seat", "rules", "clock")
    GAME_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    game: int
    seat: int
    rules: Rules
    clock: Clock
    def __init__(self, game: _Optional[int] = ..., seat: _Optional[int] = ..., rules: _Optional[_Union[Rules, _Mapping]] = ..., clock: _Optional[_Union[Clock, _Mapping]] = ...) -> None: ...

class Table(_message.Message):
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[Card]
    def __init__(self, cards: _Optional[_Iterable[_Union[Card, str]]] = ...) -> None: ...

class Position(_message.Message):
    __slots__ = ("round", "turn", "tables", "puddings", "scores", "hand_sizes")
    ROUND_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    PUDDINGS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZES_FIELD_NUMBER: _ClassVar[int]
    round: int
    turn: int
    tables: _containers.RepeatedCompositeFieldContainer[Table]
    puddings: _containers.RepeatedScalarFieldContainer[int]
    scores: _containers.RepeatedScalarFieldContainer[int]
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, round: _Optional[int] = ..., turn: _Optional[int] = ..., tables: _Optional[_Iterable[_Union[Table, _Mapping]]] = ..., puddings: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., hand_sizes: _Optional[_Iterable[int]] = ...) -> None: ...

class TurnRequest(_message.Message):
    __slots__ = ("game", "position", "hand", "control", "drawn", "bank_millis")
    GAME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    CONTROL_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    BANK_MILLIS_FIELD_NUMBER: _ClassVar[int]
    game: int
    position: Position
    hand: _containers.RepeatedScalarFieldContainer[Card]
    control: bool
    drawn: Card
    bank_millis: int
    def __init__(self, game: _Optional[int] = ..., position: _Optional[_Union[Position, _Mapping]] = ..., hand: _Optional[_Iterable[_Union[Card, str]]] = ..., control: _Optional[bool] = ..., drawn: _Optional[_Union[Card, str]] = ..., bank_millis: _Optional[int] = ...) -> None: ...

class Play(_message.Message):
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[Card]
    def __init__(self, cards: _Optional[_Iterable[_Union[Card, str]]] = ...) -> None: ...

class TurnResult(_message.Message):
    __slots__ = ("game", "round", "turn", "plays")
    GAME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    PLAYS_FIELD_NUMBER: _ClassVar[int]
    game: int
    round: int
    turn: int
    plays: _containers.RepeatedCompositeFieldContainer[Play]
    def __init__(self, game: _Optional[int] = ..., round: _Optional[int] = ..., turn: _Optional[int] = ..., plays: _Optional[_Iterable[_Union[Play, _Mapping]]] = ...) -> None: ...

class Score(_message.Message):
    __slots__ = ("tempura", "sashimi", "dumpling", "maki", "nigiri", "soy_sauce")
    TEMPURA_FIELD_NUMBER: _ClassVar[int]
    SASHIMI_FIELD_NUMBER: _ClassVar[int]
    DUMPLING_FIELD_NUMBER: _ClassVar[int]
    MAKI_FIELD_NUMBER: _ClassVar[int]
    NIGIRI_FIELD_NUMBER: _ClassVar[int]
    SOY_SAUCE_FIELD_NUMBER: _ClassVar[int]
    tempura: int
    sashimi: int
    dumpling: int
    maki: int
    nigiri: int
    soy_sauce: int
    def __init__(self, tempura: _Optional[int] = ..., sashimi: _Optional[int] = ..., dumpling: _Optional[int] = ..., maki: _Optional[int] = ..., nigiri: _Optional[int] = ..., soy_sauce: _Optional[int] = ...) -> None: ...

class RoundResult(_message.Message):
    __slots__ = ("game", "round", "scores")
    GAME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    game: int
    round: int
    scores: _containers.RepeatedCompositeFieldContainer[Score]
    def __init__(self, game: _Optional[int] = ..., round: _Optional[int] = ..., scores: _Optional[_Iterable[_Union[Score, _Mapping]]] = ...) -> None: ...

class GameEnd(_message.Message):
    __slots__ = ("game", "puddings", "pudding_scores", "totals", "places")
    GAME_FIELD_NUMBER: _ClassVar[int]
    PUDDINGS_FIELD_NUMBER: _ClassVar[int]
    PUDDING_SCORES_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    game: int
    puddings: _containers.RepeatedScalarFieldContainer[int]
    pudding_scores: _containers.RepeatedScalarFieldContainer[int]
    totals: _containers.RepeatedScalarFieldContainer[int]
    places: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, game: _Optional[int] = ..., puddings: _Optional[_Iterable[int]] = ..., pudding_scores: _Optional[_Iterable[int]] = ..., totals: _Optional[_Iterable[int]] = ..., places: _Optional[_Iterable[int]] = ...) -> None: ...

class Notice(_message.Message):
    __slots__ = ("game", "round", "turn", "fault", "text", "taken_over")
    GAME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TAKEN_OVER_FIELD_NUMBER: _ClassVar[int]
    game: int
    round: int
    turn: int
    fault: FaultKind
    text: str
    taken_over: bool
    def __init__(self, game: _Optional[int] = ..., round: _Optional[int] = ..., turn: _Optional[int] = ..., fault: _Optional[_Union[FaultKind, str]] = ..., text: _Optional[str] = ..., taken_over: _Optional[bool] = ...) -> None: ...
