"""GPU requests, and a configuration with MNNVL on."""

from typing import Any, Final

from grove_core.resources.configuration import (
    Configuration,
    MnnvlConfiguration,
)

Json = dict[str, Any]
ON: Final = Configuration(MnnvlConfiguration(enabled=True))
GPUS: Final[Json] = {"limits": {"nvidia.com/gpu": 8}}
