"""Commands that decide from files or a cluster: explain, compare, validate and replay."""

from typing import Any

import click

from grove_shell.cli.name_completion import complete_explained_object
from grove_shell.cli.option_types import DurationOption, RepeatableChoiceOption, RuleSetOption
from grove_shell.cli.options import (
    cluster_options,
    config_option,
    filename_option,
    html_option,
    input_source_from_options,
    output_option,
    picture_option,
    rules_option,
    sets_argument,
    source_options,
    validation_output_option,
)


@click.command("explain")
@click.argument("target", metavar="KIND/NAME", shell_complete=complete_explained_object)
@source_options
@output_option
@rules_option()
@click.option("--why-not", type=click.Choice(["terminate"]), help="Show only why nothing is terminated.")
@html_option
def explain_command(target: str, **options: Any) -> int:
    """Show why one object is as it is, and what the operator will do with it.

    KIND is pcs, pcsg, pclq, po, pg, svc, sa, secret, role, rolebinding, hpa, resourceclaim, workload, podgroup,
    compositepodgroup or cd, or the full name as kubectl takes it.  Objects that do not exist yet are explained too.

    \b
    Examples:
      grove explain -f cluster.yaml pclq/llama-0-decode
      grove explain -f cluster.yaml pcs/llama --why-not terminate
      grove explain -f cluster.yaml pcs/llama --rules field        # under the rules of the Go operator
      grove explain -f cluster.yaml pod/llama-0-decode-x7k2p
      grove explain -f set.yaml svc/llama-0                        # of a set that is in no cluster yet

    Exit codes: 0 done, 1 bad input, 64 usage or no such object.
    """
    source = input_source_from_options(options)
    from grove_shell.actions.explain import explain_object

    return explain_object(source, target, **options)


CHANGES = ("restart", "ends", "oftener", "sooner", "later", "rarer", "spared", "unknown")
DEFAULT = ("auto", "design")


@click.command("compare")
@sets_argument
@source_options
@output_option
@click.option(
    "--rules",
    type=RuleSetOption(auto=True),
    multiple=True,
    default=DEFAULT,
    show_default="auto, then design",
    help="Give it twice: the present rule set (auto: that of the operator that runs in the input), then the other one.",
)
@click.option("--until", type=DurationOption(), help="Also compare what happens within this time, e.g. 6h.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 if terminations differ or pods are restarted.")
@click.option(
    "--fail-on",
    type=RepeatableChoiceOption(CHANGES),
    multiple=True,
    help="Exit 3 if there is such a difference, or if a PodCliqueSet could not be decided; may be repeated.",
)
@html_option
@picture_option("Also draw the terminations under both rule sets, side by side, .svg or .png; see --until.")
@click.option("-v", "--verbose", is_flag=True, help="List every deleted clique, and every condition that differs.")
def compare_command(**options: Any) -> int:
    """Compare two rule sets: which gangs does only one of them terminate, and which pods does the upgrade restart?

    Decides about the same cluster under two rule sets (grove rules lists them): use it before an upgrade of the Go
    operator, or before this operator replaces it.  Also available as grove upgrade-check.

    \b
    Examples:
      grove compare -f cluster.json                         # from the operator that runs there to design, now
      grove compare -f cluster.json --until 6h --rules field@alpha.11 --rules field
      grove compare -f cluster.json --until 6h --picture both.png
      grove upgrade-check --live -A --until 4h --fail-on ends         # in CI
      grove upgrade-check -f cluster.json --rules field@alpha.9 --rules field --fail-on restart

    Exit codes: 0 done, 1 bad input, 2 differences (--detailed-exitcode), 3 --fail-on, 64 usage.
    """
    source = input_source_from_options(options)
    rules = options.pop("rules")
    if len(rules) != len(DEFAULT):
        raise click.UsageError("give --rules twice: the present rule set, then the other one")
    from grove_shell.actions.compare import CompareOptions, compare_rule_sets

    return compare_rule_sets(source, CompareOptions(rules=(rules[0], rules[1]), **options))


@click.command("validate")
@filename_option(
    "Manifests to check; other objects among them are counted, and their names are taken into account.", required=False
)
@click.option("--old", "old", multiple=True, metavar="FILE|DIR", help="The stored manifests: check an update of them.")
@config_option
@click.option("--preflight", is_flag=True, help="Check instead whether an operator would start.")
@click.option("--live", is_flag=True, help="With --preflight: check against the cluster.")
@cluster_options
@validation_output_option
@rules_option()
def validate_command(**options: Any) -> int:
    """Check whether PodCliqueSets would be admitted: the webhook's verdict offline, with all problems at once.

    \b
    Examples:
      grove validate -f pcs.yaml
      grove validate -f new.yaml --old cluster.yaml     # may this be changed on a running set?
      grove validate -f pcs.yaml --config operator.yaml # warn of what this operator would ignore
      grove validate -f pcs.yaml --rules field          # warn of what causes trouble with the Go operator
      grove validate -f manifests/ -o github             # annotations in a workflow of GitHub Actions
      grove validate -f manifests/ -o sarif > grove.sarif
      grove validate --preflight --config operator.yaml --live
      grove validate --preflight --live                 # the same with the default configuration

    Unknown fields and pod templates are checked as strictly as kubectl apply has them checked; in stored objects (with
    a uid) they are not.  Two sets that would share the name of an object are both refused.

    A HorizontalPodAutoscaler or ScaledObject in the input is warned of if it may scale a PodClique or scaling group
    below its minAvailable.

    --preflight also reports names of Grove's CRDs that another CRD of the same API group has or asks for.  Without
    --config it checks an operator with the default configuration.

    Warnings are printed and do not fail.

    Exit codes: 0 admitted, 1 refused, bad input or nothing judged, 64 usage.
    """
    preflight, live = options.pop("preflight"), options.pop("live")
    where = {name: options.pop(name) for name in ("kubeconfig", "context", "everywhere")}
    filenames, config, rules = options["filenames"], options["config"], options.pop("rules")
    if not preflight:
        if live or any(where.values()):
            raise click.UsageError("--live, --kubeconfig, --context and -A work only with --preflight")
        if not filenames:
            raise click.UsageError("nothing to check: give -f FILE")
        from grove_shell.actions.validate import print_manifest_verdicts

        return print_manifest_verdicts(**options, rules=rules)
    if options["old"] or rules is not None or options["output"] != "human":
        raise click.UsageError("--old, --rules and -o do not work with --preflight, which checks a configuration")
    if not live and not filenames:
        raise click.UsageError("--preflight needs -f FILE or --live")
    from grove_shell.actions.command_input import InputSource, LiveClusterOptions
    from grove_shell.actions.validate import check_operator_preflight as judge

    return judge(InputSource(filenames=filenames, live=LiveClusterOptions(**where) if live else None, config=config))


@click.command("replay")
@click.argument("log", metavar="LOG", type=click.Path(dir_okay=False))
@output_option
@click.option(
    "--rules", type=RuleSetOption(), help="Decide under this rule set too, and show terminations that differ."
)
@click.option("--detailed-exitcode", is_flag=True, help="With --rules: exit 2 if any termination differs.")
@html_option
@click.option("-v", "--verbose", is_flag=True, help="List everything that differs.")
def replay_command(**options: Any) -> int:
    """Repeat the decisions of a decision log offline, and check that every plan is the same, byte for byte.

    The log holds the snapshots that the operator decided on.  Each line is chained to the lines before it by a hash, so
    a log that was changed, or that ends within a line, is refused with the line.  One that ends after a whole line is
    accepted.

    \b
    Examples:
      grove operator --decision-log plans.jsonl ...
      grove replay plans.jsonl
      grove replay plans.jsonl --rules field       # what the Go operator would have done
      gzip -dc plans.jsonl.gz | grove replay -     # '-' is standard input

    Exit codes: 0 same decisions, 1 bad input, 2 terminations differ under --rules (--detailed-exitcode), 3 decisions
    differ from the log, or it has none, 64 usage.
    """
    if options["detailed_exitcode"] and options["rules"] is None:
        raise click.UsageError("--detailed-exitcode works only with --rules")
    from grove_shell.actions.replay import replay_decision_log

    return replay_decision_log(**options)
