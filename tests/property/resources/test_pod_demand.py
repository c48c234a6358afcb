"""What a pod asks of nodes, and what of it is not checked (TP-106)."""

import pytest

from grove_core.resources.pod_demand import pod_demand_of


@pytest.mark.parametrize(("operator", "unchecked"), [("", False), ("Equal", False), ("Exists", False), ("Gt", True)])
def test_tp106_tolerations_by_comparison_are_not_looked_at(operator: str, *, unchecked: bool) -> None:
    found = pod_demand_of({"tolerations": [{"key": "a", "operator": operator}]}).unchecked
    assert found == (("tolerations by comparison",) if unchecked else ())
