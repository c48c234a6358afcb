"""Commands that decide from files or a cluster: plan, explain, compare, validate, apply and replay."""

from typing import Any

import click

from grove_shell.cli.name_completion import complete_explained_object
from grove_shell.cli.options import (
    DurationOption,
    RepeatableChoice,
    RuleSetOption,
    cluster_options,
    config_option,
    connection_options,
    filename_option,
    html_option,
    input_source_from_options,
    output_option,
    picture_option,
    policy_option,
    rules_option,
    sets_argument,
    source_options,
    validation_output_option,
)

FAIL_ON = ("terminate", "wait", "delete", "withheld", "defect", "restart", "unknown", "change")


@click.command("plan")
@sets_argument
@source_options
@output_option
@rules_option()
@click.option(
    "--old",
    "old",
    multiple=True,
    metavar="FILE|DIR",
    help="Manifests as they are now, e.g. of the main branch: plan -f as edits of them, with every pod ready.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show at most N reconcile rounds.  [default: until nothing is left to do]",
)
@click.option(
    "--until", type=DurationOption(), help="Also show what happens within this time, e.g. 6h, if nothing is done."
)
@click.option("--decisions", is_flag=True, help="List every verdict, also those to do nothing.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 if there is anything to do now.")
@click.option(
    "--fail-on",
    type=RepeatableChoice(FAIL_ON),
    multiple=True,
    help="Exit 3 if any round contains this, or if a PodCliqueSet could not be decided; may be repeated.",
)
@click.option(
    "--max-restarted-gpus",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit 3 if the edits restart pods that hold more than N GPUs, or if that is unknown.",
)
@click.option(
    "--max-terminated-gpus",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit 3 if terminations end pods that hold more than N GPUs, with --until also later ones, or if that is"
    " unknown.",
)
@policy_option
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Also save the plan, for grove apply.")
@html_option
@picture_option("Also draw the delays and terminations as a chart, .svg or .png; see --until.")
@click.option(
    "--watch", is_flag=True, help="Print the plan again whenever the cluster or a file changes; Ctrl-C ends with 0."
)
@click.option("-v", "--verbose", is_flag=True, help="List every replica, and every write of every round.")
def plan_command(**options: Any) -> int:
    """Show what the operator will do, in which reconcile rounds, and why; and what it withholds.

    Reads what kubectl printed, or the cluster itself (--live).  Round 1 is exactly what the operator would do now;
    later rounds assume that every write succeeds and that nothing else changes the cluster.

    \b
    Examples:
      kubectl get pcs,pcsg,pclq,pods,podgangs -n ml -o json | grove plan -f -
      grove plan -f cluster.yaml --now dump --until 6h
      grove plan -f cluster.json -o json --decisions ml/llama
      grove plan -f cluster.json --fail-on terminate        # in CI
      grove plan -f cluster.json --until 6h --max-terminated-gpus 8
      grove plan --live -n ml -f new-image.yaml             # before kubectl apply -f new-image.yaml
      grove plan -f cluster.json -f new.yaml --max-restarted-gpus 8
      grove plan -f cluster.json --until 6h --html plan.html       # a page to share
      grove plan -f cluster.json --until 6h --picture plan.svg
      grove plan --live -n ml --watch                       # again at each change, with a countdown
      grove plan -f cluster.json -f new.yaml -o markdown           # a comment for a pull request
      grove plan --old main/set.yaml -f set.yaml            # without a cluster, as in a pull request
      grove plan -f cluster.json -f new.yaml --policy policies/    # rules of your own; see grove policy

    \b
    Words at the left, the most urgent first:
      TERMINATE  now                        GATED  pods behind a scheduling gate
      WAIT       until its delay ends       KEEP   not terminated
      HELD BACK  a write that is withheld   THEN   a termination within --until
      UNKNOWN    not decided by the input   AGAIN  the same gang is terminated again
      RESTART    pods that an edit replaces
      CREATE, UPDATE, PLACE                 what else is done, round by round

    With a manifest of a set that the input has, the plan shows what the edit does: the fields that change, every pod
    that restarts, and what serves meanwhile.  A manifest of a topology beside the stored one is followed into the sets
    that use it.

    Writes that failed before are shown with the message of the API server, by Events and statuses in the input.

    JSON loads about ten times faster than YAML; use it for big clusters.

    Exit codes: 0 done, 1 bad input, 2 changes (--detailed-exitcode), 3 --fail-on, --policy or --max-...-gpus,
    64 usage.
    """
    source = input_source_from_options(options)
    from grove_shell.actions.plan import plan_and_print
    from grove_shell.actions.planned_input import PlanOptions

    if not options.pop("watch"):
        return plan_and_print(source, PlanOptions(**options))
    if "-" in source.filenames:
        raise click.UsageError("--watch reads files again, and standard input only once: give a file, or --live")
    if checks := [
        name for name in _CHECKS if options[name] is not None and options[name] is not False and options[name] != ()
    ]:
        shown = ", ".join(f"--{name.replace('_', '-')}" for name in checks)
        raise click.UsageError(f"--watch runs until it is stopped, so leave out what sets the exit code: {shown}")
    from grove_shell.following.plan_watch import watch_plan

    return watch_plan(source, PlanOptions(**options))


_CHECKS = ("fail_on", "detailed_exitcode", "max_restarted_gpus", "max_terminated_gpus")


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
    type=RepeatableChoice(CHANGES),
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
        from grove_shell.actions.validate import validate_manifests

        return validate_manifests(**options, rules=rules)
    if options["old"] or rules is not None or options["output"] != "human":
        raise click.UsageError("--old, --rules and -o do not work with --preflight, which checks a configuration")
    if not live and not filenames:
        raise click.UsageError("--preflight needs -f FILE or --live")
    from grove_shell.actions.command_input import InputSource, LiveClusterOptions
    from grove_shell.actions.validate import check_operator_preflight as judge

    return judge(InputSource(filenames=filenames, live=LiveClusterOptions(**where) if live else None, config=config))


@click.command("apply")
@click.argument("path", metavar="PLAN", type=click.Path(dir_okay=False))
@connection_options()
@click.option("--dry-run", is_flag=True, help="Only check whether the plan is still valid.")
def apply_command(**options: Any) -> int:
    """Execute exactly the plan that was reviewed, or refuse and show what changed.

    The cluster is planned again as it is now, with the configuration of the saved plan.  If the new plan has other
    steps or other reasons, nothing is done.  Only the first round is executed: what the operator would do now.

    \b
    grove plan --live -n ml --out plan.json
    grove apply plan.json

    Exit codes: 0 done, 1 a write was refused, 4 the plan is stale, 64 usage.
    """
    from grove_shell.actions.apply import apply_saved_plan

    return apply_saved_plan(**options)


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
