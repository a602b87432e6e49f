"""Archives that mean harm, each with what must become of it."""

from tests.intake.hostile.archives import ARCHIVES
from tests.intake.hostile.attack import CANARY, Attack
from tests.intake.hostile.configs import CONFIGS
from tests.intake.hostile.layers import LAYERS
from tests.intake.hostile.sizes import SIZES

ATTACKS = (*LAYERS, *SIZES, *ARCHIVES, *CONFIGS)

__all__ = ["ATTACKS", "CANARY", "Attack"]
