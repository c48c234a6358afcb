"""The public names change on purpose only, carry types, and show by an example how they are used."""

import doctest
import inspect
import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

import grove_core
import grove_shell
from tests.api.names import PACKAGES, page_of

STORED: Final = Path(__file__).with_name("public_names.txt")
FUNCTIONS: Final[dict[str, Any]] = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in PACKAGES
    for name in package.__all__
    if inspect.isfunction(getattr(package, name))
}
ROOT: Final = Path(__file__).parents[2]


class TestLB006:
    """Every public name with its signature MUST stand in ``tests/api/public_names.txt``. Within a minor version none of
    them is removed, renamed or given another meaning.
    """

    def test_names_and_signatures_are_as_blessed(self, *, bless: bool) -> None:
        page = page_of()
        if bless:
            STORED.write_text(page, encoding="utf-8")
        assert STORED.read_text(encoding="utf-8") == page


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_exported_is_what_is_there(package: Any) -> None:
    assert len(set(package.__all__)) == len(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
    assert dir(package) == sorted(package.__all__)


@pytest.mark.parametrize("package", [grove_core, grove_shell])
def test_the_packages_say_that_they_carry_types(package: Any) -> None:
    assert Path(package.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_and_result_has_a_type_and_a_sentence(name: str) -> None:
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    assert signature.return_annotation is not signature.empty
    assert all(parameter.annotation is not parameter.empty for parameter in signature.parameters.values())
    undescribed = [one for one in signature.parameters if not re.search(rf"\b{one}(?:, \w+)*: ", function.__doc__)]
    assert undescribed == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_in_the_docstring_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the names of its own module, and no others, in the folder of the README."""
    monkeypatch.chdir(ROOT)
    module = sys.modules[FUNCTIONS[name].__module__]
    (found,) = doctest.DocTestFinder(recurse=False).find(FUNCTIONS[name], name, module)
    assert found.examples
    result = doctest.DocTestRunner().run(found)
    assert result.failed == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_an_example_of_a_type_runs_too(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    types = [getattr(package, name) for name in package.__all__ if inspect.isclass(getattr(package, name))]
    for found in (one for kind in types for one in doctest.DocTestFinder().find(kind) if one.examples):
        assert doctest.DocTestRunner().run(found).failed == 0, found.name


def test_every_other_example_of_the_core_runs_too() -> None:
    """Examples in docstrings are found without being registered."""
    names = [found.name for found in pkgutil.walk_packages(grove_core.__path__, "grove_core.")]
    results = {name: doctest.testmod(import_module(name)) for name in names}
    assert {name: result.failed for name, result in results.items() if result.failed} == {}
    assert any(result.attempted for result in results.values())
