"""A headless Chromium for the tests of this folder, which are skipped where it or its driver is missing."""

import shutil
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
