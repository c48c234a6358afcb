"""Multi-Node NVLink as scenarios write it: the settings of the configuration file, as far as they are played."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from grove_shell.settings.mnnvl import MnnvlSettings


def _played(told: MnnvlSettings) -> MnnvlSettings:
    if told.mode != "operator":
        raise PydanticCustomError("unplayed_mode", "mode: operator; nobody plays the webhooks of the other mode")
    return told


PlayedMnnvl: TypeAlias = Annotated[MnnvlSettings, AfterValidator(_played)]
