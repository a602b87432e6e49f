"""Hostile archives, each with its expected outcome."""

from tests.images.hostile.archives import ARCHIVES
from tests.images.hostile.attack import CANARY, Attack
from tests.images.hostile.configs import CONFIGS
from tests.images.hostile.layers import LAYERS
from tests.images.hostile.sizes import SIZES

ATTACKS = (*LAYERS, *SIZES, *ARCHIVES, *CONFIGS)

__all__ = ["ATTACKS", "CANARY", "Attack"]
