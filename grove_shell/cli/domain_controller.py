"""``grove domain-controller``."""

from typing import Any

import click

from grove_shell.cli.options import DurationType


@click.command("domain-controller", short_help="keep ComputeDomains: left-over entries, summary, status")
@click.option("-n", "--namespace", default="", help="Of the domains.  [default: all]")
@click.option("--driver-namespace", "pods_namespace", default="", help="Of daemons' pods and cliques.  [default: all]")
@click.option(
    "--cleanup",
    type=DurationType(),
    default="2s",
    show_default=True,
    help="When to look again at what could not be said.",
)
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Else KUBECONFIG, else the account of the pod.")
@click.option("--context", help="Of the kubeconfig.")
@click.option("--log", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How it tells.")
def command(**options: Any) -> int:
    """Take entries of daemons away whose pods are gone, and keep each domain's summary of cliques and its status.

    It is for clusters in which `grove daemon` runs; NVIDIA's driver has a controller of its own. Two of them do no
    harm: each write is aimed at the version that it was decided on.

    \b
    grove domain-controller --driver-namespace driver

    Exit codes: 0 told to stop, 1 no way to the cluster, 64 usage.
    """
    from grove_shell.actions.domain_controller import DomainControllerOptions, run_domain_controller

    return run_domain_controller(DomainControllerOptions(**options))
