"""A cluster without ComputeDomains: only an operator that has to make some does not start."""

from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_shell.manifests.installation import OPERATOR, InstallationOptions
from tests.cluster.api import Json, wait_until
from tests.cluster.fabrics import ON, annotated, domains, failed, runs, templates
from tests.cluster.installing import access_for, apply, remove_cluster_wide
from tests.cluster.nvidia.definitions import GROUP, installed, released
from tests.cluster.nvidia.devices import device_classes
from tests.cluster.nvidia.driver import Driver
from tests.cluster.operators import READING, Operator, Starting, grove, would_start
from tests.cluster.plane import INSTALLED, ControlPlane
from tests.cluster.scenes import Scene, clique

SAYS: Final = "mnnvl is enabled and the server has no ComputeDomains: install NVIDIA's DRA driver, or turn mnnvl off"


def config(folder: Path, *, enabled: bool) -> str:
    path = folder / f"{enabled}.yaml"
    kind = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    path.write_text(yaml.safe_dump({**kind, "mnnvl": {"enabled": enabled}}), encoding="utf-8")
    return str(path)


class TestMN061:
    """An operator that is configured to create ComputeDomains MUST exit before its first write, with a message and exit
    code 1, if the API server does not have that kind.

    Nothing is promised that the cluster cannot keep.
    """

    @pytest.mark.req("CL-032")
    def test_mn061_it_ends_before_its_first_write(
        self, grove_plane: ControlPlane, scene: Scene, installed_operator: Operator, tmp_path: Path
    ) -> None:
        before, asked = scene.dump(), len(grove_plane.audit(installed_operator.user))
        scene.api.create(scene.set_of(clique("worker")))
        kubeconfig = grove_plane.kubeconfig()
        judged = grove(
            "validate", "--preflight", "--live", "--config", config(tmp_path, enabled=True), kubeconfig=kubeconfig
        )
        assert judged.returncode == 1
        assert SAYS in " ".join(judged.stdout.split())
        assert "Traceback" not in judged.stderr

        installed_operator.mnnvl = ON
        installed_operator.launch()
        assert installed_operator.await_end() == 1
        assert installed_operator.text == f"{grove_plane.url}: {SAYS}\n"
        heard = grove_plane.audit(installed_operator.user)[asked:]
        assert heard
        assert not [each for each in heard if each["verb"] not in READING], "no Lease and no Event either"
        assert scene.dump() == sorted([*before, "PodCliqueSet llama"])

    @pytest.mark.req("OP-034")
    @pytest.mark.req("MN-001")
    def test_mn061_with_the_feature_off_it_starts_and_works(
        self, grove_plane: ControlPlane, scene: Scene, installed_operator: Operator, tmp_path: Path
    ) -> None:
        judged = grove(
            "validate",
            "--preflight",
            "--live",
            "--config",
            config(tmp_path, enabled=False),
            kubeconfig=grove_plane.kubeconfig(),
        )
        assert (judged.returncode, judged.stdout) == (0, would_start())
        installed_operator.start()
        scene.api.create(scene.set_of(clique("worker"), replicas=2))
        pods = scene.await_ready(2)
        assert not any(map(templates, pods))
        assert set(annotated(scene).values()) == {None}
        installed_operator.await_rest()
        assert not installed_operator.said("cannot follow")
        scene.scale("podcliquesets", "llama", 1)
        scene.await_ready(1)
        scene.api.delete("podcliquesets", "llama", scene.namespace)
        scene.await_gone("podcliquesets", "llama")

    def test_mn061_once_the_definition_is_there_it_starts(
        self, grove_plane: ControlPlane, scene: Scene, installed_operator: Operator, tmp_path: Path
    ) -> None:
        with (
            installed(grove_plane, *released()),
            device_classes(scene.api),
            Driver(grove_plane, scene.namespace),
        ):
            judged = grove(
                "validate",
                "--preflight",
                "--live",
                "--config",
                config(tmp_path, enabled=True),
                kubeconfig=grove_plane.kubeconfig(),
            )
            assert (judged.returncode, judged.stdout) == (0, would_start())
            installed_operator.mnnvl = ON
            installed_operator.start()
            scene.api.create(scene.set_of(clique("worker")))
            (pod,) = scene.await_ready(1)
            assert templates(pod) == ["llama-rct-0"]
            installed_operator.kill()
        wait_until(lambda: scene.names("podcliques"), lambda names: names == ["llama-0-worker"], "it runs on")

    @pytest.mark.req("OP-011")
    @pytest.mark.req("MN-011")
    def test_mn061_a_definition_that_is_removed_later_blocks_nothing(
        self, grove_plane: ControlPlane, scene: Scene, installed_operator: Operator
    ) -> None:
        installed_operator.mnnvl = ON
        with installed(grove_plane, *released()):
            installed_operator.start()
        scene.api.create(scene.set_of(clique("worker"), replicas=2))
        pods = scene.await_ready(2)
        assert not any(map(templates, pods))
        said = "ComputeDomain creation failed for replicas: [0, 1]. Error: 404 page not found"
        assert failed(scene) == said, "that is all a server says of a path that it does not serve any more"
        before = runs(scene)
        with installed(grove_plane, *released()):
            wait_until(lambda: failed(scene), lambda said: not said, "nothing fails any more", seconds=90)
            assert runs(scene) == before
            installed_operator.kill()


def blinded(access: list[Json]) -> list[Json]:
    """Roles without read access to ComputeDomains."""
    for role in access:
        for rule in role.get("rules", []):
            if rule["apiGroups"] == [GROUP]:
                rule["verbs"] = [verb for verb in rule["verbs"] if verb not in READING]
    return access


class TestMN016:
    """If ComputeDomains were not collected, a replica that has no PodClique or scaling group yet MUST be withheld. The
    condition ``ComputeDomainsReady`` stays as it is.

    An operator that may not list ComputeDomains.
    """

    @pytest.mark.req("OP-004")
    def test_mn016_it_says_on_the_set_what_it_waits_for(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting
    ) -> None:
        installation = InstallationOptions(home=scene.namespace, watched=scene.namespace)
        roles = apply(scene.api, blinded(access_for(installation, {OPERATOR: INSTALLED})))
        with installed(grove_plane, *released()), device_classes(scene.api), Driver(grove_plane, scene.namespace):
            operator = starting(INSTALLED, mnnvl=ON).start()
            scene.api.create(scene.set_of(clique("worker"), replicas=2))
            (event,) = wait_until(lambda: scene.events("DomainsNotCollected"), bool, "it is reported")
            assert (event["type"], event["regarding"]["name"]) == ("Warning", "llama")
            for words in (
                "ComputeDomain/llama-cd-0, and ",
                f'cannot list resource "computedomains" in API group "{GROUP}"',
            ):
                assert words in event["note"]
            held = operator.await_line("withheld", target="PodClique/llama-0-worker")
            assert held["because"][0]["requirement"] == "MN-016"
            assert not scene.all_of("podcliques")
            assert not domains(scene)
            where = ("--live", "-n", scene.namespace, "--config", str(operator.config))
            for asked in (("plan",), ("explain", "podclique/llama-0-worker")):
                ran = grove(*asked, *where, kubeconfig=grove_plane.kubeconfig(INSTALLED))
                assert "ComputeDomains were not collected: whether llama-cd-0 exists is unknown" in ran.stdout, ran
            operator.stop()

            apply(scene.api, access_for(installation, {OPERATOR: INSTALLED}))
            operator.start()
            scene.await_ready(2)
            assert sorted(domains(scene)) == ["llama-cd-0", "llama-cd-1"]
            assert len(scene.events("DomainsNotCollected")) == 1
            operator.await_rest()
            operator.stop()
        remove_cluster_wide(scene.api, roles)
