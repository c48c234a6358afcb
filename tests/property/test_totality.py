"""Admission answers whatever it is shown: objects of no known shape among others are read past, or refused."""

from typing import Any

import pytest

from grove_core.admit import index_names_used_by_sets
from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.kernel.admission import AdmitWithChanges
from grove_core.resources.api_names import MNNVL_ENABLED
from grove_core.resources.configuration import NOT_DISCOVERED, Configuration, MnnvlConfiguration, MnnvlMode
from grove_core.resources.labels import SET, SET_REPLICA
from grove_core.resources.podcliqueset import podcliqueset_from_json
from tests.property.workload.sets import clique_raw, set_raw


@pytest.mark.parametrize("kind", [["Service"], {"Service": 1}, None, 7])
def test_wl117_a_kind_that_is_no_text_names_nothing(kind: Any) -> None:
    assert index_names_used_by_sets([{"kind": kind, "metadata": {"name": "x"}}]) == index_names_used_by_sets([])


@pytest.mark.parametrize("spec", [{}, {"podSpec": None}, None])
def test_ms004_a_clique_without_a_spec_joins_all_the_same(spec: Any) -> None:
    owner = podcliqueset_from_json(set_raw(clique_raw("a"), meta={"uid": "u"}))
    raw = {
        "metadata": {
            "name": "llm-0-a",
            "namespace": "ml",
            "labels": {SET.primary: "llm", SET_REPLICA.primary: "0"},
            "annotations": {MNNVL_ENABLED: "true"},
            "ownerReferences": [{"controller": True, "kind": "PodCliqueSet", "name": "llm", "uid": "u"}],
        },
        "spec": spec,
    }
    configured = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
    around = CliqueAdmissionView(configuration=configured, served=NOT_DISCOVERED, owner=owner, domains={}, claims={})
    verdict = admit_podclique(raw, around).verdict
    assert isinstance(verdict, AdmitWithChanges)
    assert verdict.patch
