"""How long each PodClique has been healthy or not, to find terminations that are too early or too late.

Only time counts in which the operator ran and the server had no faults but failures of single writes.
"""

from dataclasses import dataclass
from typing import Final

from grove_core.resources.labels import GROUP, GROUP_REPLICA
from tests.fault_injection.api_store import Json
from tests.fault_injection.fault_rates import FaultRates
from tests.fault_injection.virtual_time import seconds

_LONG_ENOUGH: Final = 45.0  # seconds of health since the weather is fair: the longest round of before is over by then
_ALWAYS_FAIR: Final = 5.0  # the same where it always was
_EARLY: Final = 3.0  # seconds: moments are whole ones, and we look once in one
_LATE: Final = 90.0  # seconds: what was refused is tried again once in a minute


@dataclass(slots=True)
class Health:
    """How it went with a PodClique or a scaling group.

    Attributes:
        well_for, sick_for: seconds without a pause, up to now.
        was_well: when it was last well for long enough.
    """

    well_for: float = 0.0
    sick_for: float = 0.0
    was_well: float = float("-inf")

    def goes_on(self, enough: float, *, well: bool) -> None:
        """Another second."""
        self.well_for, self.sick_for = (self.well_for + 1, 0.0) if well else (0.0, self.sick_for + 1)
        if self.well_for >= enough:
            self.was_well = seconds()

    def breaks_off(self) -> None:
        """The operator did not have to see this second."""
        self.well_for = self.sick_for = 0.0


class HealthHistory:
    """The health of every PodClique, by name; read once in a second.

    Attributes:
        enough: seconds of health that no operator can miss.
    """

    def __init__(self, fault_rates: FaultRates) -> None:
        self.enough = _LONG_ENOUGH
        self._climate = fault_rates
        self._of: dict[str, Health] = {}
        self._uids: dict[str, str] = {}

    def expect_no_faults(self) -> None:
        """From the first to the last day."""
        self.enough = _ALWAYS_FAIR

    def forget(self) -> None:
        """Another operator knows only what is written."""
        self._of.clear()

    def go_on(self, name: str, uid: str, *, well: bool, counts: bool) -> None:
        """A second later.

        Args:
            name: of a PodClique or a scaling group.
            uid: of the present holder of the name.
            well: whether it is well, and the operator received that.
            counts: whether the operator has to see it.
        """
        course = self._course(name)
        if self._uids.get(name) != uid or not counts:
            self._uids[name] = uid
            course.breaks_off()
        else:
            course.goes_on(self.enough, well=well)

    def too_early(self, raw: Json, template: Json) -> str:
        """What is wrong with the end of a PodClique: that all for which it may end were well too lately; or nothing."""
        labels = raw["metadata"]["labels"]
        replica = f"{labels['app.kubernetes.io/part-of']}-{labels['grove.io/podcliqueset-replica-index']}"
        group, index = labels.get(GROUP.primary), labels.get(GROUP_REPLICA.primary)
        members: list[str] = next((one["cliqueNames"] for one in template["podCliqueScalingGroups"]), [])
        names = [f"{replica}-{one['name']}" for one in template["cliques"] if one["name"] not in members]
        names += [f"{replica}-{one['name']}" for one in template["podCliqueScalingGroups"]]
        names += [f"{group}-{index}-{one}" for one in members] if group else []
        span = min(_delays_in(template, grouped=True)) - _EARLY
        lately = min(span - (seconds() - self._course(name).was_well) for name in names)
        name = raw["metadata"]["name"]
        return f"{name} ends, and all were well {lately:.0f} s too lately" if lately > 0 else ""

    def too_late(self, raw: Json, template: Json) -> str:
        """What is wrong with a PodClique that is still there: it has been sick for too long; or nothing."""
        name, is_grouped = raw["metadata"]["name"], GROUP.primary in raw["metadata"]["labels"]
        course = self._course(name)
        if not self._could_end(raw):
            course.sick_for = 0.0
        longest = max(_delays_in(template, grouped=is_grouped))
        most = (2 * longest if is_grouped else longest) + _LATE  # of others it may take the clock of the group
        return f"{name} is sick for {course.sick_for:.0f} s, and still there" if course.sick_for == most else ""

    def _course(self, name: str) -> Health:
        return self._of.setdefault(name, Health())

    def _could_end(self, raw: Json) -> bool:
        """Whether it was available, and no fault hides that from the operator or keeps it from terminating."""
        name, fault_rates = raw["metadata"]["name"], self._climate
        muted = fault_rates.mute and fault_rates.muted_for and name.startswith(fault_rates.mute)
        kept = fault_rates.kept_for or fault_rates.unreported or fault_rates.fixed or fault_rates.slow
        return bool((raw.get("status") or {}).get("wasAvailable")) and not muted and not kept


def _delays_in(template: Json, *, grouped: bool) -> list[float]:
    """The delays of a set; of its groups too."""
    own = [one["terminationDelay"] for one in template["podCliqueScalingGroups"] if "terminationDelay" in one]
    return [float(text.removesuffix("s")) for text in (template["terminationDelay"], *(own if grouped else ()))]
