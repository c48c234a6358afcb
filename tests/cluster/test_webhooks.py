"""A real API server calls the webhooks, which run as a user with exactly the rights that are printed for them."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from grove_shell.actions.manifests import installation_objects
from grove_shell.manifests.installation import InstallationOptions
from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.installing import Program, apply, clique, remove_cluster_wide
from tests.cluster.plane import ControlPlane
from tests.cluster.programs import HOST
from tests.cluster.webhooks import SETS, Installed


@pytest.fixture
def installed(api_server: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Installed]:
    apply(api_server.api(), installation_objects(InstallationOptions(), ("crds",)))
    found = Installed(api_server, namespace, tmp_path)
    apply(found.api, found.objects)
    yield found
    remove_cluster_wide(found.api, found.objects)


@pytest.fixture
def running(installed: Installed) -> Iterator[Program]:
    program = installed.program()
    with program.running() as process:
        program.await_ready(process)
        installed.is_called()
        yield program


def circle() -> list[Json]:
    """Two cliques that wait for each other, and a name that makes those of pods too long."""
    return [clique("a", startsAfter=["b" * 40]), clique("b" * 40, startsAfter=["a"])]


@pytest.mark.req("WH-001")
def test_wh002_every_objection_reaches_the_user(installed: Installed, running: Program) -> None:
    wrong = installed.set_of("a-set-with-a-long-name", *circle(), cliqueStartupType="CliqueStartupTypeExplicit")
    with pytest.raises(ApiError, match=r'webhook "validation\.podcliquesets\.grove\.io" denied') as refused:
        installed.create(wrong)
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    for words in ("2 problems", "WL-125", "WL-110"):
        assert words in refused.value.message
    assert running.said("refused")[0]["set"] == f"{installed.namespace}/a-set-with-a-long-name"


@pytest.mark.req("WH-001")
def test_wh002_defaults_are_stored_and_changes_judged(installed: Installed, running: Program) -> None:
    stored = installed.create(installed.set_of("sound", clique("a", 3), clique("b")))
    first = stored["spec"]["template"]["cliques"][0]["spec"]
    assert first["minAvailable"] == 3
    assert first["podSpec"]["terminationGracePeriodSeconds"] == 30
    changed = json.loads(json.dumps(stored))
    devices: Json = {"name": "x", "templateSpec": {"spec": {"devices": {}}}}
    changed["spec"]["template"]["resourceClaimTemplates"] = [devices]
    with pytest.raises(ApiError, match="denied the request") as refused:
        installed.api.replace(changed)
    assert refused.value.code == 422
    assert "WL-154" in refused.value.message
    stored["spec"]["replicas"] = 2
    assert installed.api.replace(stored)["spec"]["replicas"] == 2
    assert not running.said("fault of ours")


def test_wh005_names_are_compared_with_the_copy(installed: Installed, running: Program) -> None:
    installed.create(installed.set_of("b-0"))
    path = installed.api.resource(SETS).path(installed.namespace)

    def refused() -> str:
        try:
            installed.api.request("POST", f"{path}?dryRun=All", installed.set_of("b", clique("0-a")))
        except ApiError as fault:
            return fault.message
        return ""

    assert "WL-117" in wait_until(refused, bool, "the copy has heard of it")
    installed.api.delete(SETS, "b-0", installed.namespace)
    wait_until(refused, lambda words: not words, "and of its end")


def test_wh001_an_old_set_is_let_go(installed: Installed) -> None:
    """Stored before there were webhooks; what is wrong with it must not keep it for ever."""
    for one in installed.objects:
        if "webhooks" in one:
            installed.api.delete(one["kind"], one["metadata"]["name"])
    wrong = installed.set_of("old", *circle(), cliqueStartupType="CliqueStartupTypeExplicit")
    wrong["metadata"]["finalizers"] = ["grove.io/podcliqueset.grove.io"]
    wait_until(lambda: _stored(installed, wrong), bool, "the API server has forgotten the registration")
    apply(installed.api, installed.objects)
    program = installed.program()
    with program.running() as process:
        program.await_ready(process)
        installed.is_called()
        with pytest.raises(ApiError, match="WL-125"):
            installed.api.patch(SETS, "old", installed.namespace, patch={"spec": {"replicas": 2}})
        installed.api.delete(SETS, "old", installed.namespace)
        installed.api.patch(SETS, "old", installed.namespace, patch={"metadata": {"finalizers": None}})
        assert installed.api.find(SETS, "old", installed.namespace) is None


def _stored(installed: Installed, manifest: Json) -> bool:
    try:
        installed.create(manifest)
    except ApiError:
        return False
    return True


class Asking:
    """Creations as a dry run, one after the other, until the block ends; none may fail."""

    def __init__(self, installed: Installed) -> None:
        self.answers: list[str] = []
        self._installed = installed
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        api = self._installed.plane.api()
        path = api.resource(SETS).path(self._installed.namespace)
        while not self._ends.is_set():
            try:
                said = api.request("POST", f"{path}?dryRun=All", self._installed.set_of("probe"))
                self.answers.append(str(said["spec"]["template"]["cliques"][0]["spec"].get("minAvailable")))
            except ApiError as fault:
                self.answers.append(str(fault))
            time.sleep(0.02)


@pytest.mark.req("WH-025")
def test_wh021_no_request_is_lost_when_certificates_change(installed: Installed) -> None:
    program = installed.program(validFor="9s", authorityValidFor="18s")
    with program.running() as process:
        program.await_ready(process)
        installed.is_called()
        with Asking(installed) as asking:
            wait_until(
                lambda: program.said("authority registered"), lambda said: len(said) >= 3, "authorities", seconds=60
            )
            wait_until(
                lambda: program.said("certificate loaded"), lambda said: len(said) >= 4, "certificates", seconds=60
            )
    assert len(asking.answers) > 100
    assert set(asking.answers) == {"2"}


def test_wh021_a_certificate_is_renewed_though_a_registration_is_missing(installed: Installed) -> None:
    missing = f"grove-validation-{installed.namespace}"
    installed.api.delete("validatingwebhookconfigurations", missing)
    program = installed.program(validFor="6s")
    with program.running() as process:
        program.await_ready(process)
        (trouble,) = wait_until(lambda: program.said("certificates"), bool, "it is reported")
        assert f"there is no validatingwebhookconfigurations/{missing}: grove manifests" in trouble["error"]
        wait_until(lambda: program.said("certificate loaded"), lambda said: len(said) == 3, "it is renewed twice")
        installed.is_called()
        assert program.ready() == "ok"
    apply(installed.api, installed.objects)


def test_wh020_replicas_share_one_certificate(installed: Installed) -> None:
    """Both begin at once; the second one to create takes what the first one made."""
    programs = [installed.program(name) for name in ("one", "two")]
    with programs[0].running() as first, programs[1].running() as second:
        for program, process in zip(programs, (first, second), strict=True):
            program.await_ready(process)
        made = [line for program in programs for line in program.said("certificate made")]
        assert len(made) == 1
        assert len({program.said("certificate loaded")[0]["expires"] for program in programs}) == 1
    secret = installed.api.get("secrets", "grove-webhook-certs", installed.namespace)
    assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}


def test_wh020_a_foreign_secret_is_kept_and_reported(installed: Installed) -> None:
    text = base64.b64encode(b"theirs").decode()
    metadata = {"name": "grove-webhook-certs", "namespace": installed.namespace}
    data = {"tls.crt": text, "tls.key": text}
    theirs = installed.api.create(
        {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata, "data": data}
    )
    program = installed.program()
    with program.running():
        (trouble,) = wait_until(lambda: program.said("certificates"), bool, "it is reported")
        assert "was not made by grove webhooks" in trouble["error"]
        assert "certificates.mode: manual" in trouble["error"]
        assert program.ready().startswith("waits for a valid certificate")
        time.sleep(1)
        assert installed.api.get("secrets", "grove-webhook-certs", installed.namespace) == theirs
        assert len(program.said("certificates")) == 1
        installed.api.delete("secrets", "grove-webhook-certs", installed.namespace)
        installed.is_called()


def test_wh025_a_registration_is_put_right_and_otherwise_left(installed: Installed, running: Program) -> None:
    name = f"grove-validation-{installed.namespace}"
    kind = "validatingwebhookconfigurations"
    before = installed.api.get(kind, name)
    assert before["webhooks"][0]["timeoutSeconds"] == 10
    client = before["webhooks"][0]["clientConfig"]
    before["webhooks"][0] |= {"timeoutSeconds": 7, "clientConfig": {**client, "caBundle": ""}}
    installed.api.replace(before)
    after = wait_until(
        lambda: installed.api.get(kind, name)["webhooks"][0],
        lambda webhook: bool(webhook["clientConfig"].get("caBundle")),
        "it is put right",
    )
    assert after == {**before["webhooks"][0], "clientConfig": client}
    assert running.said("authority registered")


def test_wh025_an_address_of_ours_takes_the_place_of_the_service(installed: Installed) -> None:
    """No set is written meanwhile, so that the Service is not looked for."""
    for one in installed.registration:
        installed.api.delete(one["kind"], one["metadata"]["name"])
    apply(installed.api, installed.registration)
    program = installed.program()
    with program.running() as process:
        program.await_ready(process)
        wait_until(lambda: program.said("authority registered"), bool, "it is registered")
        (listening,) = program.said("listening")
    for one in installed.registration:
        stored = installed.api.get(one["kind"], one["metadata"]["name"])["webhooks"]
        for found, reported in zip(stored, one["webhooks"], strict=True):
            path = reported["clientConfig"]["service"]["path"]
            assert found["clientConfig"].keys() == {"url", "caBundle"}
            assert found["clientConfig"]["url"] == f"https://{HOST}:{listening['port']}{path}"
            assert {key: found.get(key, []) for key in reported if key != "clientConfig"} == {
                key: reported[key] for key in reported if key != "clientConfig"
            }


@pytest.mark.req("WH-020")
def test_mf020_the_roles_of_the_webhooks_are_enough(installed: Installed, running: Program) -> None:
    found = wait_until(
        installed.asked, lambda found: ("patch", "mutatingwebhookconfigurations", 200) in found, "it is written down"
    )
    assert not [one for one in found if one[2] == 403]
    assert running.ready() == "ok"
