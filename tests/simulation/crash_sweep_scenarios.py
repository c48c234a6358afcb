"""The golden scenarios of the crash sweep."""

from pathlib import Path
from typing import Final

RECORDED: Final = Path(__file__).parent.parent / "golden" / "simulation"
USUAL: Final = (
    "a_domain_deleted_by_hand",
    "gang_scheduling",
    "it_moves_to_another_topology",
    "scaled_gangs",
    "shared_domains_wait_for_the_quota",
)
