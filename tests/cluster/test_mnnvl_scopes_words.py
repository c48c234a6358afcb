"""What a set says wrongly of MNNVL by annotation: refused offline and by a real API server in the same words."""

import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.cluster.api import ApiError, Json
from tests.cluster.operators import grove
from tests.cluster.scenes import Scene, clique, group
from tests.cluster.sharing import REPORTED, Joining, says, shares

BAD: Final = {
    "value": ({"cliques": says(enabled="yes")}, "MS-070"),
    "value of the set": ({"set": says(enabled="yes")}, "MN-070"),
    "scope": ({"cliques": says(enabled="true", scope="rack")}, "MS-071"),
    "place": ({"set": says(enabled="true", scope="clique")}, "MS-072"),
    "place of a group": ({"groups": says(enabled="true", scope="clique")}, "MS-072"),
    "class": ({"groups": says(enabled="true", device_class="")}, "MS-073"),
}


def annotated_set(scene: Scene, classes: dict[str, Json], name: str = "llama") -> Json:
    """A set that says something of MNNVL in some places."""
    pool = group("pool", "worker")
    manifest = scene.set_of(clique("router"), clique("worker"), name=name, podCliqueScalingGroups=[pool])
    template = manifest["spec"]["template"]
    places = {
        "set": manifest["metadata"],
        "cliques": template["cliques"][0],
        "groups": template["podCliqueScalingGroups"][0],
    }
    for place, annotations in classes.items():
        places[place]["annotations"] = annotations
    return manifest


class TestInTheSameWords:
    """The same field, sentence and rule."""

    @pytest.fixture
    def config(self, tmp_path: Path) -> Path:
        path = tmp_path / "operator.yaml"
        path.write_text(yaml.safe_dump({"kind": "OperatorConfiguration", "mnnvl": dict(REPORTED)}), encoding="utf-8")
        return path

    def compare(self, config: Path, refused: ApiError, rule: str, new: Json, old: Json | None = None) -> None:
        """Hold what the server said against ``grove validate``."""
        words = []
        for option, manifest in (("-f", new), ("--old", old)):
            if manifest is not None:
                path = config.with_name(f"{option.strip('-')}.json")
                path.write_text(json.dumps(manifest), encoding="utf-8")
                words += [option, str(path)]
        ran = grove("validate", *words, "--config", str(config), "-o", "json")
        assert ran.returncode == 1, ran.stdout
        (verdict,) = json.loads(ran.stdout)["verdicts"]
        offline = [
            f"{one['path']}: {one['sentence']}, got {one['got']} ({one['requirement']})"
            for one in verdict["objections"]
        ]
        assert rule in {one["requirement"] for one in verdict["objections"]}
        problems = f"{len(offline)} problem{'s' if len(offline) > 1 else ''}"
        assert refused.code == 422
        assert f"denied the request: {problems}: {'; '.join(offline)}" in refused.message

    def test_ms070_every_bad_annotation(self, scene: Scene, joining: Joining, config: Path) -> None:
        assert joining.runs
        for reported, rule in BAD.values():
            manifest = annotated_set(scene, reported)
            with pytest.raises(ApiError) as refused:
                scene.api.create(manifest)
            self.compare(config, refused.value, rule, manifest)
        together = annotated_set(scene, {"set": says(enabled="true", scope="rack"), "groups": says(enabled="yes")})
        with pytest.raises(ApiError, match="2 problems") as refused:
            scene.api.create(together)
        self.compare(config, refused.value, "MS-071", together)

    def test_ms076_a_name_that_is_too_long(self, scene: Scene, joining: Joining, config: Path) -> None:
        assert joining.runs
        manifest = annotated_set(scene, {"groups": shares("scalingGroupReplica")}, name="a" * 42)
        manifest["spec"]["template"]["podCliqueScalingGroups"][0]["name"] = "pool-of-many"
        with pytest.raises(ApiError) as refused:
            scene.api.create(manifest)
        self.compare(config, refused.value, "MS-076", manifest)

    def test_ms075_a_change_of_mind(self, scene: Scene, joining: Joining, config: Path) -> None:
        assert joining.runs
        stored = scene.api.create(annotated_set(scene, {"set": shares(), "groups": shares("scalingGroupReplica")}))
        for change in (
            {"set": shares(), "groups": shares("replica")},
            {"set": shares()},
            {"set": says(enabled="true", device_class="x"), "groups": shares("scalingGroupReplica")},
        ):
            changed = json.loads(json.dumps(stored))
            asked = annotated_set(scene, change)
            changed["metadata"]["annotations"] = asked["metadata"]["annotations"]
            template = changed["spec"]["template"]["podCliqueScalingGroups"][0]
            template.pop("annotations", None)
            template |= {
                key: value
                for key, value in asked["spec"]["template"]["podCliqueScalingGroups"][0].items()
                if key == "annotations"
            }
            with pytest.raises(ApiError) as refused:
                scene.api.replace(changed)
            self.compare(config, refused.value, "MS-075", changed, stored)
