"""Takes images and source files from strangers, and keeps what came of them."""

from arena.intake.errors import IntakeError, IntakeTrouble, Rejected
from arena.intake.image import BotImage, Command, Layer, Platform

__all__ = ["BotImage", "Command", "IntakeError", "IntakeTrouble", "Layer", "Platform", "Rejected"]
