"""What the other tests of this folder rely on: each program does its part, and nothing outlives its holder."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.api import Api, ApiError, Json, wait_until
from tests.cluster.binaries import APISERVER, ETCD
from tests.cluster.plane import READER, STORE, ControlPlane, NotRunning
from tests.cluster.toolchain import NotBuilt

ROOT: Final = Path(__file__).parent.parent.parent
ONLY_LINUX: Final = pytest.mark.skipif(sys.platform != "linux", reason="no other system ends children with a parent")
UNSCHEDULABLE: Final = "False:Unschedulable"


def pod(name: str, *, on: str, annotations: dict[str, str] | None = None, **spec: Any) -> Json:
    """A pod that takes a whole node of its test, marked by the label ``on``."""
    container = {"name": "main", "image": "example.com/main", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    full = {f"kubelet.grove.test/{key}": value for key, value in (annotations or {}).items()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": on, "annotations": full},
        "spec": {"nodeSelector": {"test": on}, "containers": [container], **spec},
    }


def condition(found: Json, kind: str) -> str | None:
    """Status of a condition of a pod, followed by its reason if it has one; None if it is not there."""
    for each in found.get("status", {}).get("conditions", []):
        if each["type"] == kind:
            return ":".join(filter(None, [each["status"], each.get("reason")]))
    return None


def is_ready(found: Json) -> bool:
    return condition(found, "Ready") == "True"


def state_of(found: Json) -> Json:
    """State of the only container; empty if there is none yet."""
    statuses = found.get("status", {}).get("containerStatuses", [])
    state: Json = statuses[0]["state"] if statuses else {}
    return state


class Home:
    """A namespace with nodes of its own, in the eyes of the administrator."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    def add_nodes(self, *names: str) -> None:
        self.api.add_nodes([f"{self.namespace}-{name}" for name in names], {"test": self.namespace})

    def create(self, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> Json:
        return self.api.create(pod(name, on=self.namespace, annotations=annotations, **spec))

    def pod(self, name: str) -> Json:
        return self.api.find("pods", name, self.namespace) or {}

    def await_pod(self, name: str, holds: Callable[[Json], Any], what: str) -> Json:
        return wait_until(lambda: self.pod(name), holds, what)

    def await_end(self, name: str) -> None:
        wait_until(lambda: self.pod(name), lambda found: not found, f"{name} is gone")


@pytest.fixture
def home(control_plane: ControlPlane, namespace: str) -> Iterator[Home]:
    home = Home(control_plane.api(), namespace)
    home.add_nodes("one")
    yield home
    home.api.request("DELETE", f"/api/v1/nodes?labelSelector=test%3D{namespace}")


class TestItsParts:
    """Garbage collector, scheduler and kubelet."""

    def test_what_is_owned_goes_with_its_owner(self, home: Home) -> None:
        owner = home.api.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner", "namespace": home.namespace}}
        )
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        owned = pod("owned", on=home.namespace)
        owned["metadata"]["ownerReferences"] = [reference]
        home.api.create(owned)
        home.await_pod("owned", is_ready, "the pod is ready")
        home.api.delete("configmaps", "owner", home.namespace)
        home.await_end("owned")

    def test_a_gate_holds_a_pod_and_its_removal_lets_it_run(self, home: Home) -> None:
        home.create("gated", schedulingGates=[{"name": "grove.test/gate"}])
        home.await_pod(
            "gated", lambda found: condition(found, "PodScheduled") == "False:SchedulingGated", "the gate is seen"
        )
        home.api.patch("pods", "gated", home.namespace, patch={"spec": {"schedulingGates": None}})
        found = home.await_pod("gated", is_ready, "the pod runs on a node")
        assert found["spec"]["nodeName"] == f"{home.namespace}-one"
        assert found["status"]["phase"] == "Running"

    def test_a_full_node_takes_no_further_pod(self, home: Home) -> None:
        home.create("first")
        home.await_pod("first", is_ready, "the first pod fits")
        home.create("second")
        home.await_pod("second", lambda found: condition(found, "PodScheduled") == UNSCHEDULABLE, "its GPUs are taken")
        home.api.delete("pods", "first", home.namespace)
        home.await_pod("second", is_ready, "the second pod takes the place")

    def test_init_containers_come_first(self, home: Home) -> None:
        init = [{"name": "init", "image": "example.com/init"}]
        home.create("slow", {"run-after": "2s"}, initContainers=init)
        home.await_pod(
            "slow", lambda found: condition(found, "Initialized") == "False:ContainersNotInitialized", "init runs"
        )
        found = home.await_pod("slow", is_ready, "init has ended")
        assert found["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0

    def test_a_deleted_pod_is_terminating_until_it_is_gone(self, home: Home) -> None:
        home.create("tough", {"delete-after": "2s"})
        home.await_pod("tough", is_ready, "the pod is ready")
        home.api.delete("pods", "tough", home.namespace)
        found = home.api.get("pods", "tough", home.namespace)
        assert found["metadata"]["deletionTimestamp"]
        home.await_end("tough")

    def test_everything_of_a_namespace_is_listed(self, home: Home) -> None:
        home.create("here")
        found = [(each["kind"], each["metadata"]["name"]) for each in home.api.everything_in(home.namespace)]
        assert found == [("Pod", "here")]


class TestItsKubelet:
    """What a pod asks for with annotations becomes of it."""

    def test_readiness_is_delayed(self, home: Home) -> None:
        home.create("late", {"ready-after": "2s"})
        found = home.await_pod("late", is_ready, "it is ready at last")
        since = next(each["lastTransitionTime"] for each in found["status"]["conditions"] if each["type"] == "Ready")
        started = state_of(found)["running"]["startedAt"]
        waited = datetime.fromisoformat(since) - datetime.fromisoformat(started)
        assert waited >= timedelta(seconds=1), "both are in whole seconds"

    def test_a_pod_may_never_be_ready(self, home: Home) -> None:
        home.create("never", {"never-ready": "true"})
        home.await_pod("never", lambda found: "running" in state_of(found), "its container runs")
        time.sleep(1.5)
        assert condition(home.pod("never"), "Ready") == "False:ContainersNotReady"

    def test_a_crash_loops_until_it_is_mended(self, home: Home) -> None:
        home.create("crashing", {"crash-after": "2s"})
        home.await_pod("crashing", is_ready, "it was ready once")
        found = home.await_pod("crashing", lambda found: "waiting" in state_of(found), "it crashed")
        status = found["status"]["containerStatuses"][0]
        assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert status["lastState"]["terminated"]["exitCode"] == 1
        assert (status["restartCount"], found["status"]["phase"]) == (1, "Running")
        home.api.annotate("pods", "crashing", home.namespace, crash_after=None)
        home.await_pod("crashing", is_ready, "it runs again")

    def test_a_crash_is_final_where_nothing_is_restarted(self, home: Home) -> None:
        home.create("once", {"never-ready": "true", "crash-after": "100ms"}, restartPolicy="Never")
        found = home.await_pod("once", lambda found: "terminated" in state_of(found), "it crashed before it was ready")
        assert found["status"]["phase"] == "Failed"
        assert state_of(found)["terminated"]["exitCode"] == 1

    def test_readiness_is_lost_and_found(self, home: Home) -> None:
        home.create("shaky")
        home.await_pod("shaky", is_ready, "it is ready")
        home.api.annotate("pods", "shaky", home.namespace, not_ready="true")
        home.await_pod("shaky", lambda found: condition(found, "Ready") == "False:ContainersNotReady", "it lost it")
        home.api.annotate("pods", "shaky", home.namespace, not_ready=None)
        home.await_pod("shaky", is_ready, "it is ready again")


class TestItsUsers:
    """RBAC is on, and what an operator asks is written down."""

    def test_an_empty_role_allows_no_request(self, api_server: ControlPlane, namespace: str) -> None:
        with pytest.raises(ApiError, match='User "nobody" cannot create resource "pods"') as refused:
            api_server.api("nobody").create(pod("refused", on=namespace))
        assert (refused.value.code, refused.value.reason) == (403, "Forbidden")

    def test_a_user_may_what_it_is_bound_to_and_all_of_it_is_audited(
        self, api_server: ControlPlane, namespace: str
    ) -> None:
        admin, reader = api_server.api(), api_server.api(READER)
        metadata = {"name": "reader", "namespace": namespace}
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
        rbac = "rbac.authorization.k8s.io"
        admin.create({"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": metadata, "rules": rules})
        admin.create(
            {
                "apiVersion": f"{rbac}/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "reader"},
                "subjects": [{"apiGroup": rbac, "kind": "User", "name": READER}],
            }
        )
        admin.create(pod("read", on=namespace))

        def allowed() -> Json | None:
            with contextlib.suppress(ApiError):  # the authorizer learns of a binding a moment later
                return reader.find("pods", "read", namespace)
            return None

        wait_until(allowed, bool, "the user may read")
        with pytest.raises(ApiError, match='cannot delete resource "pods"'):
            reader.delete("pods", "read", namespace)

        def seen() -> list[tuple[str, int]]:
            return [
                (event["verb"], event["responseStatus"]["code"])
                for event in api_server.audit(READER)
                if event.get("objectRef", {}).get("namespace") == namespace
            ]

        wait_until(seen, lambda seen: ("get", 200) in seen and seen[-1] == ("delete", 403), "both are written down")
        assert not api_server.audit("admin")


@pytest.mark.groups
class TestGangs:
    """The stock scheduler places gangs whole."""

    def test_a_gang_is_placed_whole_or_not_at_all(self, home: Home) -> None:
        home.add_nodes("two", "three")
        home.api.create(
            {
                "apiVersion": "scheduling.k8s.io/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": "workers", "namespace": home.namespace},
                "spec": {"schedulingPolicy": {"gang": {"minCount": 4}}},
            }
        )
        names = [f"worker-{number}" for number in range(4)]
        for name in names:
            home.create(name, schedulingGroup={"podGroupName": "workers"})

        def refused() -> list[Json]:
            pods = home.api.all_of("pods", home.namespace)
            return [each for each in pods if condition(each, "PodScheduled") == UNSCHEDULABLE]

        wait_until(refused, bool, "no node is left for one of the four")
        time.sleep(2)
        assert [each["spec"].get("nodeName") for each in home.api.all_of("pods", home.namespace)] == [None] * 4
        home.add_nodes("four")
        for name in names:
            home.await_pod(name, is_ready, "the gang is placed")


HOLDER: Final = """
import sys, time
from tests.cluster.binaries import find
from tests.cluster.plane import ControlPlane
with ControlPlane(find()) as plane:
    print(plane.folder, plane.pids["keeper"], *plane.pids.values(), flush=True)
    time.sleep(600)
"""


def runs(pid: int) -> bool:
    """Whether there is such a process, and not only a zombie that was never waited for."""
    try:
        os.kill(pid, 0)
        return sys.platform != "linux" or ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


class TestItsEnd:
    """Nothing is left, whatever ends."""

    @pytest.mark.parametrize("killed", ["the holder", pytest.param("the keeper", marks=ONLY_LINUX)])
    def test_nothing_outlives_a_sudden_end(self, control_plane: ControlPlane, killed: str) -> None:
        with subprocess.Popen([sys.executable, "-c", HOLDER], cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            try:
                folder, *numbers = holder.stdout.readline().split()
                keeper, *pids = map(int, numbers)
                assert [runs(pid) for pid in pids] == [True] * 6
                os.kill(keeper if killed == "the keeper" else holder.pid, signal.SIGKILL)
                wait_until(lambda: [pid for pid in pids if runs(pid)], lambda left: not left, "all have ended")
                if killed == "the holder":
                    wait_until(lambda: Path(folder).exists(), lambda there: not there, "its folder is removed")
            finally:
                holder.kill()
        shutil.rmtree(folder, ignore_errors=True)

    def test_a_stopped_one_leaves_its_logs_where_they_were_wanted(
        self, api_server: ControlPlane, programs: dict[str, Path], tmp_path: Path
    ) -> None:
        with ControlPlane(programs, folder=tmp_path / "kept", parts=STORE) as plane:
            plane.api().create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})
            pids = list(plane.pids.values())
        assert len(pids) == 3
        assert not [pid for pid in pids if runs(pid)]
        assert plane.log(APISERVER).exists()
        with ControlPlane(programs, folder=tmp_path / "kept", parts=STORE) as plane:
            assert plane.api().find("namespaces", "mine")

    def test_a_failed_start_quotes_the_log(self, api_server: ControlPlane, programs: dict[str, Path]) -> None:
        with (
            pytest.raises(NotRunning, match=r"(?s)kube-apiserver ended with exit code 1:.*soon"),
            ControlPlane(programs, parts=STORE, compaction="soon"),
        ):
            pass

    def test_a_missing_program_is_named(self) -> None:
        with pytest.raises(NotBuilt, match="kube-controller-manager, kube-scheduler, kwok not found; 'python -m"):
            ControlPlane({ETCD: Path("etcd"), APISERVER: Path("kube-apiserver")})
