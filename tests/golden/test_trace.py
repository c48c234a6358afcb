"""Every rule of ``specs/`` is cited by code, tests and golden cases, and every citation names a rule."""

import difflib
from typing import Final

import pytest

from grove_shell.catalogue.specification_rules import RetiredRule, SpecificationRule
from tests.golden.citations import (
    Citation,
    cited_in,
    guarantees_in,
    members_in,
    mentions_in,
    quotes_in,
    rows_in,
    rules_shown_in,
)
from tests.golden.sources import source_entries, sources_named_in
from tests.golden.spec_rules import NOT_A_RULE, checked_retired_rules_in, checked_rules_in, digest_of
from tests.golden.tracing import ROOT, Trace, trace_of

HOW_TO_WRITE: Final = "python -m tests.golden.tracing --write"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of()


def report(what: str, offenders: list[str]) -> str:
    return "\n".join(["", f"{len(offenders)} {what}:", *(f"  {offender}" for offender in offenders)])


class TestTheProject:
    """The repository as it stands."""

    def test_the_trace_is_not_empty(self, trace: Trace) -> None:
        assert {"PL-001", "GT-033"} <= trace.by_id.keys()
        assert trace.members
        assert trace.tests
        assert trace.case_names

    def test_rules_are_well_written(self, trace: Trace) -> None:
        found = trace.badly_written()
        assert not found, report("faults in specs/", found)

    def test_examples_named_by_rules_exist(self, trace: Trace) -> None:
        found = trace.missing_examples()
        assert not found, report("examples that do not exist", found)

    def test_what_rules_rest_on_can_be_looked_up(self, trace: Trace) -> None:
        found = trace.source_problems()
        assert not found, report("sources without an entry, or entries without a rule", found)

    def test_cited_rules_exist_and_are_not_retired(self, trace: Trace) -> None:
        found = trace.unknown_or_retired()
        assert not found, report("citations of rules that do not exist or are retired", found)

    def test_every_rule_is_tested_or_says_why_not(self, trace: Trace) -> None:
        found = trace.untested()
        assert not found, report(
            "rules without a test, a golden case or a line 'open:', 'waived:', 'by construction:'", found
        )

    def test_decisions_and_admissions_have_one_member_each(self, trace: Trace) -> None:
        found = trace.without_one_member()
        assert not found, report("rules that should have exactly one member in a rules.py", found)

    def test_classes_say_the_sentence_they_are_named_after(self, trace: Trace) -> None:
        found = trace.misquoted()
        assert not found, report(
            "classes of tests whose docstring is not the sentence of their rule, or says it again", found
        )

    def test_guarantees_name_the_rules_that_keep_them(self, trace: Trace) -> None:
        found = trace.guarantees_without_rule()
        assert not found, report("guarantees that no rule keeps", found)

    def test_every_reason_is_in_a_golden_plan(self, trace: Trace) -> None:
        found = trace.reasons_in_no_plan()
        assert not found, report("reasons that no golden plan shows", found)

    def test_the_matrix_is_up_to_date(self, trace: Trace) -> None:
        path = ROOT / "specs" / "trace.txt"
        stored = path.read_text(encoding="utf-8") if path.exists() else ""
        changed = "\n".join(
            difflib.unified_diff(stored.splitlines(), trace.text().splitlines(), "stored", "now", lineterm="", n=0)
        )
        assert stored == trace.text(), f"\nspecs/trace.txt is out of date; {HOW_TO_WRITE}\n{changed}"


RULE: Final = """\
# Area (QQ)

### A group of rules

### QQ-010 — First things first

> The first thing MUST
> come first.

Some words of explanation.

- kind: decision
- source: a page,
  and the next one
"""


def a_rule(number: str, kind: str = "decision", **items: str) -> SpecificationRule:
    text = "It MUST be so."
    return SpecificationRule(
        id=number, title="So", text=text, items={"kind": kind, **items}, place=f"specs/q.md:{number[-1]}"
    )


def given_up(number: str, now: str) -> RetiredRule:
    return RetiredRule(id=number, title="So", now=now, place="specs/retired.md:7")


class TestReadingSpecs:
    """Rules come from headings, quotes and lists of spec files."""

    def test_a_rule_is_read_whole(self) -> None:
        assert checked_rules_in(RULE, "q.md") == (
            [
                SpecificationRule(
                    id="QQ-010",
                    title="First things first",
                    text="The first thing MUST come first.",
                    items={"kind": "decision", "source": "a page, and the next one"},
                    place="q.md:5",
                )
            ],
            [],
        )

    def test_its_times_limits_and_cases_are_in_tables(self) -> None:
        table = "\n## Cases\n\n| rule | case | what follows |\n|---|---|---|\n| QQ-010 | a tie | the first |\n"
        ((rule,), problems) = checked_rules_in(RULE + table, "q.md")
        assert (rule.details, problems) == (("a tie: the first",), [])

    def test_the_digest_knows_words_and_not_lines(self) -> None:
        (first,), _ = checked_rules_in(RULE, "q.md")
        (wrapped,), _ = checked_rules_in(RULE.replace("MUST\n> come", "MUST come"), "q.md")
        (changed,), _ = checked_rules_in(RULE.replace("come first.", "come last."), "q.md")
        assert digest_of(first) == digest_of(wrapped)
        assert digest_of(first) != digest_of(changed)
        assert len(digest_of(first)) == len("3f9c1a7e")

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ("### QQ-010 —", "### QQ-010 -", "q.md:5: write a rule's heading as"),
            ("### QQ-010 —", "## QQ-10 —", "q.md:5: write a rule's heading as"),
            ("> The first thing MUST\n> come first.", "", "q.md:5: QQ-010 has no sentence in a quote block"),
            ("kind: decision", "kind: wish", "q.md:5: QQ-010 is of kind 'wish', which is none of"),
            ("- kind: decision\n", "", "q.md:5: QQ-010 is of kind '', which is none of"),
            ("thing MUST", "thing should", "q.md:5: QQ-010 has no MUST"),
            ("- source", "- kind: naming\n- source", "q.md:5: QQ-010 says 'kind' twice"),
            ("- source", "- open:\n- source", "q.md:5: QQ-010 says 'open' without saying why"),
            ("come first.", "come first." + " so" * 50, "q.md:5: QQ-010 has a sentence of 56 words, more than 50"),
            ("- source", f"- because:{' so' * 61}\n- source", "q.md:5: QQ-010 has a because of 61 words, more than 60"),
            ("- source", "- because: it MUST\n- source", "q.md:5: QQ-010 requires something in its because"),
        ],
    )
    def test_bad_form_is_reported_with_its_place(self, old: str, new: str, problem: str) -> None:
        _, problems = checked_rules_in(RULE.replace(old, new), "q.md")
        assert any(line.startswith(problem) for line in problems), problems


class TestReadingCitations:
    """Citations come from rule enums, test names, marks, names of golden cases and plans."""

    def test_members_of_rule_enums(self) -> None:
        source = (
            "class Why(Rule):\n"
            "    '''Words.'''\n"
            "    FIRST = RuleSentence('QQ-010', 'a {fact}')\n"
            "    SECOND = RuleSentence(requirement='QQ-011', sentence='b', code='B')\n"
            "    other = 1\n"
        )
        assert members_in(source, "rules.py") == [
            Citation("QQ-010", "rules.py:3", "FIRST", "First"),
            Citation("QQ-011", "rules.py:4", "SECOND", "B"),
        ]

    def test_names_classes_and_marks_of_tests(self) -> None:
        source = (
            "@pytest.mark.req('QQ-012', 'QQ-013')\n"
            "def test_qq010_first(): ...\n"
            "def test_nothing_to_cite(): ...\n"
            "def helper_qq019_x(): ...\n"
            "class TestQQ011:\n"
            "    def test_one(self): ...\n"
            "    @pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.req('QQ-014'))])\n"
            "    def test_two(self, x): ...\n"
            "TestQQ015 = World.TestCase\n"
        )
        assert cited_in(source, "t.py") == [
            Citation("QQ-010", "t.py:2", "test_qq010_first"),
            Citation("QQ-011", "t.py:6", "TestQQ011.test_one"),
            Citation("QQ-011", "t.py:8", "TestQQ011.test_two"),
            Citation("QQ-012", "t.py:2", "test_qq010_first"),
            Citation("QQ-013", "t.py:2", "test_qq010_first"),
            Citation("QQ-014", "t.py:8", "TestQQ011.test_two"),
            Citation("QQ-015", "t.py:9", "TestQQ015"),
        ]

    def test_what_classes_say_they_show(self) -> None:
        source = (
            "class TestQQ010:\n    'First\\n    things.\\n\\n    And more.'\n"
            "class TestQQ011:\n    x = 1\n"
            "class TestOther:\n    'Words.'\n"
        )
        assert quotes_in(source, "t.py") == [
            (Citation("QQ-010", "t.py:1", "TestQQ010"), "First things."),
            (Citation("QQ-011", "t.py:3", "TestQQ011"), ""),
        ]

    def test_guarantees_are_read_sentence_by_sentence(self) -> None:
        text = "# Area\n\n## Guarantees\n\nOne (QQ-010,\nQQ-011). Two.\n\n## Rules\n\nWords.\n"
        assert guarantees_in(text, "q.md") == [("q.md:3", "One (QQ-010, QQ-011)."), ("q.md:3", "Two.")]
        assert guarantees_in("# Area\n", "q.md") == [("q.md", "")]

    def test_a_mark_for_a_whole_file(self) -> None:
        source = "pytestmark = [pytest.mark.req('QQ-012')]\ndef test_x(): ...\n"
        assert cited_in(source, "t.py") == [Citation("QQ-012", "t.py:2", "test_x")]

    @pytest.mark.parametrize("name", ["test_qq0101_x", "test_q010_x", "test_qq010x", "test_x_qq010"])
    def test_similar_names_do_not_match(self, name: str) -> None:
        assert cited_in(f"def {name}(): ...", "t.py") == []

    def test_reasons_of_a_plan(self) -> None:
        plan = 'because:\n- {rule: A, requirement: QQ-010}\n- requirement: \'QQ-011\'\n- "requirement": "QQ-012"\n'
        plan += "- SomethingHappened QQ-014:\n    since: QQ-015\n- NothingHappened QQ-016\nmessage: Something QQ-017\n"
        shown = {"QQ-010", "QQ-011", "QQ-012", "QQ-014", "QQ-016"}
        assert rules_shown_in(plan + "sentence: QQ-013 is not a reason\n") == shown

    def test_rows_of_times_limits_and_cases_belong_to_rules(self) -> None:
        table = "| rule | what | value |\n|---|---|---|\n| QQ-010 | a pause | a minute |\n| QQ | a prefix | |\n"
        assert rows_in(table, "q.md") == [Citation("QQ-010", "q.md:3", "a row")]

    def test_numbers_in_comments_count_where_there_is_a_spec(self) -> None:
        source = "# QQ-010, and RFC-123, ZZ-100\nx = 1\n"
        assert mentions_in(source, "x.py", frozenset({"QQ"})) == [Citation("QQ-010", "x.py:1", "a line")]


class TestReadingSources:
    """Sources of a rule come from its ``source:``."""

    @pytest.mark.parametrize(
        ("source", "named"),
        [
            ("decisions D7, D22; as QQ-010", ["D7", "D22", "QQ-010"]),
            ("fault catalogue, F2 to F4", ["F2", "F3", "F4", "F2", "F4", "fault catalogue"]),
            ("the Go operator, since generation F3", ["the Go operator"]),
            ("invariants 2, IX1; edge cases 5 and 6", ["IX1", "invariant 2", "IX1", "edge case 5", "edge case 6"]),
            ("grove-api 12.3, 12.4", ["grove-api 12.3", "grove-api 12.4", "grove-api"]),
            ("grove-api 12.2, 49", ["grove-api 12.2", "grove-api"]),
            ('seed 002, "One" and "Two"', ["seed 002", 'seed 002, "One"', 'seed 002, "Two"']),
            ('design principle "so it is"', ["design principle", 'design principle, "so it is"']),
            ('"Missing is not empty"; the page says "no"', ['"Missing is not empty"']),
            (
                "decision 0012; specs/decisions/0003; specs/q.md",
                ["specs/decisions/0012", "specs/decisions/0003", "specs/q.md"],
            ),
            ("what people expect: 64 GPUs are not a name; decided here", []),
        ],
    )
    def test_names_and_titles(self, source: str, named: list[str]) -> None:
        assert list(sources_named_in(source)) == named

    def test_entries_have_a_sentence(self) -> None:
        text = '# Head\n\n- `D1`: a sentence.\n- `D2`:\n- `seed 000, "So"`: one\n  on two lines.\n- prose\n'
        assert source_entries(text) == ["D1", 'seed 000, "So"']


class TestTheChecks:
    """Each check reports its own problem, and none of them reports a sound trace."""

    SOUND: Final = Trace(
        rules=(a_rule("QQ-010", example="qq010_a"), a_rule("QQ-011", kind="invariant")),
        members=(Citation("QQ-010", "rules.py:1", "FIRST"),),
        tests=(Citation("QQ-011", "t.py:1", "test_qq011"),),
        cases=(Citation("QQ-010", "golden/qq010_a", "its name"),),
        shown={"QQ-010": frozenset({"golden/qq010_a"})},
        case_names=frozenset({"qq010_a"}),
    )

    def test_a_sound_trace_is_sound(self) -> None:
        trace = self.SOUND
        assert trace.badly_written() == []
        assert trace.missing_examples() == []
        assert trace.source_problems() == []
        assert trace.unknown_or_retired() == []
        assert trace.untested() == []
        assert trace.without_one_member() == []
        assert trace.reasons_in_no_plan() == []
        assert trace.misquoted() == []
        assert trace.guarantees_without_rule() == []

    def test_a_number_used_twice(self) -> None:
        (problem,) = Trace(rules=(a_rule("QQ-010"), a_rule("QQ-010"))).badly_written()
        assert "QQ-010 is already used at" in problem

    def test_a_source_that_leads_nowhere(self) -> None:
        rules = (a_rule("QQ-010", source="decision D1; QQ-011; specs/decisions/0099"), a_rule("QQ-012"))
        wrong = Trace(rules=rules, sources=("D2", "D2"), files=frozenset({"specs/decisions/0001"})).source_problems()
        assert wrong == [
            f"specs/q.md:0: QQ-010 rests on {name}, which is not in specs/sources.md, no rule and no file"
            for name in ("D1", "QQ-011", "specs/decisions/0099")
        ] + ["specs/sources.md: no rule rests on D2", "specs/sources.md: D2 has two entries"]

    def test_an_unknown_rule(self) -> None:
        wrong = Trace(rules=(), tests=(Citation("QQ-099", "t.py:1", "test_qq099"),)).unknown_or_retired()
        assert wrong == ["t.py:1: test_qq099 cites QQ-099, which no spec states"]

    def test_a_retired_rule(self) -> None:
        retired = Trace(
            rules=(a_rule("QQ-011"),),
            retired=(given_up("QQ-010", "QQ-011"),),
            cases=(Citation("QQ-010", "golden/qq010_a", "its name"),),
        )
        assert retired.unknown_or_retired() == [
            "golden/qq010_a: its name cites QQ-010, which is retired (now: QQ-011)",
        ]
        assert retired.badly_written() == []

    def test_a_heir_that_does_not_exist(self) -> None:
        wrong = Trace(rules=(), retired=(given_up("QQ-010", "QQ-011"),)).unknown_or_retired()
        assert wrong == ["specs/retired.md:7: QQ-010 cites QQ-011, which no spec states"]

    @pytest.mark.parametrize("now", sorted(NOT_A_RULE))
    def test_a_rule_without_an_heir(self, now: str) -> None:
        assert Trace(rules=(), retired=(given_up("QQ-010", now),)).unknown_or_retired() == []

    def test_a_number_used_again(self) -> None:
        again = Trace(rules=(a_rule("QQ-010"), a_rule("QQ-011")), retired=(given_up("QQ-010", "QQ-011"),))
        assert again.badly_written() == ["specs/retired.md:7: QQ-010 is already used"]

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("| QQ-010 | So | QQ-011 |", ""),
            ("| QQ-010 | So |", "r.md:1: write '| XX-000 | title | XX-001 |', not '| QQ-010 | So |'"),
            ("| QQ-010 | So | long ago |", "r.md:1: QQ-010 must say which rule has it now, or one of "),
        ],
    )
    def test_the_table_of_given_up_numbers(self, line: str, problem: str) -> None:
        found, problems = checked_retired_rules_in(line, "r.md")
        assert (len(found), len(problems)) == ((0, 1) if problem else (1, 0))
        assert not problem or problems[0].startswith(problem)

    @pytest.mark.parametrize("excuse", ["open", "waived", "by construction"])
    def test_a_rule_without_a_test(self, excuse: str) -> None:
        assert Trace(rules=(a_rule("QQ-010", kind="invariant"),)).untested() == ["specs/q.md:0: QQ-010 — So"]
        assert Trace(rules=(a_rule("QQ-010", kind="invariant", **{excuse: "why"}),)).untested() == []

    def test_two_members_for_one_rule(self) -> None:
        members = (Citation("QQ-010", "rules.py:1", "FIRST"), Citation("QQ-010", "rules.py:2", "SECOND"))
        (problem,) = Trace(rules=(a_rule("QQ-010"),), members=members).without_one_member()
        assert problem == "specs/q.md:0: QQ-010 has 2 members: FIRST (rules.py:1), SECOND (rules.py:2)"

    def test_a_reason_in_no_plan(self) -> None:
        member = Citation("QQ-010", "rules.py:1", "FIRST")
        assert Trace(rules=(a_rule("QQ-010"),), members=(member,)).reasons_in_no_plan() == [
            "rules.py:1: FIRST (QQ-010) is the reason of nothing in tests/golden"
        ]
        assert Trace(rules=(a_rule("QQ-010", kind="admission"),), members=(member,)).reasons_in_no_plan() == []

    def test_a_class_that_says_something_else(self) -> None:
        rule = SpecificationRule(id="QQ-010", title="So", text="`x` MUST be so.", items={}, place="q.md:1")
        claim = Citation("QQ-010", "t.py:1", "TestQQ010")
        assert Trace(rules=(rule,), quotes=((claim, "``x`` MUST be so."),)).misquoted() == []
        assert Trace(rules=(rule,), quotes=((claim, "x is so."),)).misquoted() == [
            "t.py:1: TestQQ010 does not begin with the sentence of QQ-010: `x` MUST be so."
        ]

    def test_a_sentence_in_two_files(self) -> None:
        rule = SpecificationRule(id="QQ-010", title="So", text="x MUST be so.", items={}, place="q.md:1")
        quotes = tuple((Citation("QQ-010", place, "TestQQ010"), "x MUST be so.") for place in ("t.py:1", "u.py:1"))
        assert Trace(rules=(rule,), quotes=quotes).misquoted() == [
            "u.py:1: TestQQ010 says the sentence of QQ-010 a second time, after t.py:1"
        ]

    def test_a_guarantee_that_nothing_keeps(self) -> None:
        guarantees = (
            ("q.md:3", "So it is (QQ-010)."),
            ("q.md:3", "And so."),
            ("q.md:3", "Too (QQ-099)."),
            ("r.md", ""),
        )
        assert Trace(rules=(a_rule("QQ-010"),), guarantees=guarantees).guarantees_without_rule() == [
            "q.md:3: no rule keeps 'And so.'",
            "q.md:3: QQ-099 is to keep 'Too (QQ-099).', and does not hold",
            "r.md: guarantees nothing",
        ]

    def test_an_example_that_does_not_exist(self) -> None:
        assert Trace(rules=(a_rule("QQ-010", example="qq010_a"),)).missing_examples() == [
            "specs/q.md:0: QQ-010 names the example qq010_a, which is no golden case"
        ]

    def test_the_matrix_has_a_line_for_each_rule(self) -> None:
        *_, sums, _, first, second = self.SOUND.text().splitlines()
        assert sums == "# QQ  rules   2  members   1  golden    1  tests    1  neither  0"
        digest = digest_of(a_rule("QQ-010"))
        assert first.split() == ["QQ-010", digest, "rule", "FIRST", "golden", "1", "tests", "0", "So"]
        assert second.split() == ["QQ-011", digest, "rule", "-", "golden", "0", "tests", "1", "So"]
