"""``grove manifests``."""

import click

from grove_shell.cli.options import config_option, document_output_option


def _namespace(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the name; a name that no API server accepts for a namespace is a usage error."""
    from grove_core.resources.naming_rules import is_dns_label

    if value is not None and not is_dns_label(value):
        raise click.BadParameter(f"{value!r} is not a namespace name: lower case letters, digits and '-', at most 63")
    return value


def _image(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and (not value or value.split() != [value]):
        raise click.BadParameter(f"{value!r} is not an image name: it must not be empty or contain spaces")
    return value


@click.command("manifests")
@click.option(
    "--only",
    "parts",
    type=click.Choice(["crds", "rbac", "operator", "webhooks"]),
    multiple=True,
    help="Print only this part; may be repeated.",
)
@click.option(
    "--with",
    "more",
    type=click.Choice(["compute-domains", "daemons"]),
    multiple=True,
    help="Also print CRDs of ComputeDomains, or roles for `grove daemon`; NVIDIA's driver normally installs both.",
)
@click.option("--image", metavar="IMAGE", callback=_image, help="Image of the containers.  [default: grove:VERSION]")
@click.option(
    "-n",
    "--namespace",
    "watched",
    metavar="NS",
    callback=_namespace,
    help="Watch this namespace only, with Roles for it.",
)
@click.option(
    "--system-namespace",
    "home",
    metavar="NS",
    callback=_namespace,
    help="Namespace to run in.  [default: grove-system; with -n that namespace]",
)
@config_option
@document_output_option("yaml")
def command(
    parts: tuple[str, ...],
    more: tuple[str, ...],
    image: str | None,
    watched: str | None,
    home: str | None,
    config: str | None,
    output: str,
) -> int:
    """Print the manifests that install Grove, in the order to apply them: CRDs, roles, operator, webhooks.

    CRDs are generated from the models that `grove validate` and `grove plan` read manifests with, and roles from the
    table of all requests that the code makes to an API server.  -o json prints one List.

    \b
    Examples:
      grove manifests --image example.com/grove:0.1.0 | kubectl apply --server-side -f -
      grove manifests -n ml | kubectl apply --server-side -f -       # for one namespace
      grove manifests --only crds > crds.yaml
      grove manifests --only crds --with compute-domains             # without NVIDIA's driver
      grove manifests --config operator.yaml | kubectl apply --server-side -f -

    With --config the operator runs with that file, and the webhooks with its mnnvl and topologyAwareScheduling. In
    mnnvl mode `annotations` the webhooks are also registered for PodCliques and PodGangs, and may then create
    ComputeDomains and ResourceClaims. With topologyAwareScheduling.enabled they are also registered for
    ClusterTopologies, unless -n names a namespace.

    To check whether a name of these CRDs is already taken in a cluster: grove validate --preflight --live.

    Apply with --server-side: without it kubectl stores a copy in an annotation, and the CRDs are too large for that.

    Exit codes: 0 done, 1 bad configuration, 64 usage.
    """
    from grove_core.version import IMAGE
    from grove_shell.actions.manifests import manifests
    from grove_shell.manifests.installation import SYSTEM, Installation

    installation = Installation(home=home or watched or SYSTEM, watched=watched or "", image=image or IMAGE)
    return manifests(parts, output, installation, more, config)
