"""Scenarios that are swept for crashes, and what was recorded of them."""

from pathlib import Path
from typing import Final

RECORDED: Final = Path(__file__).parent.parent / "golden" / "simulation"
USUAL: Final = (
    "a_domain_deleted_by_hand",
    "gang_scheduling",
    "it_moves_to_another_topology",
    "scaled_gangs",
    "who_shares_waits_for_the_quota",
)
