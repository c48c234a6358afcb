"""Commands for those who write manifests: example and schema."""

import click

from grove_shell.catalogue.examples import EXAMPLES
from grove_shell.cli.options import output_option


@click.command("example")
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(list(EXAMPLES)))
@output_option
def example_command(name: str | None, output: str) -> int:
    """Print an example: a manifest to begin with, or a cluster to plan; without a name list the examples.

    \b
    Examples:
      grove example
      grove example two-cliques > set.yaml
      grove example degraded-cluster | grove plan -f - --now 2026-11-20T09:00:00Z

    Exit codes: 0 done, 64 usage.
    """
    from grove_shell.actions.examples import print_example, print_example_names

    return print_example_names(output) if name is None else print_example(name, output)


@click.command("schema")
@click.argument("kind", default="PodCliqueSet", type=click.Choice(["PodCliqueSet", "ClusterTopology"]))
def schema_command(kind: str) -> int:
    """Print a JSON Schema of manifests, with which an editor completes fields and marks mistakes.

    In an editor that uses the YAML language server, write as first line of a manifest:

    \b
      # yaml-language-server: $schema=podcliqueset.schema.json

    \b
    Examples:
      grove schema > podcliqueset.schema.json
      grove schema ClusterTopology > clustertopology.schema.json

    The schema knows fields and their types. What several fields mean together is checked by grove validate.

    Exit codes: 0 done, 64 usage.
    """
    from grove_shell.actions.examples import print_editor_schema

    return print_editor_schema(kind)
