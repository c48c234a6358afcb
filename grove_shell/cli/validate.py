"""``grove validate``."""

from typing import Any

import click

from grove_shell.cli.options import cluster_options, config_option, filename_option, output_option, rules_option


@click.command("validate")
@filename_option(
    "Manifests to check; other objects among them are counted, and their names are taken into account.", required=False
)
@click.option("--old", "old", multiple=True, metavar="FILE|DIR", help="The stored manifests: check an update of them.")
@config_option
@click.option("--preflight", is_flag=True, help="Check instead whether an operator with that --config would start.")
@click.option("--live", is_flag=True, help="With --preflight: check against the cluster.")
@cluster_options
@output_option
@rules_option()
def command(**options: Any) -> int:
    """Check whether PodCliqueSets would be admitted: the webhook's verdict offline, with all problems at once.

    \b
    Examples:
      grove validate -f pcs.yaml
      grove validate -f new.yaml --old cluster.yaml     # may this be changed on a running set?
      grove validate -f pcs.yaml --config operator.yaml # warn of what this operator would ignore
      grove validate -f pcs.yaml --rules field          # warn of what causes trouble with the Go operator
      grove validate --preflight --config operator.yaml --live

    Unknown fields and pod templates are checked as strictly as kubectl apply has them checked; in stored objects (with
    a uid) they are not.  Two sets that would share the name of an object are both refused.

    --preflight also reports names of Grove's CRDs that another CRD of the same API group has or asks for.

    Warnings are printed and do not fail. Exit codes: 0 admitted, 1 refused, bad input or nothing judged, 64 usage.
    """
    preflight, live = options.pop("preflight"), options.pop("live")
    where = {name: options.pop(name) for name in ("kubeconfig", "context", "everywhere")}
    filenames, config, rules = options["filenames"], options["config"], options.pop("rules")
    if not preflight:
        if live or any(where.values()):
            raise click.UsageError("--live, --kubeconfig, --context and -A work only with --preflight")
        if not filenames:
            raise click.UsageError("nothing to check: give -f FILE")
        from grove_shell.actions.validate import validate

        return validate(**options, rules=rules)
    if options["old"] or rules is not None or options["output"] != "human":
        raise click.UsageError("--old, --rules and -o do not work with --preflight, which checks a configuration")
    if config is None or (not live and not filenames):
        raise click.UsageError("--preflight needs --config, and -f FILE or --live")
    from grove_shell.actions.command_input import InputSource, LiveCluster
    from grove_shell.actions.preflight import preflight as judge

    return judge(InputSource(filenames=filenames, live=LiveCluster(**where) if live else None, config=config))
