"""An operator where the Workload API is not served: with ``auto`` and with ``kubernetes`` (SC-005, SC-006)."""

from pathlib import Path

import pytest

from tests.cluster.api import ApiError
from tests.cluster.operators import Operator, grove, install_definitions, let
from tests.cluster.plane import INSTALLED, ControlPlane
from tests.cluster.scenes import Scene, light


@pytest.mark.req("SC-005", "SC-006")
@pytest.mark.usefixtures("control_plane")  # it needs the same programs
def test_sc005_where_the_api_is_not_served(programs: dict[str, Path]) -> None:
    """``auto`` uses PodGangs; ``kubernetes`` ends before the first write."""
    with ControlPlane(programs, gang_scheduling=False) as plane:
        install_definitions(plane.api())
        let(plane.api(), INSTALLED)
        operator = Operator(plane, INSTALLED)
        operator.backend = "kubernetes"
        operator.launch()
        assert operator.await_end() == 1
        assert "serves no CompositePodGroups" in operator.text
        assert not [event for event in plane.audit(INSTALLED) if event["verb"] not in {"get", "list", "watch"}]
        operator.backend = "auto"
        operator.start()
        found = operator.await_line("gang back end")
        assert "the server serves no CompositePodGroups: new gangs have PodGangs" in str(found["because"])
        where = ("--live", "--config", str(operator.config))
        ran = grove("validate", "--preflight", *where, kubeconfig=plane.kubeconfig())
        assert "new gangs have PodGangs" in ran.stdout, ran.stdout + ran.stderr
        scene = Scene(plane.api(), "default")
        scene.api.create(scene.set_of(light("router", 2)))
        scene.await_ready(2)
        assert scene.names("podgangs") == ["llama-0"]
        with pytest.raises((KeyError, ApiError)):
            plane.api().all_of("podgroups")
        operator.kill()
