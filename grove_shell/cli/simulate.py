"""``grove simulate``."""

from typing import Any, Final

import click

from grove_shell.cli.options import DurationOption, output_option, rules_option

_HELP: Final = """\
Simulate a cluster: what the operator does under the events and faults of a scenario, in virtual time.

The scenario lists PodCliqueSets, nodes, events and expectations.  Decisions and reconcile loop are those of the
real operator; its caches, the scheduler, kubelets, nodes and users are simulated.  A day takes seconds.

\b
Examples:
  grove simulate examples/scenarios/gang-scheduling.yaml
  grove simulate examples/scenarios/node-loss.yaml --picture loss.svg
  grove simulate examples/scenarios/node-loss.yaml --seeds 200 --trace found.yaml
  grove simulate examples/scenarios/node-loss.yaml --rules field     # as the Go operator decides

\b
A scenario:
  apiVersion: grove.io/v1alpha1
  kind: Scenario
  metadata: {name: lost-node}
  spec:
    sets: [{file: examples/manifests/disaggregated.yaml}]
    nodes: [{name: gpu, count: 40, capacity: {nvidia.com/gpu: 8}}]
    events:
      - {at: 5m, loseNode: {of: {clique: llama-0-router, index: 0}}}
    expect:
      - {at: end, ready: {llama-0-router: 2}, terminations: 0}

The path of file: is relative to the folder of the scenario.  Save the scenario above at the top of a checkout, or
adapt the path.

\b
Events; a wrong field is reported with the fields that are allowed:
  users      applySet scale autoscale deleteSet deletePod failPod crashPod
             applyTopology deleteTopology
  hardware   addNodes loseNode restoreNode removeNode cordon uncordon
  faults     crashOperator lagCache relist touch loseAnswers refuseWrites
             slowAnswers changeHashes secondLeader jumpClock holdForeign
             gateForeign editStatus editLabels removeLabels permuteLists
  MNNVL      deleteDomain deleteClaim foreignDomain limitDomains reconfigure

\b
With ComputeDomains (NVIDIA's multi-node NVLink), as in the operator's configuration:
  spec:
    operator: {mnnvl: {enabled: true}}
    events: [{at: 0s, limitDomains: {most: 2, span: 2m}}]
    expect: [{at: 1m, joined: {llm-0-worker: 8}, failedDomains: {llm: [2, 3]}}]

\b
With topologies; admission reads caches that are five seconds old:
  spec:
    topologies: [{file: racks.yaml}]
    operator: {topologyAwareScheduling: {enabled: true, levels: [...]}}
    admission: {watch: 5s}
    expect: [{at: end, standsOn: {llm-0-worker: {example.com/rack: r1}}}]

Exit codes: 0 as expected, 1 bad input, 3 an expectation not met or a promise broken, 64 usage.
"""


@click.command("simulate", help=_HELP)
@click.argument("scenario", metavar="SCENARIO.yaml", type=click.Path())
@output_option
@rules_option("auto")
@click.option(
    "--until", type=DurationOption(), help="Stop this long after the start.  [default: when no event is left]"
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run N times, each with other random events; expectations are not checked.",
)
@click.option("--first", type=click.IntRange(min=0), default=0, metavar="SEED", help="The first seed.")
@click.option("--check", is_flag=True, help="Check what may never happen; always on with --seeds.")
@click.option(
    "--picture",
    type=click.Path(),
    metavar="FILE",
    help="Draw the run as a chart, .svg or .png; with --seeds the run that breaks a promise, if one does.",
)
@click.option("--trace", type=click.Path(), metavar="FILE", help="Where to write a scenario that repeats a violation.")
@click.option("-v", "--verbose", is_flag=True, help="Show all entries, including status writes and container starts.")
def command(**options: Any) -> int:
    """Run ``grove simulate`` with the parsed options; return its exit code."""
    from grove_shell.actions.simulate import SimulateOptions, simulate

    return simulate(SimulateOptions(**options))
