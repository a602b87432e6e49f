"""What can go wrong with a sandbox, told apart by whose fault it is.

SandboxError
├── LaunchRefused     the bot's fault: its owner is told why
└── RuntimeTrouble    the arena's fault: never held against a bot
    └── EngineGone    the engine does not answer: no bot can be run
"""


class SandboxError(Exception):
    """A bot could not be run. The text says what happened and what to do."""


class LaunchRefused(SandboxError):
    """The bot can't be started: nothing there to start, or a wrong entry point. The text is for its owner."""


class RuntimeTrouble(SandboxError):
    """The arena can't run bots: no engine, no image, no answer. The text is for the operator."""


class EngineGone(RuntimeTrouble):
    """The engine does not answer, whatever it is asked."""
