"""``grove manifests``."""

import click

from grove_shell.cli.options import config_option, document_option


def _namespace(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """What no server would take as the name of a namespace is told here, not when it is applied."""
    from grove_core.resources.name_syntax import is_dns_label

    if value is not None and not is_dns_label(value):
        raise click.BadParameter(f"{value!r} is no name of a namespace: lower case letters, digits and '-', at most 63")
    return value


def _image(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and (not value or value.split() != [value]):
        raise click.BadParameter(f"{value!r} is no name of an image: expected one without spaces")
    return value


@click.command("manifests")
@click.option(
    "--only",
    "parts",
    type=click.Choice(["crds", "rbac", "operator", "webhooks"]),
    multiple=True,
    help="Only this part; may be repeated.",
)
@click.option(
    "--with",
    "more",
    type=click.Choice(["compute-domains", "daemons"]),
    multiple=True,
    help="Also the definitions of ComputeDomains, or roles for `grove daemon`; NVIDIA's driver normally brings both.",
)
@click.option("--image", metavar="IMAGE", callback=_image, help="Of the containers.  [default: grove:VERSION]")
@click.option(
    "-n",
    "--namespace",
    "watched",
    metavar="NS",
    callback=_namespace,
    help="Look after one namespace only, with Roles for it.",
)
@click.option(
    "--system-namespace",
    "home",
    metavar="NS",
    callback=_namespace,
    help="Where to run.  [default: grove-system; with -n that namespace]",
)
@config_option
@document_option("yaml")
def command(
    parts: tuple[str, ...],
    more: tuple[str, ...],
    image: str | None,
    watched: str | None,
    home: str | None,
    config: str | None,
    output: str,
) -> int:
    """Print what Grove is in a cluster, in the order in which it is applied: definitions, roles, operator, webhooks.

    Definitions are made from the same models that `grove validate` and `grove plan` read manifests with, and roles from
    the table of everything that the code asks of an API server.  -o json prints one List.

    \b
    Examples:
      grove manifests --image example.com/grove:0.1.0 | kubectl apply --server-side -f -
      grove manifests -n ml | kubectl apply --server-side -f -       # for one namespace
      grove manifests --only crds > crds.yaml
      grove manifests --only crds --with compute-domains             # where no driver of NVIDIA's is
      grove manifests --config operator.yaml | kubectl apply --server-side -f -

    With --config the operator is told that file, and the webhooks what it says of mnnvl and of
    topologyAwareScheduling. In the mode `annotations` of mnnvl PodCliques and PodGangs are registered with the webhooks
    too, which then may make ComputeDomains and ResourceClaims. With topologyAwareScheduling.enabled so are
    ClusterTopologies, unless -n names a namespace.

    Whether a cluster has given a name of these definitions to another one: grove validate --preflight --live.

    Without --server-side kubectl keeps a copy in an annotation, for which the definitions are too large.

    Exit codes: 0 done, 1 bad configuration, 64 usage.
    """
    from grove_core.version import IMAGE
    from grove_shell.actions.manifests import manifests
    from grove_shell.manifests.installation import SYSTEM, Installation

    told = Installation(home=home or watched or SYSTEM, watched=watched or "", image=image or IMAGE)
    return manifests(parts, output, told, more, config)
