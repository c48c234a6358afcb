"""The dashboard against the registry, and against what Grafana loads."""

import json
import re
from importlib import import_module
from itertools import combinations
from typing import Any, Final

import pytest

from grove_shell.monitoring.dashboard import grafana_dashboard
from grove_shell.monitoring.dashboard_panels import DATASOURCE, WIDTH
from grove_shell.monitoring.metric_descriptions import operator_metric_descriptions, webhook_metric_descriptions
from grove_shell.monitoring.monitoring_manifests import dashboard_text
from tests.monitoring.expressions import metrics_in, unknown_names

Json = dict[str, Any]
PANELS: Final[list[Json]] = grafana_dashboard()["panels"]
VARIABLES: Final[list[Json]] = grafana_dashboard()["templating"]["list"]
QUERIES: Final = [target["expr"] for panel in PANELS for target in panel.get("targets", [])]
FILLED_IN: Final = re.compile(r'=~"\$(\w+)"|\[\$(__\w+)\]')
OF_GRAFANA: Final = frozenset({"__rate_interval", "__range"})


@pytest.mark.req("AL-011")
@pytest.mark.parametrize("query", QUERIES)
def test_al001_a_panel_reads_only_what_is_served(query: str) -> None:
    assert metrics_in(query)
    assert unknown_names(query) == []


def test_al001_a_variable_reads_only_what_is_served() -> None:
    for variable in VARIABLES[1:]:
        series, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"]).groups()  # type: ignore[union-attr]  # another text fails the test
        named = re.match(r'\{__name__=~"([^"]+)"', series)
        expressions = named[1].split("|") if named else [series]
        assert [unknown_names(f"sum by ({label}) ({each})") for each in expressions] == [[]] * len(expressions)


def test_al011_every_metric_has_a_panel() -> None:
    shown = {re.sub("_bucket$", "", name) for query in QUERIES for name in metrics_in(query)}
    assert shown == {metric.name for metric in (*operator_metric_descriptions(), *webhook_metric_descriptions())}
    titles = [panel["title"] for panel in PANELS]
    assert len(set(titles)) == len(titles)
    assert all(panel["description"] for panel in PANELS if panel["type"] != "row")


def test_al011_no_two_panels_overlap() -> None:
    def cells(panel: Json) -> set[tuple[int, int]]:
        place = panel["gridPos"]
        return {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}

    taken = [cells(panel) for panel in PANELS]
    assert not [1 for one, other in combinations(taken, 2) if one & other]
    assert max(x for each in taken for x, _ in each) < WIDTH


def test_al011_ids_variables_and_data_sources_are_those_that_grafana_needs() -> None:
    dashboard = json.loads(dashboard_text())
    assert dashboard == grafana_dashboard()
    assert isinstance(dashboard["schemaVersion"], int)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}", dashboard["uid"])
    ids = [panel["id"] for panel in PANELS]
    assert sorted(ids) == list(range(1, len(PANELS) + 1))
    assert [(one["name"], one["type"]) for one in VARIABLES] == [
        ("datasource", "datasource"),
        ("job", "query"),
        ("namespace", "query"),
        ("set", "query"),
    ]
    assert DATASOURCE["uid"] == "${datasource}"
    for panel in PANELS:
        targets = panel.get("targets", [])
        assert (panel["type"] == "row") is not bool(targets)
        assert len({target["refId"] for target in targets}) == len(targets)
        assert all(one["datasource"] == DATASOURCE for one in (*targets, *([panel] if targets else [])))


@pytest.mark.parametrize("query", QUERIES)
def test_al011_a_query_uses_variables_that_are_there(query: str) -> None:
    names = [first or second for first, second in FILLED_IN.findall(query)]
    assert "job" in names
    assert set(names) <= {variable["name"] for variable in VARIABLES} | OF_GRAFANA
    assert "$" not in FILLED_IN.sub("", query)


def test_al011_grafanas_own_model_keeps_everything() -> None:
    """Grafana's library for dashboards reads the file and writes the same again: it knows every field."""
    pytest.importorskip("grafana_foundation_sdk", reason="needs grafana-foundation-sdk")
    models, encoder, plugins = (
        import_module(f"grafana_foundation_sdk.{name}") for name in ("models.dashboard", "cog.encoder", "cog.plugins")
    )
    plugins.register_default_plugins()  # the options of each type of panel, and the queries of Prometheus

    def written_again(dashboard: Json) -> Any:
        return json.loads(json.dumps(models.Dashboard.from_json(dashboard), cls=encoder.JSONEncoder))

    given = json.loads(dashboard_text())
    assert contained(given, written_again(given)) == []
    spoilt = json.loads(dashboard_text().replace('"legendFormat"', '"legend"').replace('"gridPos"', '"grid"'))
    assert contained(spoilt, written_again(spoilt))


def contained(given: Any, written: Any, path: str = "") -> list[str]:
    """The paths of what is not written as it was given; more may be written."""
    if isinstance(given, dict) and isinstance(written, dict):
        return [found for key in given for found in contained(given[key], written.get(key), f"{path}.{key}")]
    if isinstance(given, list) and isinstance(written, list) and len(given) == len(written):
        pairs = enumerate(zip(given, written, strict=True))
        return [found for number, (one, other) in pairs for found in contained(one, other, f"{path}[{number}]")]
    return [] if given == written else [f"{path}: {given!r} became {written!r}"]
