"""What to try when a bot was rejected. The same words stand in docs/submitting.md."""

from typing import Final

from arena.submitting.stages import CauseKind

HINTS: Final = {
    CauseKind.FILE: "Mend what the text names and submit again; `arena check` says the same at home.",
    CauseKind.NAME: "Choose another name for your bot.",
    CauseKind.BARRED: "Ask whoever runs the arena.",
    CauseKind.SAME: (
        "Only what differs makes a new version. Which one plays is chosen on the bot's page, or with "
        "`arena rollback` and `arena return`."
    ),
    CauseKind.START: (
        "Run `docker run --rm IMAGE` on your machine: the program that ENTRYPOINT names must be in the "
        "image, and everybody must be able to read and run it (chmod -R a+rX)."
    ),
    CauseKind.MEMORY: (
        "A bot has 256 MiB, files in /tmp included. Load less, or later; `arena check` plays under the "
        "same limit at home."
    ),
    CauseKind.NETWORK: (
        "Put everything that the bot needs into its image when you build it; `arena check` "
        "plays without a network at home, too."
    ),
    CauseKind.CRASH: (
        "The end of stderr shows what it last said. `arena check` plays three games at home, in the same "
        "sandbox; `arena simulate` plays hundreds."
    ),
    CauseKind.SILENT: (
        "A bot has 10 seconds to connect to the socket that ARENA_REFEREE names and to say Hello. Start "
        "faster, or connect before you load."
    ),
    CauseKind.EXPELLED: (
        "Use the arena's library for your language, or see docs/protocol.md for what is allowed."
    ),
    CauseKind.SLOW: (
        "A decision has 1 second, and a bank of 10 seconds a game pays for longer ones, on 0.4 of a core; "
        "`arena check` plays under the same clock at home, and says how long each decision took."
    ),
    CauseKind.ILLEGAL: "Play only cards of the hand, one, or two with chopsticks on the table.",
    CauseKind.PROTOCOL: "Answer every request once, with its game, round and turn; see docs/protocol.md.",
    CauseKind.LOST: "Submit it again.",
    CauseKind.WITHDRAWN: "Nothing is to be done.",
}
