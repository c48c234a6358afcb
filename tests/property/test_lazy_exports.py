"""A name of the public list is loaded on first access, and is the same for every importer."""

import subprocess
import sys
from typing import Final

import pytest

import grove_core
from grove_core.reconcile import reconcile

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
    with pytest.raises(ValueError, match="there is no rule set 'feild'; there are design, field, "):
        grove_core.rule_set("feild")
