"""A headless Chromium for the tests of this folder, which are skipped where it or its driver is missing."""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@dataclass
class Opened:
    """A page in the browser, and everything that it said and asked for.

    Attributes:
        messages: of its console, violations of its policy among them, and its errors.
        requests: other than that of the file itself.
    """

    page: "Page"
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: Path, anchor: str = "") -> "Page":
        self.page.goto(f"{path.as_uri()}{anchor}")
        return self.page


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install 'grove-plan[browser]')")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with driver.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: "Browser", request: pytest.FixtureRequest) -> Iterator[Opened]:
    """A page in a context of its own: 1280 pixels wide and light, unless a parameter says otherwise."""
    options: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}
    options |= getattr(request, "param", {})
    context = browser.new_context(**options)
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.messages.append(message.text))
    found.page.on("pageerror", lambda fault: found.messages.append(str(fault)))
    found.page.on("request", lambda asked: found.requests.append(asked.url))
    yield found
    context.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core: the file that AXE_CORE names, else from the npm registry."""
    if named := os.environ.get("AXE_CORE"):
        return Path(named).read_text(encoding="utf-8")
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("axe")
    if npm is None:
        pytest.skip("needs axe-core: AXE_CORE, or npm to fetch it")
    done = subprocess.run(
        [npm, "pack", "--json", "axe-core@4"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode:
        pytest.skip("needs axe-core, and the npm registry cannot be reached")
    with tarfile.open(folder / json.loads(done.stdout)[0]["filename"]) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def serious_findings(page: "Page", axe: str) -> list[tuple[str, list[Any]]]:
    """The serious findings of axe-core on a page, each with the elements that it is about."""
    page.add_script_tag(content=axe)
    found: dict[str, Any] = page.evaluate("() => axe.run()")
    assert len(found["passes"]) > 10
    return [
        (one["id"], [node["target"] for node in one["nodes"]][:3])
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
