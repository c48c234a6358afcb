"""The documentation site in a real browser: no message, no foreign request, themes, a phone, search, accessibility."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import pytest

from tests.browser.conftest import Opened, serious_findings
from tests.docs.site import ROOT

PAGES: Final = (
    "",
    "tutorial/outputs/",
    "how-to/write-a-podcliqueset/",
    "reference/fields/",
    "reference/python/kernel/",
)
CHECKED: Final = frozenset({"", "how-to/write-a-podcliqueset/"})
"""Pages that are also checked for accessibility in the dark theme and on a phone."""
WIDE: Final = {"width": 1280, "height": 900}
LIGHT: Final = {"viewport": WIDE, "color_scheme": "light"}
DARK: Final = {"viewport": WIDE, "color_scheme": "dark"}
PHONE: Final = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
CUT: Final = (
    "() => [...document.querySelectorAll('.language-console code')].filter(one => one.scrollWidth > one.clientWidth)"
)
BACKGROUND: Final = "() => getComputedStyle(document.body).backgroundColor"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it has there
        """Print nothing of requests."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[str]:
    """The address of the site, built from the checkout and served by this process."""
    pytest.importorskip("material", reason="needs mkdocs-material (pip install 'grove-plan[docs]')")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "GROVE_REPOSITORY": "https://github.com/example/grove"}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("opened", [LIGHT, DARK, PHONE], ids=["light", "dark", "phone"], indirect=True)
def test_pages_are_quiet_complete_and_accessible(opened: Opened, site: str, axe: str) -> None:
    page = opened.page
    is_light = page.evaluate("() => matchMedia('(prefers-color-scheme: light)').matches")
    for path in PAGES:
        page.goto(f"{site}{path}")
        page.wait_for_load_state("networkidle")
        assert page.locator("h1").is_visible()
        assert page.evaluate("() => [...document.images].every(one => one.complete && one.naturalWidth > 0)"), path
        assert page.viewport_size is not None
        width = page.viewport_size["width"]
        assert page.evaluate("() => document.documentElement.scrollWidth") == width, path
        if width == WIDE["width"]:
            assert page.evaluate(CUT) == [], path
        if is_light or path in CHECKED:
            assert serious_findings(page, axe) == [], path
    assert opened.messages == []
    assert [one for one in opened.requests if not one.startswith(site)] == []


def test_search_finds_a_rule_and_a_field(opened: Opened, site: str) -> None:
    page = opened.page
    page.goto(site)
    box = page.locator(".md-search__input").first
    box.press_sequentially("terminationDelay")
    page.locator(".md-search-result__item a[href*='reference/fields/']").first.wait_for()
    box.fill("")
    box.press_sequentially("GT-034")
    page.locator(".md-search-result__item a[href*='reference/rules/gang_termination/']").first.click()
    page.wait_for_url("**/reference/rules/gang_termination/**")


def test_the_theme_is_switched_and_kept(opened: Opened, site: str) -> None:
    page = opened.page
    page.goto(site)
    light = page.evaluate(BACKGROUND)
    page.get_by_title("Use the dark theme").click()
    page.wait_for_function(f"before => ({BACKGROUND})() !== before", arg=light)
    dark = page.evaluate(BACKGROUND)
    page.goto(f"{site}reference/fields/")
    assert page.evaluate(BACKGROUND) == dark


def test_the_repository_is_linked_and_its_host_not_asked(opened: Opened, site: str) -> None:
    page = opened.page
    page.goto(site)
    page.wait_for_load_state("networkidle")
    assert page.get_by_title("Go to repository").first.get_attribute("href") == "https://github.com/example/grove"
    assert [one for one in opened.requests if "github" in one] == []


def test_a_page_reads_on_without_a_script(site: str, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=WIDE)
    page = context.new_page()
    page.goto(f"{site}how-to/write-a-podcliqueset/")
    assert page.get_by_role("heading", name="3. Roles that scale together").is_visible()
    context.close()
