"""``grove domain-controller``."""

from typing import Any

import click

from grove_shell.cli.options import IN_A_POD, DurationOption, connection_options, log_option


@click.command("domain-controller", short_help="remove stale entries and write the status of ComputeDomains")
@click.option("-n", "--namespace", default="", help="Namespace of the domains.  [default: all]")
@click.option(
    "--driver-namespace",
    "pods_namespace",
    default="",
    help="Namespace of the daemons' pods and cliques.  [default: all]",
)
@click.option(
    "--cleanup",
    type=DurationOption(),
    default="2s",
    show_default=True,
    help="Time until entries that could not be judged are looked at again.",
)
@connection_options(IN_A_POD)
@log_option
def command(**options: Any) -> int:
    """Remove entries of daemons whose pods are gone, and write the status of each domain and its cliques.

    It is for clusters in which `grove daemon` runs; NVIDIA's driver has a controller of its own. Two of them can run
    at once: each write names the version it is based on.

    \b
    grove domain-controller --driver-namespace driver

    Exit codes: 0 stopped by a signal, 1 no access to the cluster, 64 usage.
    """
    from grove_shell.actions.domain_controller import run_domain_controller

    return run_domain_controller(**options)
