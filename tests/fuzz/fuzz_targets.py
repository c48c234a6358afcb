"""Every border of the program, by name."""

from collections.abc import Mapping
from typing import Final

from tests.fuzz.cluster_files import json_files, yaml_files
from tests.fuzz.fuzz_target import TargetFactory
from tests.fuzz.kubeconfigs import kubeconfigs
from tests.fuzz.operator_files import configuration_files, decision_logs, saved_plans
from tests.fuzz.policy_files import policy_files
from tests.fuzz.records import records
from tests.fuzz.reviews import admission_reviews
from tests.fuzz.scenario_files import scenario_files

TARGETS: Final[Mapping[str, TargetFactory]] = {
    "yaml": yaml_files,
    "json": json_files,
    "configuration": configuration_files,
    "plan": saved_plans,
    "review": admission_reviews,
    "scenario": scenario_files,
    "policy": policy_files,
    "kubeconfig": kubeconfigs,
    "log": decision_logs,
    "record": records,
}
