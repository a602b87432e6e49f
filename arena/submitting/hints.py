"""What to try when a bot was rejected. The same words stand in docs/submitting.md."""

from typing import Final

from arena.submitting.stages import CauseKind

HINTS: Final = {
    CauseKind.FILE: "Mend what the text names and submit again; docs/intake.md says what is taken.",
    CauseKind.NAME: "Choose another name for your bot.",
    CauseKind.BARRED: "Ask whoever runs the arena.",
    CauseKind.START: (
        "Run `docker run --rm IMAGE` on your machine: the program that ENTRYPOINT names must be in the "
        "image, and everybody must be able to read and run it (chmod -R a+rX)."
    ),
    CauseKind.MEMORY: (
        "A bot has 256 MiB, files in /tmp included. Load less, or later; `docker run --memory 256m` shows it "
        "at home."
    ),
    CauseKind.NETWORK: (
        "Put everything that the bot needs into its image when you build it; `docker run --network none` "
        "shows it at home."
    ),
    CauseKind.CRASH: "The end of stderr shows what it last said. Play the same position at home.",
    CauseKind.SILENT: (
        "A bot has 10 seconds to connect to the socket that ARENA_REFEREE names and to say Hello. Start "
        "faster, or connect before you load."
    ),
    CauseKind.EXPELLED: (
        "Use the arena's library for your language, or see docs/protocol.md for what is allowed."
    ),
    CauseKind.SLOW: (
        "A decision has 1 second, and a bank of 10 seconds a game pays for longer ones, on 0.4 of a core; "
        "`docker run --cpus 0.4` shows it at home."
    ),
    CauseKind.ILLEGAL: "Play only cards of the hand, one, or two with chopsticks on the table.",
    CauseKind.PROTOCOL: "Answer every request once, with its game, round and turn; see docs/protocol.md.",
    CauseKind.LOST: "Submit it again.",
    CauseKind.WITHDRAWN: "Nothing is to be done.",
}
