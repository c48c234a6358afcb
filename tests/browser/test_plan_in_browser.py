"""Pages in a real browser: no message, no request, reasons by a click, filter, links, keys, themes, text as text."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from benchmarks.data.lists import Form, write_list
from tests.browser.conftest import Opened, serious_findings
from tests.html.reading import HOSTILE, REAL, hostile_dump, page_of
from tests.html.test_plan_pages import EDIT, NOW
from tests.html.test_reports import CODES, COMMANDS

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE: Final = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
LATEST_PAINT: Final = 2000  # milliseconds


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Path:
    return saved(tmp_path_factory.mktemp("real"), "-f", str(REAL), "--until", "30m")


def saved(folder: Path, *words: str, command: str = "plan", code: int = 0) -> Path:
    page_of(folder, *words, command=command, code=code)
    return folder / "page.html"


def is_in_view(page: "Page", selector: str) -> bool:
    found: bool = page.locator(selector).evaluate(
        "element => { const box = element.getBoundingClientRect();"
        " return box.height > 0 && box.top >= 0 && box.top < innerHeight; }"
    )
    return found


@pytest.mark.req("HP-001")
class TestOneFile:
    """Nothing is said on the console, and nothing is asked for."""

    @pytest.mark.req("HP-011")
    @pytest.mark.parametrize("command", ["plan", *COMMANDS])
    def test_no_message_and_no_request(self, command: str, opened: Opened, real: Path, tmp_path: Path) -> None:
        words = COMMANDS.get(command, ())
        path = real if command == "plan" else saved(tmp_path, *words, command=command, code=CODES.get(command, 0))
        page = opened.open(path)
        assert page.locator("h1").is_visible()
        assert page.locator("header button").first.is_visible()  # the script ran
        assert opened.messages == []
        assert opened.requests == [path.as_uri()]

    def test_the_policy_is_in_force(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        page.evaluate(
            "() => { const made = document.createElement('script'); try { made.textContent = 'window.ran = 1'; }"
            " catch { window.refused = true; } document.body.append(made); }"
        )
        assert page.evaluate("() => [window.ran, window.refused]") == [None, True]
        page.evaluate("() => fetch('https://example.com/').catch(() => {})")
        assert [one for one in opened.requests if one.startswith("https:")] == []
        assert any("Content Security Policy" in one for one in opened.messages)


@pytest.mark.req("HP-002")
class TestTextAsText:
    """Markup of a dump is shown, and does nothing."""

    def test_a_dump_full_of_markup(self, opened: Opened, tmp_path: Path) -> None:
        words = ("-f", str(hostile_dump(tmp_path)), "-f", str(EDIT), "--until", "30m", "--keep-going", "-v")
        opened.page.on("dialog", lambda dialog: opened.messages.append(f"dialog: {dialog.message}"))
        page = opened.open(saved(tmp_path, *words))
        page.keyboard.press("e")
        assert page.locator("img, script").count() == 1
        assert HOSTILE.partition("\u202e")[0] in (page.locator("#qwen-1-worker").text_content() or "")
        page.locator("#-filter").fill("<script>alert(2)")
        page.locator("#-found:not(:empty)").wait_for()
        assert page.locator("#qwen-1-worker .pods li:visible").count() > 0
        assert opened.messages == []
        assert len(opened.requests) == 1


@pytest.mark.req("HP-004")
class TestTimeline:
    """A mark leads to reasons."""

    def test_a_click_on_a_termination_shows_its_reasons(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        page.locator(".set").last.evaluate("one => { one.open = false; }")
        page.get_by_label("replica 1 terminated at 09:40:29Z").click()
        entry = page.locator(".entry:target")
        assert entry.is_visible()
        assert "the delay of 30s ends at 2026-11-21T09:40:29Z" in entry.inner_text()
        assert is_in_view(page, ".entry:target")


@pytest.mark.req("HP-006")
class TestLinks:
    """A link opens what it leads to."""

    @pytest.mark.parametrize("name", ["qwen-0-worker", "qwen-1-worker-nxfng", "deepseek-0-decode-1"])
    def test_a_link_from_outside(self, name: str, opened: Opened, real: Path) -> None:
        page = opened.open(real, f"#{name}")
        assert page.locator(f'[id="{name}"]').is_visible()
        assert is_in_view(page, f'[id="{name}"]')

    def test_a_link_clears_the_filter(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        page.locator("#-filter").fill("embed")
        page.locator("#-found:not(:empty)").wait_for()
        assert page.locator("#qwen").is_hidden()
        page.get_by_label("replica 1 terminated at 09:40:29Z").click()
        assert page.locator("#qwen .entry").is_visible()
        assert page.locator("#-filter").input_value() == ""


@pytest.mark.req("HP-020")
@pytest.mark.req("HP-021")
class TestOtherCommands:
    """Their pages have the tree, the filter and the links of the plan's page."""

    def test_compare(self, opened: Opened, tmp_path: Path) -> None:
        path = saved(tmp_path, *COMMANDS["compare"], command="compare")
        page = opened.open(path, "#deepseek-0-prefill-0-pw")
        assert is_in_view(page, "[id='deepseek-0-prefill-0-pw']")
        page.locator("#-filter").fill("spared")
        page.locator("#-found:not(:empty)").wait_for()
        assert page.locator("#-found").inner_text() == "2 entries match"
        assert page.locator("#qwen .item").is_visible()
        assert page.locator("#embed").is_hidden()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="no node 2").click()
        assert page.locator("#-found").inner_text() == "2 entries match"
        assert page.locator(".pods li:visible").count() == 2
        page.get_by_role("button", name="no node 2").click()
        page.get_by_label("replica 1 terminated at 09:40:29Z").click()
        assert is_in_view(page, "[id='qwen-1']")
        assert opened.messages == []

    def test_simulate(self, opened: Opened, tmp_path: Path) -> None:
        page = opened.open(saved(tmp_path, *COMMANDS["simulate"], command="simulate"), "#llama-1-worker")
        assert is_in_view(page, "[id='llama-1-worker']")
        page.keyboard.press("/")
        page.keyboard.type("TERMINATES")
        page.locator("#-found:not(:empty)").wait_for()
        shown = page.locator(".report .item:visible")
        assert shown.count() == 1
        assert "replica 0 of the set is terminated as a whole" in shown.inner_text()
        page.locator("#-main").focus()
        page.keyboard.press("?")
        assert page.locator("[id='-keys']").is_visible()


@pytest.mark.req("HP-007")
class TestOnDemand:
    """Rules and differences appear by a click."""

    def test_rule_and_difference_on_demand(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        rule = page.locator("[id='-rule-GF-076']")
        assert rule.is_hidden()
        page.locator(".entry button.rule", has_text="GF-076").click()
        assert rule.is_visible()
        page.keyboard.press("Escape")
        assert rule.is_hidden()
        page.locator("#qwen > .steps > summary").click()
        step = page.locator("#qwen .step", has_text="status of PodClique qwen-1-worker").first
        assert step.locator("pre").is_hidden()
        step.locator("summary").click()
        assert step.locator("pre").inner_text().splitlines()[1:3] == [
            "-   scheduleGatedReplicas: 2",
            "+   scheduleGatedReplicas: 0",
        ]


@pytest.mark.req("HP-009")
class TestManyPods:
    """A large page is painted soon."""

    def test_10000_pods(self, opened: Opened, tmp_path: Path) -> None:
        dump = tmp_path / "dump.json"
        write_list(dump, Form.COMPACT, 10_000, owners=True)
        page = opened.open(saved(tmp_path, "-f", str(dump), "--now", NOW, "--rules", "design"))
        painted = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
        assert 0 < painted < LATEST_PAINT
        assert page.locator(".pods > li").count() >= 10_000
        page.locator("#-filter").fill("llm-00007-1-frontend")
        page.locator("#-found:not(:empty)").wait_for()
        assert page.locator(".set:visible").count() == 1
        assert opened.messages == []


class TestHP013:
    """A page MUST be usable with the keyboard alone, in a light and a dark theme, on a screen of 390 pixels, and
    printed. Without its script it still shows everything.
    """

    def test_filter_by_name_and_state(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        page.locator("#-filter").fill("prefill-0-pw")
        page.locator("#-found:not(:empty)").wait_for()
        assert page.locator("[id='deepseek-0-prefill-0-pw']").is_visible()
        assert page.locator("[id='deepseek-0-frontend']").is_hidden()
        page.locator("#-filter").fill("")
        page.get_by_role("button", name="no node 2").click()
        assert page.locator("#-found").inner_text() == "2 objects match"
        assert page.locator(".pods li:visible").count() == 2
        page.get_by_role("button", name="waiting 2").click()
        assert page.locator("#-found").inner_text() == "2 objects match"
        assert page.locator("[id='qwen-1-router']").is_visible()
        assert page.locator("[id='qwen-0']").is_hidden()
        page.get_by_role("button", name="waiting 2").click()
        assert page.locator("#-found").is_hidden()
        assert page.locator("[id='embed']").is_visible()

    def test_keys(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        page.keyboard.press("/")
        assert page.evaluate("() => document.activeElement.id") == "-filter"
        page.keyboard.type("worker")
        page.locator("#-found:not(:empty)").wait_for()
        page.keyboard.press("Escape")
        assert page.locator("#-filter").input_value() == ""
        page.locator("#-main").focus()
        page.keyboard.press("c")
        assert page.locator(".set[open]").count() == 0
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        assert page.locator(".set[open]").count() == 1
        page.keyboard.press("e")
        assert page.locator(".clique:not([open])").count() == 0
        page.keyboard.press("?")
        assert page.locator("[id='-keys']").is_visible()

    @pytest.mark.parametrize(
        ("opened", "first"), [({"color_scheme": "light"}, "light"), (PHONE, "dark")], indirect=["opened"]
    )
    def test_theme(self, first: str, opened: Opened, real: Path) -> None:
        page = opened.open(real)

        def background() -> str:
            return str(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))

        before = background()
        assert before == {"light": "rgb(246, 247, 249)", "dark": "rgb(14, 17, 22)"}[first]
        page.locator("[id='-theme']").click()
        switched = background()
        assert switched != before
        page.reload()
        assert background() == switched

    @pytest.mark.parametrize("opened", [PHONE], indirect=True)
    def test_a_phone(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        page.keyboard.press("e")
        assert page.evaluate("() => document.documentElement.scrollWidth") == 390

    @pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
    def test_without_script(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        assert page.locator("#-filter").is_hidden()
        assert page.locator(".entry").first.is_visible()
        page.locator("#embed-0 > summary").click()
        assert page.locator("#embed-0-emb").is_visible()

    def test_printed(self, opened: Opened, real: Path) -> None:
        page = opened.open(real)
        page.emulate_media(media="print")
        assert page.locator("header").is_hidden()
        assert page.locator(".entry").first.is_visible()
        assert page.locator("[id='-rule-GF-076']").is_visible()
        assert len(page.pdf()) > 10_000

    @pytest.mark.parametrize("opened", [{}, PHONE], indirect=True)
    @pytest.mark.parametrize("command", ["plan", "simulate", "compare"])
    def test_accessibility(self, command: str, opened: Opened, real: Path, tmp_path: Path, axe: str) -> None:
        path = real if command == "plan" else saved(tmp_path, *COMMANDS[command], command=command)
        # The file without its policy: axe is a script that the policy would refuse.
        bare = tmp_path / "bare.html"
        text = path.read_text(encoding="utf-8")
        begin = text.index('<meta http-equiv="Content-Security-Policy"')
        bare.write_text(text[:begin] + text[text.index("\n", begin) :], encoding="utf-8")
        page = opened.open(bare)
        if command == "plan":
            page.evaluate("() => document.querySelectorAll('.set:not(#deepseek)').forEach(one => one.remove())")
            page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert serious_findings(page, axe) == []
