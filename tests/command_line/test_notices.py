"""Notices of a plan: none of them is left out of the page or of the JSON."""

import copy
import io
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import NOTICES
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.kernel.decisions import Finding
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import parse_time
from grove_core.plan.forecast import Forecast
from grove_core.rule_sets.rule_set import DESIGN
from grove_shell.cli.main import run_command_line
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.views.plan.plan_notes import PlanPageContext
from grove_shell.views.plan.plan_page import plan_page
from tests.golden.tracing import ROOT

INPUT: Final = ROOT / "examples" / "degraded.yaml"
CALM: Final = "gemma"
NOW: Final = "2026-11-20T12:30:00Z"


def forecast_of_calm_set() -> Forecast:
    """The forecast of the set of the input that lacks nothing."""
    now = parse_time(NOW)
    assert now is not None
    cluster = load_input_files([INPUT], io.BytesIO()).cluster
    (root,) = (one for one in cluster.sets if one.ref.name == CALM)
    (forecast,) = forecasts_of_snapshots([cluster.snapshot_of(root, now)], DESIGN, limit=None, until=None)
    assert explanation_of_forecast(forecast).needs_no_attention
    return forecast


@pytest.mark.req("CL-137")
class TestNotices:
    """What a plan found about parts of a set, besides terminations and steps, MUST be on its page and in its JSON. A
    set with such a notice does not count as one without a pending termination.
    """

    @pytest.mark.parametrize("question", NOTICES)
    def test_page_and_document_have_it(self, question: str) -> None:
        calm = forecast_of_calm_set()
        why = WorkloadReason.FOREIGN_GATE.because(calm.root, gate="example.com/hold", names="pod-of-the-notice")
        forecast = replace(calm, findings=(*calm.findings, Finding(calm.root, question, "Found", (why,))))
        document = PlanDocument(rules="design", as_of=calm.rounds[0].at, not_collected=(), forecasts=(forecast,))
        context = PlanPageContext(
            loaded=load_input_files([INPUT], io.BytesIO()),
            nothing_judged="",
            sets_with_unknown_nodes=(),
            operator_note="",
            newest_time=None,
            is_now_given=True,
            has_old_manifests=False,
            verbose=False,
            decisions=False,
        )
        page = plan_page(document, context).plain_text
        assert "pod-of-the-notice" in page
        assert "no termination pending" not in page
        (shown,) = plan_document_as_json(document, decisions=False)["plans"]
        assert [reason["facts"]["names"] for reason in shown[NOTICES[question]]] == ["pod-of-the-notice"]

    def test_a_gated_pod_more_than_its_podclique_wants(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        items: list[Any] = yaml.safe_load(INPUT.read_text("utf-8"))["items"]
        pods = (one for one in items if one["kind"] == "Pod")
        pod = copy.deepcopy(next(one for one in pods if one["metadata"]["name"].startswith(CALM)))
        pod["metadata"] |= {"name": "one-more", "uid": "one-more"}
        pod["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
        pod["spec"].pop("nodeName", None)
        pod["status"] = {"phase": "Pending"}
        (tmp_path / "c.yaml").write_text(yaml.safe_dump({"kind": "List", "apiVersion": "v1", "items": [*items, pod]}))
        run_command_line(["plan", "-f", str(tmp_path / "c.yaml"), "--now", NOW], "grove")
        page = capsys.readouterr().out
        assert "GATED      PodClique gemma" in page
        assert "kueue.x-k8s.io/admission" in page
