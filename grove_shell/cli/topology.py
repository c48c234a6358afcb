"""``grove topology``: who uses which topology, what a change would mean, and whether a set has a place."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from grove_shell.cli.options import TimeType, config_option, filename_option, output_option, source_from_options

F = TypeVar("F", bound=Callable[..., Any])


@click.group("topology")
def command() -> None:
    """Which topologies there are and who uses them; what a change would mean; where a set has a place.

    \b
    Examples:
      grove topology list -f cluster.yaml
      grove topology impact aws-p5 -f cluster.yaml --changed aws-p5.yaml
      grove topology check -f pcs.yaml -f nodes.json -f topologies.yaml
    """


def _cluster(meaning: str) -> Callable[[F], F]:
    """``-f``, ``--live`` and whose cluster; always all namespaces of it, for a topology is of them all."""

    def decorated(function: F) -> F:
        for option in (
            click.option("--keep-going", is_flag=True, help="Say what can be said in spite of faults in the input."),
            click.option("--now", type=TimeType(), help="The clock.  [default: the computer's clock]"),
            click.option("--context", metavar="NAME", help="With --live: of the kubeconfig."),
            click.option("--kubeconfig", type=click.Path(), metavar="FILE", help="With --live: else KUBECONFIG."),
            click.option("--live", is_flag=True, help="Ask the cluster itself, all namespaces of it."),
            config_option,
            filename_option(meaning, required=False),
        ):
            function = option(function)
        return function

    return decorated


@command.command("list")
@_cluster("Topologies, PodCliqueSets and PodCliques as kubectl prints them; may be given more than once.")
@output_option
def listing(output: str, **options: Any) -> int:
    """Which topologies there are, their levels, who uses which, and what is held or locked because of it.

    Sets that name no topology use grove-topology; they are marked (default).  Pods that are bound are counted by the
    statuses of PodCliques, or by the pods themselves where these say more.

    \b
    Examples:
      kubectl get clustertopologies,pcs,pcsg,pclq -A -o yaml | grove topology list -f -
      grove topology list --live

    Exit codes: 0 done, 1 bad input, 64 usage.
    """
    source = source_from_options({**options, "namespace": None, "everywhere": options["live"], "attempts": None})
    from grove_shell.actions.topology import list_topologies

    return list_topologies(source, output)


@command.command("impact")
@click.argument("name", metavar="TOPOLOGY")
@_cluster("The cluster: topologies, PodCliqueSets, PodCliques, PodGangs; may be given more than once.")
@click.option(
    "--changed",
    type=click.Path(),
    metavar="FILE",
    help="The topology as it would be.  [default: what if it were deleted]",
)
@output_option
def impact(name: str, changed: str | None, output: str, **options: Any) -> int:
    """Who would be affected if a topology were changed, or deleted, and what admission would say to it.

    \b
    Examples:
      kubectl get clustertopologies,pcs,pcsg,pclq,podgangs -A -o yaml > cluster.yaml
      grove topology impact aws-p5 -f cluster.yaml                          # before it is deleted
      grove topology impact aws-p5 -f cluster.yaml --changed aws-p5.yaml    # before kubectl apply -f aws-p5.yaml
      grove topology impact aws-p5 --live --changed aws-p5.yaml

    Without --config topology-aware scheduling counts as on, and the default topology as configured as it is.

    Exit codes: 0 nobody would refuse it, 1 refused or bad input, 3 whom it concerns is not known, 64 usage.
    """
    source = source_from_options({**options, "namespace": None, "everywhere": options["live"], "attempts": None})
    from grove_shell.actions.topology import impact_of_topology

    return impact_of_topology(source, name, changed, output)


@command.command("check")
@click.argument("sets", nargs=-1, metavar="[[NS/]SET]...")
@filename_option(
    "PodCliqueSets, nodes, topologies, and the pods on the nodes (kubectl get pods -A); may be given more than once."
)
@config_option
@output_option
@click.option("-v", "--verbose", is_flag=True, help="Show the placement that was found, node by node.")
def check(sets: tuple[str, ...], filenames: tuple[str, ...], config: str | None, output: str, *, verbose: bool) -> int:
    """Does each gang of a set have a place by its topology, and by every other one in the input.

    The answer is one of three: a place for every pod, a proof that there is none, or that neither was found.  What
    nodes have free is what they may give less what the pods in the input take; the set's own are left out.

    \b
    Examples:
      kubectl get nodes -o json > nodes.json
      kubectl get pods -A -o json > pods.json
      grove topology check -f pcs.yaml -f nodes.json -f pods.json -f topologies.yaml
      grove topology check -f pcs.yaml -f nodes.json -f topologies.yaml -v ml/llama

    Without --config topology-aware scheduling counts as on, and the default topology as configured as it is.

    Exit codes: 0 every gang has a place by the set's own topology, 3 some has none or it is not decided, 1 bad input
    or nothing to check, 64 usage.
    """
    from grove_shell.actions.topology_check import check_topologies

    return check_topologies(sets, filenames, config, output, verbose=verbose)
