"""What can go wrong with an upload, told apart by whose fault it is.

IntakeError
├── Rejected          the upload's fault: its owner is told why and what to do
└── IntakeTrouble     the arena's fault: no room, no engine, a broken store
"""


class IntakeError(Exception):
    """An upload was not taken in. The text says what happened and what to do."""


class Rejected(IntakeError):
    """The upload can't be taken. The text is for its owner."""


class IntakeTrouble(IntakeError):
    """The arena can't take uploads now. The text is for the operator."""
