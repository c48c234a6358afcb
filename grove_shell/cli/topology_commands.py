"""``grove topology``: which sets use which topology, what a change would affect, and whether a set fits."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from grove_shell.cli.name_completion import complete_topology_names
from grove_shell.cli.option_types import TimeOption
from grove_shell.cli.options import (
    combined_option_decorator,
    config_option,
    filename_option,
    html_option,
    input_source_from_options,
    live_connection_options,
    output_option,
    sets_argument,
)

F = TypeVar("F", bound=Callable[..., Any])


@click.group("topology")
def topology_command() -> None:
    """List topologies and their users, rehearse a change, check whether a set fits on the nodes.

    \b
    Examples:
      grove topology list -f cluster.yaml
      grove topology impact aws-p5 -f cluster.yaml --changed aws-p5.yaml
      grove topology check -f pcs.yaml -f nodes.json -f topologies.yaml
    """


def _cluster(meaning: str) -> Callable[[F], F]:
    """``-f`` or ``--live``; always all namespaces, because topologies are cluster-scoped."""
    return combined_option_decorator(
        filename_option(meaning, required=False),
        config_option,
        click.option("--live", is_flag=True, help="Read the cluster, all namespaces."),
        live_connection_options,
        click.option("--now", type=TimeOption(), help="Time to decide at.  [default: the computer's clock]"),
        click.option("--keep-going", is_flag=True, help="Show what can be shown despite problems in the input."),
    )


@topology_command.command("list")
@_cluster("Topologies, PodCliqueSets and PodCliques as kubectl prints them; may be repeated.")
@output_option
def topology_list_command(output: str, **options: Any) -> int:
    """List topologies with their levels and users, and what cannot be deleted or changed because of them.

    Sets that name no topology use grove-topology; they are marked (default).  Bound pods are counted from the statuses
    of PodCliques, or from the pods themselves where these are more.

    \b
    Examples:
      kubectl get clustertopologies,pcs,pcsg,pclq -A -o yaml | grove topology list -f -
      grove topology list --live

    Exit codes: 0 done, 1 bad input, 64 usage.
    """
    source = input_source_from_options({**options, "namespace": None, "everywhere": options["live"], "attempts": None})
    from grove_shell.actions.topology import print_topologies_with_users

    return print_topologies_with_users(source, output)


@topology_command.command("impact")
@click.argument("name", metavar="TOPOLOGY", shell_complete=complete_topology_names)
@_cluster("The cluster: topologies, PodCliqueSets, PodCliques, PodGangs; may be repeated.")
@click.option(
    "--changed",
    type=click.Path(),
    metavar="FILE",
    help="File with the changed topology.  [default: rehearse its deletion]",
)
@output_option
def topology_impact_command(name: str, changed: str | None, output: str, **options: Any) -> int:
    """Show which sets a change or a deletion of a topology would affect, and whether it would be admitted.

    \b
    Examples:
      kubectl get clustertopologies,pcs,pcsg,pclq,podgangs -A -o yaml > cluster.yaml
      grove topology impact aws-p5 -f cluster.yaml                          # before it is deleted
      grove topology impact aws-p5 -f cluster.yaml --changed aws-p5.yaml    # before kubectl apply -f aws-p5.yaml
      grove topology impact aws-p5 --live --changed aws-p5.yaml

    Without --config, topology-aware scheduling is taken as on and the default topology as configured.

    Exit codes: 0 admitted, 1 refused or bad input, 3 the affected sets are not all known, 64 usage.
    """
    source = input_source_from_options({**options, "namespace": None, "everywhere": options["live"], "attempts": None})
    from grove_shell.actions.topology import print_topology_change_impact

    return print_topology_change_impact(source, name, changed, output)


@topology_command.command("check")
@sets_argument
@filename_option("PodCliqueSets, nodes, topologies, and the pods on the nodes (kubectl get pods -A); may be repeated.")
@config_option
@output_option
@html_option
@click.option("-v", "--verbose", is_flag=True, help="Show the placement that was found, node by node.")
def topology_check_command(
    sets: tuple[str, ...],
    filenames: tuple[str, ...],
    config: str | None,
    output: str,
    *,
    html: str | None,
    verbose: bool,
) -> int:
    """Check whether each gang of a set fits on the nodes, under its own topology and every other one in the input.

    The answer is one of three: a node for every pod, a proof that the gang cannot fit, or neither was found.  Free
    resources are a node's allocatable minus the requests of the pods in the input; pods of the set itself do not count.

    \b
    Examples:
      kubectl get nodes -o json > nodes.json
      kubectl get pods -A -o json > pods.json
      grove topology check -f pcs.yaml -f nodes.json -f pods.json -f topologies.yaml
      grove topology check -f pcs.yaml -f nodes.json -f topologies.yaml -v ml/llama

    Without --config, topology-aware scheduling is taken as on and the default topology as configured.

    Exit codes: 0 every gang fits under the set's own topology, 3 a gang does not fit or it is not decided, 1 bad input
    or nothing to check, 64 usage.
    """
    from grove_shell.actions.topology import check_gangs_fit_on_nodes

    return check_gangs_fit_on_nodes(sets, filenames, config, output, verbose=verbose, html=html)
