"""``grove example`` and ``grove schema``: what a new user begins with."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

from grove_shell.catalogue.examples import EXAMPLES, example_text
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.editor_schema import editor_schema

ROOT: Final = Path(__file__).parents[2]
KINDS: Final = ("PodCliqueSet", "ClusterTopology")
WRONG: Final = {"write-a-set/mistakes.yaml"}
CONTAINER: Final = ("spec", "template", "cliques", 0, "spec", "podSpec", "containers", 0)
MANIFEST: Final = yaml.safe_load(example_text("two-cliques"))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line(words, "grove") == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def validators() -> dict[str, jsonschema.Draft7Validator]:
    return {kind: jsonschema.Draft7Validator(editor_schema(kind)) for kind in KINDS}


def manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every manifest of ``examples/`` of a kind that has a schema."""
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        if path.parent.name not in {"rule-sets", "policies"}:
            for document in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader):
                items = document.get("items", [document]) if isinstance(document, dict) else []
                yield from ((str(path.relative_to(ROOT / "examples")), one) for one in items if one["kind"] in KINDS)


class TestCL118:
    """`grove example` MUST print the names and meanings of examples, and each example by its name, as the file of the
    repository, with `-o json` as JSON. Every manifest of them is admitted by `grove validate`.
    """

    def test_the_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = printed(capsys, "example").splitlines()
        assert [line.split()[0] for line in lines] == list(EXAMPLES)
        listed = json.loads(printed(capsys, "example", "-o", "json"))
        assert listed[0] == {"name": "one-clique", "meaning": "the smallest set: pods of one role"}

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_each_is_admitted(self, name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        text = printed(capsys, "example", name)
        assert text == (ROOT / "examples" / EXAMPLES[name].file).read_text("utf-8")
        assert json.loads(printed(capsys, "example", name, "-o", "json")) == yaml.safe_load(text)
        (tmp_path / "set.yaml").write_text(text, encoding="utf-8")
        config = str(ROOT / "examples/write-a-set/operator.yaml")
        assert "admitted" in printed(capsys, "validate", "-f", str(tmp_path), "--config", config)

    def test_the_wheel_takes_them_along(self) -> None:
        wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"][
            "wheel"
        ]
        packed = {source: path for source, path in wheel["force-include"].items() if source.startswith("examples/")}
        assert packed == {
            f"examples/{one.file}": f"grove_shell/catalogue/examples/{name}.yaml" for name, one in EXAMPLES.items()
        }

    def test_another_name(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run_command_line(["example", "nothing"], "grove") == 64
        assert "'one-clique', 'two-cliques'" in capsys.readouterr().err


class TestCL119:
    """`grove schema KIND` MUST print a JSON Schema that accepts every manifest that `grove validate` admits, and
    refuses unknown fields, missing ones, and values of another type.
    """

    @pytest.mark.parametrize("kind", KINDS)
    def test_it_is_a_schema(self, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
        schema = json.loads(printed(capsys, "schema", kind))
        jsonschema.Draft7Validator.check_schema(schema)
        assert schema == editor_schema(kind)
        assert "x-kubernetes" not in json.dumps(schema)

    def test_examples_are_accepted(self, validators: dict[str, jsonschema.Draft7Validator]) -> None:
        refused = {file for file, one in manifests() if not validators[one["kind"]].is_valid(one)}
        assert refused == WRONG
        assert len(list(manifests())) > 30

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            (("spec", "template", "cliques", 0, "spec", "minAvailabel"), 1),
            (("spec", "template", "cliques", 0, "spec", "replicas"), "2"),
            ((*CONTAINER, "imgae"), "a"),
            ((*CONTAINER, "ports"), {}),
            (("spec", "template", "cliqueStartupType"), "Whenever"),
            (("spec", "replicas"), -1),
            (("spec", "template"), None),
            (("metadata", "labels"), {"a": 1}),
            (("apiVersion",), "grove.io/v1"),
        ],
    )
    def test_mistakes_are_refused(
        self, path: tuple[str | int, ...], value: object, validators: dict[str, jsonschema.Draft7Validator]
    ) -> None:
        wrong = json.loads(json.dumps(MANIFEST))
        place = wrong
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert validators["PodCliqueSet"].is_valid(MANIFEST)
        assert not validators["PodCliqueSet"].is_valid(wrong)

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            (("spec", "template", "terminationDelay"), None),
            (("spec", "template", "cliqueStartupType"), None),
            (
                ("spec", "template", "cliques", 0, "spec", "podSpec", "containers", 0, "resources"),
                {"limits": {"cpu": 2}},
            ),
            (
                ("spec", "template", "cliques", 0, "spec", "podSpec", "containers", 0, "resources"),
                {"limits": {"cpu": "2"}},
            ),
        ],
    )
    def test_what_is_the_same_is_accepted(
        self, path: tuple[str | int, ...], value: object, validators: dict[str, jsonschema.Draft7Validator]
    ) -> None:
        """Null stands for a field that is not there, and a quantity may be a number."""
        same = json.loads(json.dumps(MANIFEST))
        place = same
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert validators["PodCliqueSet"].is_valid(same)
