"""Unit tests of ``promtool`` for each alert: time series, and which alerts fire at which time.

In them time begins at 0, and a sample is a minute. ``a+bxn`` is a value and n more, each greater by b.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from grove_shell.monitoring.alert_settings import RUNBOOKS

Json = dict[str, Any]
PROCESS: Final = 'job="grove", instance="10.0.0.7:8080"'
OTHER: Final = 'job="other", instance="10.0.0.9:8080"'
LEADS: Final = (f'leader_election_master_status{{name="grove-operator", {PROCESS}}}', "1+0x200")
SET: Final = {"namespace": "ml", "set": "llama"}


def of_set(name: str) -> str:
    """The labels of a time series of a set."""
    return f'{{namespace="ml", set="{name}", {PROCESS}}}'


OF_SET: Final = of_set("llama")


@dataclass(frozen=True, slots=True)
class Firing:
    """An alert that is expected, with its labels besides the severity, and its texts."""

    labels: dict[str, str]
    summary: str
    description: str


@dataclass(frozen=True, slots=True)
class AlertStory:
    """Time series, and what fires of one alert at each time."""

    alert: str
    series: tuple[tuple[str, str], ...]
    fires: dict[str, tuple[Firing, ...]]

    def as_unit_test(self) -> Json:
        """The test as ``promtool`` reads it."""
        return {
            "interval": "1m",
            "input_series": [{"series": series, "values": values} for series, values in self.series],
            "alert_rule_test": [
                {"eval_time": at, "alertname": self.alert, "exp_alerts": [self._expected(one) for one in firing]}
                for at, firing in self.fires.items()
            ],
        }

    def _expected(self, one: Firing) -> Json:
        return {
            "exp_labels": {"severity": "warning", **one.labels},
            "exp_annotations": {
                "summary": one.summary,
                "description": one.description,
                "runbook_url": f"{RUNBOOKS}/{self.alert}.md",
            },
        }


def pending(left: str, name: str = "llama") -> Firing:
    where = f"PodCliqueSet ml/{name}"
    return Firing(
        {"namespace": "ml", "set": name},
        f"A gang of {where} is about to be terminated",
        f"A gang of {where} is below its minimum, and is due in {left} (overdue if negative). See which one:"
        " grove plan --live -n ml",
    )


def terminated(ago: str) -> Firing:
    return Firing(
        SET,
        "A gang of PodCliqueSet ml/llama was terminated",
        f"A gang of PodCliqueSet ml/llama was terminated {ago} ago, because it was below its minimum for as long as"
        " its delay. See why: kubectl get events -n ml --field-selector reason=GangTerminated",
    )


def refused(number: int) -> Firing:
    return Firing(
        SET,
        "The API server refuses writes for PodCliqueSet ml/llama",
        f"The API server keeps refusing {number} writes for PodCliqueSet ml/llama, so it is not as planned. See the"
        " message: kubectl get events -n ml --field-selector reason=RefusedBefore",
    )


def wrong(outcome: str, number: str) -> Firing:
    return Firing(
        {"outcome": outcome},
        f"A prediction of the observer was wrong ({outcome})",
        f"The outcome of {number} PodCliques was {outcome}: the operator that runs in the cluster and the plan of the"
        " observer disagree. The log of the observer has a warning for each.",
    )


def deep(number: int) -> Firing:
    return Firing(
        {"job": "grove", "name": "podcliqueset"},
        "The work queue of the operator is long",
        f"{number} PodCliqueSets and topologies wait for a round of the operator, so it acts late.",
    )


def slow(verb: str, time: str) -> Firing:
    return Firing(
        {"job": "grove", "verb": verb},
        f"The API server answers the operator slowly ({verb})",
        f"One in a hundred {verb} requests of the operator takes {time} or more, so it acts late.",
    )


def requests(verb: str, process: str, quick: str, all_of_them: str) -> Iterator[tuple[str, str]]:
    """The buckets of requests: those within half a second, and all of them within 2.5 seconds."""
    for bound, values in (("0.5", quick), ("2.5", all_of_them), ("+Inf", all_of_them)):
        yield f'rest_client_request_duration_seconds_bucket{{verb="{verb}", le="{bound}", {process}}}', values


STORIES: Final = (
    AlertStory(
        "GroveGangTerminationPending",
        (
            (f"grove_termination_deadline_timestamp_seconds{OF_SET}", "0 7200+0x90 0+0x20"),
            (
                f'grove_termination_deadline_timestamp_seconds{{namespace="ml", set="late", {PROCESS}}}',
                "600+0x40 stale",
            ),
            (f'grove_termination_deadline_timestamp_seconds{{namespace="ml", set="well", {PROCESS}}}', "0+0x110"),
        ),
        {
            "5m": (pending("5m 0s", "late"),),
            "30m": (pending("-20m 0s", "late"),),
            "60m": (),
            "61m": (pending("59m 0s"),),
            "91m": (pending("29m 0s"),),
            "92m": (),
        },
    ),
    AlertStory(
        "GroveGangTerminated",
        (
            (f"grove_gang_termination_timestamp_seconds{OF_SET}", "0+0x9 600+0x90"),
            (f"grove_gang_termination_timestamp_seconds{of_set('well')}", "0+0x100"),
        ),
        {"9m": (), "10m": (terminated("0s"),), "24m": (terminated("14m 0s"),), "25m": ()},
    ),
    AlertStory(
        "GroveGangTerminated",
        ((f"grove_gang_termination_timestamp_seconds{OF_SET}", "0+0x9 600+0x2 stale"),),
        {"12m": (terminated("2m 0s"),), "13m": ()},
    ),
    AlertStory(
        "GroveWriteRefused",
        (
            (f"grove_refused_writes{OF_SET}", "0 3+0x19 0+0x10"),
            (f"grove_refused_writes{of_set('brief')}", "1+0x13 0 1+0x13 0+0x10"),
        ),
        {"15m": (), "16m": (refused(3),), "20m": (refused(3),), "21m": ()},
    ),
    AlertStory(
        "GrovePredictionFailed",
        (
            (f'grove_predictions_total{{outcome="predicted", {PROCESS}}}', "0+1x200"),
            (f'grove_predictions_total{{outcome="takenBack", {PROCESS}}}', "0+1x200"),
            (f'grove_predictions_total{{outcome="asPredicted", {PROCESS}}}', "0+1x200"),
            (f'grove_predictions_total{{outcome="otherwise", {PROCESS}}}', "0+0x200"),
            (f'grove_predictions_total{{outcome="notPredicted", {PROCESS}}}', "0+0x79 4+0x120"),
        ),
        {"79m": (), "80m": (wrong("notPredicted", "4"),), "139m": (wrong("notPredicted", "4"),), "145m": ()},
    ),
    AlertStory(
        "GroveQueueDeep",
        (
            LEADS,
            (f'workqueue_depth{{name="podcliqueset", {PROCESS}}}', "50+0x5 51+0x14 50+0x10"),
            (f'workqueue_depth{{name="podcliqueset", {OTHER}}}', "900+0x40"),
        ),
        {"5m": (), "15m": (), "16m": (deep(51),), "20m": (deep(51),), "21m": ()},
    ),
    AlertStory(
        "GroveApiServerSlow",
        (
            LEADS,
            *requests("PATCH", PROCESS, "0+60x10 600+0x19 600+60x40", "0+60x29 1800+60x40"),
            *requests("GET", PROCESS, "0+60x70", "0+60x70"),
            *requests("PATCH", OTHER, "0+0x70", "0+60x70"),
        ),
        {"10m": (), "20m": (), "24m": (slow("PATCH", "2.48s"),), "30m": (slow("PATCH", "2.48s"),), "60m": ()},
    ),
)
