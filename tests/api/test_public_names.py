"""The public names change on purpose only, carry types, and show by an example how they are used."""

import doctest
import inspect
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

import grove_core
import grove_shell
from tests.api.names import page_of

STORED: Final = Path(__file__).with_name("public_names.txt")
FUNCTIONS: Final[dict[str, Any]] = {
    name: getattr(grove_core, name) for name in grove_core.__all__ if inspect.isfunction(getattr(grove_core, name))
}


def test_names_and_signatures_are_as_blessed(*, bless: bool) -> None:
    page = page_of()
    if bless:
        STORED.write_text(page, encoding="utf-8")
    assert STORED.read_text(encoding="utf-8") == page


def test_what_is_exported_is_what_is_there() -> None:
    assert sorted(grove_core.__all__) == list(grove_core.__all__)
    assert len(set(grove_core.__all__)) == len(grove_core.__all__)
    assert all(hasattr(grove_core, name) for name in grove_core.__all__)


@pytest.mark.parametrize("package", [grove_core, grove_shell])
def test_the_packages_say_that_they_carry_types(package: Any) -> None:
    assert Path(package.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_and_result_has_a_type_and_a_sentence(name: str) -> None:
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    assert signature.return_annotation is not signature.empty
    assert all(parameter.annotation is not parameter.empty for parameter in signature.parameters.values())
    assert all(f"{parameter}: " in function.__doc__ for parameter in signature.parameters)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_in_the_docstring_runs(name: str) -> None:
    """With the names of its own module, and no others."""
    module = sys.modules[FUNCTIONS[name].__module__]
    (found,) = doctest.DocTestFinder(recurse=False).find(FUNCTIONS[name], name, module)
    assert found.examples
    result = doctest.DocTestRunner().run(found)
    assert result.failed == 0


def test_every_other_example_of_the_core_runs_too() -> None:
    """Examples in docstrings are found without being registered."""
    names = [found.name for found in pkgutil.walk_packages(grove_core.__path__, "grove_core.")]
    results = {name: doctest.testmod(import_module(name)) for name in names}
    assert {name: result.failed for name, result in results.items() if result.failed} == {}
    assert any(result.attempted for result in results.values())
