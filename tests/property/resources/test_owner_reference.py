"""The controller of an object, by its owner references."""

import pytest

from grove_core.resources.new_object import ControllerReference, controller_owner_in

SET = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "llm", "uid": "u"}


@pytest.mark.parametrize("first", [{"kind": "Node", "uid": "n"}, {"kind": "Node", "controller": "true"}, "no owner"])
def test_gt001_the_first_that_controls_is_the_controller(first: object) -> None:
    raw = {"metadata": {"ownerReferences": [first, {**SET, "controller": True}]}}
    assert controller_owner_in(raw) == ControllerReference("u", "PodCliqueSet", "llm", "grove.io/v1alpha1")
    assert controller_owner_in({"metadata": {"ownerReferences": [first]}}) == ControllerReference()
