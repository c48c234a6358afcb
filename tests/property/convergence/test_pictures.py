"""The pictures: a mark for each run whatever its outcome, and different marks for two worlds."""

import re
from pathlib import Path

import pytest

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.kernel.structs import replace
from grove_shell.converge.model.convergence_model_run import run_convergence_model
from grove_shell.converge.model.server_costs import default_model_server_costs
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, ConvergenceRunOutcome
from grove_shell.views.convergence.convergence_plots import draw_convergence_plots
from tests.property.convergence.points import PROTOCOLS, point


def runs() -> list[ConvergenceRun]:
    found = [
        run_convergence_model(point(protocol, nodes, seed=seed), default_model_server_costs())
        for protocol in PROTOCOLS
        for nodes in (4, 8)
        for seed in (0, 1)
    ]
    found += [run_convergence_model(point(RegistrationProtocol.SSA, 4_000), default_model_server_costs())]
    found += [
        replace(found[0], point=replace(found[0].point, nodes=16), outcome=ConvergenceRunOutcome.CENSORED, t_all_s=None)
    ]
    return found + [replace(run, world="cluster", setting="a machine") for run in found[:3]]


@pytest.mark.req("CV-021")
def test_cv021_every_run_is_a_mark(tmp_path: Path) -> None:
    drawn = runs()
    names = list(draw_convergence_plots(drawn, tmp_path))
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    text = (tmp_path / "convergence.svg").read_text(encoding="utf-8")
    axes = text[text.index('id="axes_1"') : text.index('id="legend_1"')]
    marks = re.findall(r"<use [^>]*style=\"([^\"]*)\"", axes)
    assert sum("fill-opacity: 0.55" in style for style in marks) == sum(
        run.outcome is ConvergenceRunOutcome.CONVERGED for run in drawn
    )
    for words in (
        "not converged at its limit",
        "not storable: object above 1.5 MiB",
        "cluster: a machine",
        "model: median",
    ):
        assert words in text


def test_cv002_the_same_runs_give_the_same_pictures(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        list(draw_convergence_plots(runs()[:5], tmp_path / folder))
    for path in (tmp_path / "one").glob("*.svg"):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_cv021_unstorable_points_have_one_picture(tmp_path: Path) -> None:
    too_large = [run_convergence_model(point(RegistrationProtocol.SSA, 4_000), default_model_server_costs())]
    assert list(draw_convergence_plots(too_large, tmp_path)) == [
        f"{name}.{form}" for name in ("convergence", "convergence-ssa") for form in ("png", "svg")
    ]
