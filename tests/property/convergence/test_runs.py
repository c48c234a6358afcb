"""Options, curves that end, the file of runs, and the table."""

import os
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.kernel.structs import replace
from grove_shell.converge.converge_option_parsing import (
    ConvergeCommandOptions,
    convergence_run_parameters_from_options,
)
from grove_shell.converge.model.convergence_model_run import (
    ModelConvergenceRunEngine,
    run_convergence_model,
    source_of_server_costs_text,
)
from grove_shell.converge.model.server_costs import (
    LARGEST_BYTES,
    SHIPPED,
    SIZES,
    default_model_server_costs,
    expected_watch_bytes,
    is_object_too_large,
    parse_model_server_costs,
)
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunOutcome,
    ConvergenceRunParameters,
    group_convergence_runs,
    run_parameter_caption_lines,
)
from grove_shell.converge.run_schedule import RemainingConvergenceRuns, run_scheduled_points
from grove_shell.converge.runs_csv_file import (
    convergence_runs_as_csv,
    parse_convergence_runs_csv,
    write_convergence_runs_csv,
)
from grove_shell.views.convergence.convergence_results import convergence_table_page
from tests.property.convergence.points import PROTOCOLS, expected_watch_events, point


def run(one: ConvergenceRunParameters, seconds: float | None = 4.0, **others: object) -> ConvergenceRun:
    outcome = ConvergenceRunOutcome.CENSORED if seconds is None else ConvergenceRunOutcome.CONVERGED
    return replace(ConvergenceRun(world="model", point=one, outcome=outcome, t_all_s=seconds), **others)  # type: ignore[arg-type]  # by name


def taken(schedule: RemainingConvergenceRuns, seconds: dict[int, float | None]) -> list[ConvergenceRunParameters]:
    """What a schedule has run, if runs of so many nodes take so long."""
    found = []
    while (one := schedule.take_next_point()) is not None:
        found.append(one)
        schedule.record_finished_run(run(one, seconds[one.nodes]))
    return found


class TestRanges:
    """````A..B```` is A, twice A and so on as long as it is below B, and B."""

    @pytest.mark.parametrize(
        ("text", "nodes"),
        [
            ("18..1152", [18, 36, 72, 144, 288, 576, 1152]),
            ("18..100", [18, 36, 72, 100]),
            ("4,2,9,4", [2, 4, 9]),
            ("2..5,3", [2, 3, 4, 5]),
            ("7..7", [7]),
        ],
    )
    def test_ranges(self, text: str, nodes: list[int]) -> None:
        points, problems = convergence_run_parameters_from_options(
            ConvergeCommandOptions(nodes=text, protocols=("ssa",), seeds="1")
        )
        assert not problems
        assert [one.nodes for one in points] == nodes


@pytest.mark.req("CL-005")
class TestBadInput:
    """Every problem of the options, of the files of costs and of runs, and of the cluster MUST be reported at
    once, with its place and advice, and nothing be run; runs of another experiment or setting in the file are
    such a problem.
    """

    def test_everything_at_once(self) -> None:
        arguments = ConvergeCommandOptions(
            nodes="18..4",
            protocols=("shraded", "rmw", "x"),
            clique_size="no",
            limit="-1",
            seeds="0",
            arrival="2",
            readiness="1 s",
            limiter="5",
            server_cores="0",
            run_limit="0s",
        )
        points, problems = convergence_run_parameters_from_options(arguments)
        assert points == ()
        assert [problem.path for problem in problems] == [
            "--nodes",
            "--clique-size",
            "--limit",
            "--seeds",
            "--arrival",
            "--readiness",
            "--run-limit",
            "--limiter",
            "--server-cores",
            "--protocol",
            "--protocol",
        ]
        assert 'did you mean "sharded"?' in str(problems[-2])
        assert "did you mean" not in str(problems[-1])

    @pytest.mark.req("CL-005")
    def test_a_clique_above_the_limit(self) -> None:
        _, problems = convergence_run_parameters_from_options(ConvergeCommandOptions(clique_size="9,18,36,72"))
        assert [problem.got for problem in problems] == ["36", "72"]
        assert "--limit raises it" in problems[0].expected
        assert convergence_run_parameters_from_options(ConvergeCommandOptions(clique_size="9,72", limit="72"))[1] == ()
        assert [
            problem.path
            for problem in convergence_run_parameters_from_options(ConvergeCommandOptions(limit="10001"))[1]
        ] == ["--limit"]

    @pytest.mark.parametrize("limiter", ["5/0", "0/10", "nan/10", "1e99/1", "5/10/1", "a/b", "-5/10", ""])
    def test_limiters_that_are_none(self, limiter: str) -> None:
        assert [
            problem.path
            for problem in convergence_run_parameters_from_options(ConvergeCommandOptions(limiter=limiter))[1]
        ] == ["--limiter"]

    @given(st.text(max_size=12), st.text(max_size=12))
    def test_no_text_is_an_error_of_ours(self, one: str, other: str) -> None:
        arguments = ConvergeCommandOptions(
            nodes=one, protocols=(other,), seeds="1", arrival=one, limiter=other, server_cores=one
        )
        points, problems = convergence_run_parameters_from_options(arguments)
        assert bool(points) != bool(problems)


class TestCV020:
    """Once the median time of a protocol at some number of nodes is more than 300 s, that protocol MUST NOT be run with
    more nodes.
    """

    def test_the_first_slow_one_is_the_last(self) -> None:
        points, _ = convergence_run_parameters_from_options(
            ConvergeCommandOptions(nodes="18..144", protocols=("rmw",), seeds="3")
        )
        schedule = RemainingConvergenceRuns(points, {})
        assert [one.nodes for one in taken(schedule, {18: 3, 36: 301, 72: 3})] == [18] * 3 + [36] * 3
        assert list(schedule.curves_ended_early.values()) == [36]
        assert schedule.unstarted_point_count == 0

    @pytest.mark.req("CV-021")
    def test_what_never_converged_is_slow(self) -> None:
        points, _ = convergence_run_parameters_from_options(
            ConvergeCommandOptions(nodes="18..72", protocols=("rmw",), seeds="1")
        )
        assert [one.nodes for one in taken(RemainingConvergenceRuns(points, {}), {18: 3, 36: None})] == [18, 36]

    def test_other_curves_go_on(self) -> None:
        points, _ = convergence_run_parameters_from_options(ConvergeCommandOptions(nodes="18..36", seeds="1"))
        schedule = RemainingConvergenceRuns(points, {})
        while (one := schedule.take_next_point()) is not None:
            schedule.record_finished_run(run(one, 999 if one.protocol is RegistrationProtocol.SSA else 3))
        assert {name.protocol: nodes for name, nodes in schedule.curves_ended_early.items()} == {
            RegistrationProtocol.SSA: 18
        }

    def test_a_step_waits_for_the_one_before(self) -> None:
        points, _ = convergence_run_parameters_from_options(
            ConvergeCommandOptions(nodes="18,36", protocols=("rmw",), seeds="2")
        )
        schedule = RemainingConvergenceRuns(points, {})
        first, second = schedule.take_next_point(), schedule.take_next_point()
        assert first is not None
        assert second is not None
        assert schedule.take_next_point() is None
        schedule.record_finished_run(run(first))
        assert schedule.take_next_point() is None
        schedule.record_finished_run(run(second))
        third = schedule.take_next_point()
        assert third is not None
        assert third.nodes == 36


@pytest.mark.req("CV-030")
class TestKnownRuns:
    """Runs in the file are not run again."""

    def test_known_runs_count_and_are_not_taken(self) -> None:
        points, _ = convergence_run_parameters_from_options(
            ConvergeCommandOptions(nodes="18..72", protocols=("rmw",), seeds="2")
        )
        known = {one: run(one) for one in points if one.nodes == 18 or one.seed == 0}
        assert taken(RemainingConvergenceRuns(points, known), {36: 3, 72: 3}) == [
            one for one in points if one not in known
        ]

    def test_a_curve_that_was_ended_stays_so(self) -> None:
        points, _ = convergence_run_parameters_from_options(
            ConvergeCommandOptions(nodes="18..72", protocols=("rmw",), seeds="1")
        )
        schedule = RemainingConvergenceRuns(points, {points[0]: run(points[0], None)})
        assert schedule.take_next_point() is None
        assert list(schedule.curves_ended_early.values()) == [18]


SECONDS = st.floats(0, 1e6)
RUNS = st.builds(
    ConvergenceRun,
    world=st.sampled_from(["model", "cluster"]),
    point=st.builds(
        ConvergenceRunParameters,
        protocol=st.sampled_from(PROTOCOLS),
        nodes=st.integers(1, 10**5),
        arrival_s=SECONDS,
        rate=SECONDS,
        server_cores=st.none() | st.integers(1, 99),
    ),
    outcome=st.sampled_from(list(ConvergenceRunOutcome)),
    setting=st.text(st.characters(codec="ascii", categories=("L", "P", "N")), max_size=20),
    t_all_s=st.none() | SECONDS,
    t_views_s=st.lists(SECONDS, max_size=5).map(lambda times: tuple(sorted(times))),
    cpu_server_s=SECONDS,
    cpu_harness_s=st.none() | SECONDS,
    watch_bytes=st.integers(0, 10**18),
)


@pytest.mark.req("CV-030")
class TestFileOfRuns:
    """The file reads back equal."""

    @given(st.lists(RUNS, max_size=4))
    def test_runs_read_back_equal(self, runs: list[ConvergenceRun]) -> None:
        assert parse_convergence_runs_csv(convergence_runs_as_csv(runs), "runs.csv") == (tuple(runs), ())

    def test_ten_thousand_moments_fit_into_a_cell(self) -> None:
        many = run(point(), t_views_s=tuple(number / 7 for number in range(20_000)))
        assert parse_convergence_runs_csv(convergence_runs_as_csv([many]), "runs.csv") == ((many,), ())


@pytest.mark.req("CL-005")
class TestBrokenRunFile:
    """A file of runs with problems."""

    def test_every_mistake_has_its_place(self) -> None:
        lines = convergence_runs_as_csv([run(point(nodes=36)), run(point(nodes=72))]).splitlines()
        lines[1] = lines[1].replace("sharded,36", "shard,-36")
        lines[2] = lines[2].replace("converged", "fine")
        read, faults = parse_convergence_runs_csv("\n".join([*lines, "rmw,1"]), "runs.csv")
        assert read == ()
        assert [str(fault) for fault in faults] == [
            'runs.csv:2:1: protocol: expected one of rmw, ssa, sharded, sharded-rmw, got "shard"',
            'runs.csv:2:7: nodes: expected a whole number, got "-36"',
            'runs.csv:3:49: outcome: expected one of converged, censored, not storable, got "fine"',
            "runs.csv:4:1: expected 33 cells, got 2",
        ]

    def test_columns_that_are_not_there_or_too_many(self) -> None:
        text = convergence_runs_as_csv([run(point())]).replace("nodes,", "nods,", 1).replace("seed,", "rate,", 1)
        _, faults = parse_convergence_runs_csv(text, "runs.csv")
        assert [(fault.expected, fault.got) for fault in faults] == [
            ("a column that is known", '"nods"'),
            ("each column once", '"rate"'),
            ("a column nodes", "none"),
            ("a column seed", "none"),
        ]

    @pytest.mark.parametrize("cell", ["nan", "inf", "-1", "1e", "", "1 2"])
    def test_numbers_that_are_none(self, cell: str) -> None:
        text = convergence_runs_as_csv([run(point(arrival_s=7.25))]).replace("7.25", cell)
        assert [fault.path for fault in parse_convergence_runs_csv(text, "runs.csv")[1]] == ["arrival_s"]

    def test_nothing_at_all(self) -> None:
        assert [fault.got for fault in parse_convergence_runs_csv("", "runs.csv")[1]] == ["nothing"]

    @given(st.text(max_size=60))
    def test_no_text_is_an_error_of_ours(self, text: str) -> None:
        runs, faults = parse_convergence_runs_csv(text, "runs.csv")
        assert bool(faults) or not runs


def test_cv030_the_file_is_whole_after_every_write(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    first = run(point())
    write_convergence_runs_csv(path, [first])
    write_convergence_runs_csv(path, [first, run(point(nodes=36))])
    assert [one.point.nodes for one in parse_convergence_runs_csv(path.read_text(encoding="utf-8"), "")[0]] == [18, 36]
    assert [found.name for found in tmp_path.iterdir()] == ["runs.csv"]


@pytest.mark.req("CV-021")
class TestNotStorable:
    """A point whose object is too large is shown, and not run."""

    @pytest.mark.parametrize(
        ("protocol", "fits", "too_many"),
        [
            (RegistrationProtocol.SSA, 3_260, 3_270),
            (RegistrationProtocol.RMW, 11_300, 11_400),
            (RegistrationProtocol.SHARDED, 1_940, 1_950),
        ],
    )
    def test_limits(self, protocol: RegistrationProtocol, fits: int, too_many: int) -> None:
        assert not is_object_too_large(protocol, fits)
        assert is_object_too_large(protocol, too_many)

    def test_managed_fields_are_dropped_where_objects_are_sent_whole(self) -> None:
        sizes = SIZES[RegistrationProtocol.RMW]
        assert sizes.stored_object_bytes(6_000) > sizes.stored_object_bytes(6_500)
        assert sizes.stored_object_bytes(6_500) < LARGEST_BYTES

    def test_such_a_point_is_not_played(self) -> None:
        found = run_convergence_model(point(RegistrationProtocol.SSA, 10_000), default_model_server_costs())
        assert (found.outcome, found.seconds_to_convergence, found.writes) == (
            ConvergenceRunOutcome.NOT_STORABLE,
            inf,
            0,
        )
        assert "not storable" in convergence_table_page([found], {}).plain_text

    def test_a_shard_is_as_large_as_its_clique(self) -> None:
        assert not is_object_too_large(RegistrationProtocol.SHARDED, 18)


@pytest.mark.req("CL-005")
class TestBrokenCosts:
    """A file of costs with problems."""

    def test_those_of_ours_can_be_read(self) -> None:
        assert SHIPPED.is_file()
        assert parse_model_server_costs({}) == (default_model_server_costs(), ())
        raw = default_model_server_costs().model_dump(by_alias=True)
        assert parse_model_server_costs(raw) == (default_model_server_costs(), ())

    @pytest.mark.req("CV-030")
    @given(st.text(min_size=1))
    def test_a_source_is_one_line_and_reads_back(self, source: str) -> None:
        """However it is written in the file of costs: a setting that changes is another setting."""
        costs, problems = parse_model_server_costs(
            {**default_model_server_costs().model_dump(by_alias=True), "source": source}
        )
        assert bool(problems) is not bool(source.split())
        assert problems or costs.source == " ".join(source.split())
        one = run(point(), setting=source_of_server_costs_text(costs))
        assert parse_convergence_runs_csv(convergence_runs_as_csv([one]), "runs.csv") == ((one,), ())

    def test_every_mistake_is_reported(self) -> None:
        raw = default_model_server_costs().model_dump(by_alias=True)
        del raw["wireUs"]
        _, problems = parse_model_server_costs({**raw, "seats": 0, "putNsPerByte": "60", "speed": 1, "kind": "Costs"})
        assert sorted(problem.path for problem in problems) == ["kind", "putNsPerByte", "seats", "speed", "wireUs"]


def both(engine: ModelConvergenceRunEngine) -> Iterator[ConvergenceRun]:
    points, _ = convergence_run_parameters_from_options(
        ConvergeCommandOptions(nodes="4,8", protocols=("ssa", "sharded"), seeds="2")
    )
    yield from run_scheduled_points(RemainingConvergenceRuns(points, {}), engine)


@pytest.mark.req("CV-002")
def test_cv003_parallel_runs_are_equal() -> None:
    def order(one: ConvergenceRun) -> tuple[str, int, int]:
        return one.point.protocol.short_name, one.point.nodes, one.point.seed

    alone = sorted(both(ModelConvergenceRunEngine(default_model_server_costs(), 1)), key=order)
    beside = sorted(both(ModelConvergenceRunEngine(default_model_server_costs(), 2)), key=order)
    assert alone == beside
    assert len(alone) == 8


class Mortal:
    """An engine whose process ends in the middle of the larger points."""

    world, setting, max_parallel = "model", "mortal", 2

    def run_point(self, one: ConvergenceRunParameters) -> ConvergenceRun:
        if one.nodes > 4:
            os._exit(1)
        return run(one)


def test_cv030_finished_runs_survive_a_dead_worker() -> None:
    points, _ = convergence_run_parameters_from_options(
        ConvergeCommandOptions(nodes="4,8", protocols=("ssa",), seeds="3")
    )
    runs = run_scheduled_points(RemainingConvergenceRuns(points, {}), Mortal())
    assert [next(runs).point.nodes for _ in range(3)] == [4, 4, 4]
    with pytest.raises(ChildProcessError, match="finished runs are kept"):
        next(runs)


@pytest.mark.req("CV-021")
class TestTable:
    """A line for each protocol and number of nodes, with median and span."""

    def test_a_line_for_each(self) -> None:
        runs = [run(point(protocol, nodes), 4.0) for protocol in PROTOCOLS for nodes in (18, 36)]
        lines = convergence_table_page(runs, {}).plain_text.splitlines()[1:9]
        assert [line.split()[:2] for line in lines] == [
            [protocol.short_name, str(nodes)] for protocol in PROTOCOLS for nodes in (18, 36)
        ]

    @pytest.mark.req("CV-021")
    def test_medians_and_what_did_not_converge(self) -> None:
        runs = [run(point(nodes=nodes, seed=seed), seconds) for nodes, seed, seconds in
                [(18, 0, 1.0), (18, 1, 5.0), (18, 2, None), (36, 0, None), (36, 1, None), (36, 2, 9.0)]]  # fmt: skip
        first, second = group_convergence_runs(runs)
        assert (first.seconds_to_convergence, first.shortest_and_longest_seconds) == (5.0, (1.0, inf))
        assert (second.seconds_to_convergence, second.shortest_and_longest_seconds) == (inf, (9.0, inf))
        text = convergence_table_page(runs, {}).plain_text
        assert "5.00 s" in text
        assert "> 600 s" in text


def test_cv021_quantiles_count_daemons_without_a_view() -> None:
    seen = run(point(nodes=100), t_views_s=tuple(float(number) for number in range(1, 51)))
    assert [seen.seconds_until_share_observed(share) for share in (0.0, 0.01, 0.29, 0.5, 0.51, 1.0)] == [
        1.0,
        1.0,
        29.0,
        50.0,
        None,
        None,
    ]


@pytest.mark.req("CV-021")
def test_cv021_captions_name_every_parameter() -> None:
    runs = [run(point(nodes=18, seed=seed, rate=0.0, burst=1, server_cores=None), setting="costs x") for seed in (0, 3)]
    text = "\n".join(run_parameter_caption_lines(runs))
    for words in ("model: costs x", "cliques of 18", "limiter none", "server cores unlimited", "seeds 0 to 3"):
        assert words in text


def test_cv021_varying_parameters_are_listed_in_order() -> None:
    runs = [run(point(nodes=18, clique_size=size, limit=72)) for size in (9, 4, 36, 18)]
    assert "cliques of 4, 9, 18, 36;" in "\n".join(run_parameter_caption_lines(runs))


@given(st.integers(1, 40), st.integers(1, 20))
def test_cv010_shards_are_the_sum_of_their_parts(nodes: int, size: int) -> None:
    whole, rest = divmod(nodes, size)
    parts = [size] * whole + [rest] * bool(rest)
    for protocol in (RegistrationProtocol.SHARDED, RegistrationProtocol.SHARDED_RMW):
        assert expected_watch_events(protocol, nodes, size) == sum(2 * part**2 for part in parts)
        assert expected_watch_bytes(protocol, nodes, size) == sum(
            expected_watch_bytes(protocol, part, size) for part in parts
        )
