"""Pages of the rule catalogue, one for each prefix."""

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

from docs.generator.markdown import prose, slug, table
from grove_core.areas.gang_termination.design.clique_judgement import BREACH_TABLE
from grove_shell.catalogue.specification_rules import (
    SpecificationRule,
    reason_codes_by_rule_number,
    specification_rules_by_number,
)

_SPECS: Final = Path(__file__).parents[2] / "specs"
_AREAS: Final = re.compile(r"^\| ([A-Z]{2}) \| \[(\w+)\.md\]\(\S+\) \| (.+) \|$", re.MULTILINE)
_STORY: Final = re.compile(r"^## Story\n\n(.*?)\n\n## ", re.MULTILINE | re.DOTALL)


@cache
def areas() -> dict[str, tuple[str, str]]:
    """Return for each prefix the name of its file and its subject, as ``specs/README.md`` lists them."""
    text = (_SPECS / "README.md").read_text(encoding="utf-8")
    return {prefix: (name, governs) for prefix, name, governs in _AREAS.findall(text)}


def rule_pages() -> dict[str, str]:
    """Return each page by its path below ``reference/rules``."""
    return {"index.md": _index(), **{f"{name}.md": _area(prefix) for prefix, (name, _) in areas().items()}}


def _index() -> str:
    counts = Counter(rule.id[:2] for rule in specification_rules_by_number().values())
    rows = [
        (prefix, f"[{name}]({name}.md)", str(counts[prefix]), governs) for prefix, (name, governs) in areas().items()
    ]
    return "\n".join(
        (
            "# Rules\n",
            f"The program has all {len(specification_rules_by_number())} rules: `grove rules NUMBER` prints one. Each",
            "has a number that is never used again, and one requirement with one MUST. The number stands at the end of",
            "each line that gives a reason, so an answer can be followed back to its sentence.\n",
            table(("prefix", "area", "rules", "what it governs"), rows),
            "`kind` is `decision` (it picks a verdict, and has a reason code), `admission` (a manifest is accepted or",
            "refused), `invariant`, `progress` or `naming`.\n",
        )
    )


def _area(prefix: str) -> str:
    name, governs = areas()[prefix]
    story = _STORY.search((_SPECS / f"{name}.md").read_text(encoding="utf-8"))
    rules = [rule for rule in specification_rules_by_number().values() if rule.id.startswith(f"{prefix}-")]
    return "\n".join(
        (
            f"# {prefix}: {_title(name)}\n",
            f"{governs[0].upper()}{governs[1:]}. {len(rules)} rules of `specs/{name}.md`.\n",
            *((story[1] + "\n",) if story else ()),
            *((_breach_table(),) if prefix == "GT" else ()),
            *map(_rule, rules),
        )
    )


def _title(name: str) -> str:
    """Return the title of an area: abbreviations in capitals, and in plain words which operator it is about."""
    words = name.replace("mnnvl", "MNNVL").replace("html", "HTML").replace("_field", " (Go operator)")
    return words.replace("_", " ")


def _breach_table() -> str:
    """Return the table of the rules that decide whether a PodClique is breached, in the order of their evaluation."""
    rows = [
        (f"{place}", f"`{row.breach.value}`", f"`{row.why.code}`", _linked(row.why.requirement))
        for place, row in enumerate(BREACH_TABLE, start=1)
    ]
    return "\n".join(
        (
            "Whether a PodClique is breached is evaluated in this order. The first rule that applies decides: its",
            "status and reason become those of the condition `MinAvailableBreached`.\n",
            table(("", "status", "reason", "rule"), rows),
        )
    )


def heading_of(rule: SpecificationRule) -> str:
    """Return the heading of a rule."""
    return prose(f"{rule.id} {rule.title}")


def _rule(rule: SpecificationRule) -> str:
    code = reason_codes_by_rule_number().get(rule.id)
    lines = [
        ("code", f"`{code}`" if code else ""),
        ("kind", rule.rule_kind),
        ("source", prose(rule.items.get("source", ""))),
        ("because", prose(rule.items.get("because", ""))),
        ("instead of", _linked(rule.replaced_rule_number)),
        ("releases", ", ".join(rule.go_operator_generations)),
    ]
    listed = [f"- {key}: {words}" for key, words in lines if words]
    listed += [f"- {prose(detail)}" for detail in rule.details]
    return "\n".join((f"## {heading_of(rule)} {{ #{slug(rule.id)} }}\n", f"> {prose(rule.text)}\n", *listed, ""))


def _linked(number: str) -> str:
    """Return a rule number as a link to its rule."""
    return f"[{number}]({areas()[number[:2]][0]}.md#{slug(number)})" if number else ""
