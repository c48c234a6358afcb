"""What ``read`` takes, and that it gives the plan of the command (LB-001, LB-002, LB-004)."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import grove_shell as grove

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
RECORDED: Final = EXAMPLES / "real-cluster.yaml"


def objects() -> list[dict[str, Any]]:
    documents = yaml.load_all(RECORDED.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [one for document in documents for one in document.get("items", [document])]


def printed(*arguments: str) -> Any:
    command = [sys.executable, "-m", "grove_shell", *arguments, "-o", "json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


class TestLB001:
    """``grove_shell`` MUST export every name that a program needs to read, plan, forecast, explain, compare and
    validate. ``dir()`` shows these names and no others. Importing it costs nothing until a name is used.
    """

    def test_completion_shows_exactly_the_public_names(self) -> None:
        assert dir(grove) == sorted(grove.__all__)
        assert all(callable(getattr(grove, name)) for name in grove.__all__)

    def test_a_name_that_is_not_there_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'decide'"):
            _ = grove.decide

    def test_the_import_alone_loads_nothing(self) -> None:
        program = "import sys, grove_shell; print(*sorted(name for name in sys.modules if name.startswith('grove_')))"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert ran.stdout.split() == ["grove_shell"]


class TestLB002:
    """``read`` MUST take paths, folders, open files and objects as dicts, also in lists, and give the plan that the
    command gives for the same objects in a file.
    """

    def test_every_source_gives_the_plan_of_the_command(self, tmp_path: Path) -> None:
        expected = printed("plan", "-f", str(RECORDED))
        (tmp_path / "cluster.yaml").write_bytes(RECORDED.read_bytes())
        listed = {"apiVersion": "v1", "kind": "List", "items": objects()}
        for sources in (
            (str(RECORDED),),
            (RECORDED,),
            ([RECORDED],),
            (tmp_path,),
            (io.BytesIO(RECORDED.read_bytes()),),
            (io.StringIO(json.dumps(listed)),),
            (objects(),),
            (listed,),
            (objects()[:5], objects()[5:]),
            (iter(objects()),),
        ):
            found = grove.plan(grove.read(*sources, now="dump")).to_dict()
            assert found["plans"] == expected["plans"]

    def test_a_manifest_is_planned_as_applied(self) -> None:
        root = next(one for one in objects() if one["metadata"]["name"] == "embed")
        root["spec"]["replicas"] = 2
        edited = {key: root[key] for key in ("apiVersion", "kind", "spec")}
        edited["metadata"] = {"name": "embed", "namespace": "llm-serving"}
        (edit,) = grove.plan(grove.read(RECORDED, edited)).edits
        assert edit.set == "llm-serving/embed"
        assert [change.path for change in edit.changes] == ["spec.replicas"]
        assert (edit.adds, edit.restarts) == ((3, 3), (0, 0))

    def test_a_manifest_of_no_stored_set_is_a_new_set(self) -> None:
        """A misspelt namespace looked like an edit that does nothing."""
        root = next(one for one in objects() if one["metadata"]["name"] == "embed")
        other = {key: root[key] for key in ("apiVersion", "kind", "spec")} | {
            "metadata": {"name": "embed", "namespace": "x"}
        }
        found = grove.plan(grove.read(RECORDED, other))
        assert found.edits == ()
        assert [(one.set, one.pods) for one in found.new_sets] == [("x/embed", 3)]

    def test_the_input_stays_as_it_was(self) -> None:
        given = objects()
        grove.plan(grove.read(given, now="dump"))
        assert given == objects()

    def test_a_namespace_is_chosen(self) -> None:
        assert {one.namespace for one in grove.read(RECORDED, namespace="llm-serving").sets} == {"llm-serving"}


class TestLB004:
    """A problem of the input MUST raise one BadInput with every problem and its place, unless ``faults="return"`` was
    given. An input without a PodCliqueSet is such a problem.
    """

    def test_every_problem_is_raised_at_once(self, tmp_path: Path) -> None:
        bad = tmp_path / "bad.yaml"
        bad.write_text(
            "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: 5}\nspec: {replicas: many}\n"
        )
        with pytest.raises(grove.BadInput) as raised:
            grove.read(bad, tmp_path / "missing.yaml")
        text = str(raised.value)
        assert "missing.yaml: no such file" in text
        assert str(bad) in text
        assert len(raised.value.faults) > 1

    @pytest.mark.parametrize("content", ["", "{}", '{"kind": "List", "apiVersion": "v1", "items": []}'])
    def test_an_input_without_a_set_is_no_all_clear(self, tmp_path: Path, content: str) -> None:
        empty = tmp_path / "empty.json"
        empty.write_text(content)
        with pytest.raises(grove.BadInput):
            grove.read(empty)
        with pytest.raises(grove.BadInput):
            grove.plan(grove.read(empty, faults="return"))

    def test_faults_are_data_on_request(self) -> None:
        cluster = grove.read(RECORDED, "missing.yaml", faults="return")
        assert [fault.file for fault in cluster.faults] == ["missing.yaml"]
        assert grove.plan(cluster).unknown[-1] == "missing.yaml: no such file"

    def test_another_namespace_has_no_set(self) -> None:
        with pytest.raises(grove.BadInput, match="none in namespace prod"):
            grove.read(RECORDED, namespace="prod")

    def test_a_list_that_is_cut_off_loses_objects_of_every_kind(self, tmp_path: Path) -> None:
        """As kubectl writes its kind after the items, half of a dump showed terminations that do not come."""
        cut = tmp_path / "cut.yaml"
        listed = {"apiVersion": "v1", "items": [one for one in objects() if one["kind"] != "Pod"]}
        cut.write_text(yaml.safe_dump(listed, sort_keys=True))
        with pytest.raises(grove.BadInput, match="the file may be cut off"):
            grove.read(cut)
        found = grove.plan(grove.read(cut, faults="return", now="dump"))
        assert not found.terminations
        assert len([one for one in found.unknown if "was not collected" in one or "were not collected" in one]) > 2
