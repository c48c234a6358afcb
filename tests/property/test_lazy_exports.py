"""A name of the public list is loaded on first access, and is the same for every importer."""

import subprocess
import sys
from typing import Final

import pytest

import grove_core
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_names import full_rule_set_name

ORDERS: Final = (
    "from grove_core import reconcile",
    "import grove_core.reconcile; from grove_core import reconcile",
    "from grove_core.reconcile import finalizer_steps_for_orphans; import grove_core; reconcile = grove_core.reconcile",
    "import grove_core.reconcile as reconcile",
    "from grove_core import *",
)


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("order", ORDERS)
def test_reconcile_is_the_function_in_any_import_order(order: str) -> None:
    assert run(f"{order}; print(reconcile.__name__, type(reconcile).__name__)") == "reconcile function"


def test_a_word_of_the_core_does_not_load_all_of_it() -> None:
    loaded = run("import grove_core.resources.api_names, sys; print(*sorted(sys.modules))").split()
    assert "pydantic" not in loaded
    assert "grove_core.reconcile" not in loaded
    assert run("import grove_core; print(grove_core.VERSION, *dir(grove_core))")


def test_it_is_the_same_for_every_importer() -> None:
    assert grove_core.__getattr__("reconcile") is grove_core.reconcile is reconcile


def test_a_name_that_is_not_exported_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'decide'"):
        _ = grove_core.decide


def test_every_exported_name_is_there_and_completion_shows_no_other() -> None:
    assert dir(grove_core) == sorted(grove_core.__all__)
    assert [name for name in grove_core.__all__ if getattr(grove_core, name) is None] == []


def test_a_rule_set_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    assert grove_core.rule_set("field").name in grove_core.rule_set_names()
    assert grove_core.rule_set("design").name == "design"
    with pytest.raises(ValueError, match=r"there is no rule set 'feild'; expected design, field, .*you mean .field.\?"):
        grove_core.rule_set("feild")


@pytest.mark.parametrize(
    ("written", "full"),
    [
        ("field@alpha.11", "field@v0.1.0-alpha.11"),
        ("field@0.1.0-alpha.11", "field@v0.1.0-alpha.11"),
        ("field@main", "field@main"),
        (" design ", "design"),
    ],
)
def test_lb030_a_release_is_named_in_short(written: str, full: str) -> None:
    assert grove_core.rule_set(written).name == full_rule_set_name(written) == full


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("field@alpha12", 'field@main; did you mean "field@v0.1.0-alpha.12-rc1"?'),
        ("field@alpha-11", 'field@main; did you mean "field@v0.1.0-alpha.11"?'),
        ("field@v0.1.0-alpha9", 'field@main; did you mean "field@v0.1.0-alpha.9"?'),
        ("field@alpha.13", "; a newer one is not predicted yet, and plain field has the rules of the newest one"),
        ("field@alpha13", "; a newer one is not predicted yet, and plain field has the rules of the newest one"),
        ("field@alpha.8", "; older ones are not predicted"),
        ("field@nightly", 'field@main; did you mean "field@v0.1.0-alpha.9"?'),
    ],
)
def test_lb030_an_unknown_release_is_an_error_with_the_one_that_is_meant(written: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"^there is no rule set") as caught:
        grove_core.rule_set(written)
    assert str(caught.value).endswith(words)


def test_lb030_a_name_is_text() -> None:
    with pytest.raises(TypeError, match=r"^rule_set takes a name, as 'field'; got int$"):
        grove_core.rule_set(5)  # type: ignore[arg-type]  # what a user may write
