"""``grove policy``: test policies by their examples; list and print ready ones."""

import click

from grove_shell.cli.options import output_option
from grove_shell.policies.ready_policies import ready_policy_names


@click.group("policy")
def policy_command() -> None:
    """Test the policies of grove plan --policy by their examples; list and print ready ones.

    A policy is a file with rules in CEL, the language of Kubernetes' ValidatingAdmissionPolicy, over the plan of each
    PodCliqueSet or over the plan as a whole.  A rule that cannot be evaluated, because what it reads is not known,
    counts as violated.

    \b
    Examples:
      grove policy list
      grove policy print no-termination-in-namespace > policies/no-termination.yaml
      grove policy test policies/
      grove plan -f cluster.json -f new.yaml --policy policies/
    """


@policy_command.command("test")
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIR...", type=click.Path())
@output_option
def policy_test_command(paths: tuple[str, ...], output: str) -> int:
    """Evaluate the examples of policies, which stand under `tests` in their files.

    Every rule must be shown by an example that violates it and by one in which it holds.

    \b
    Examples:
      grove policy test policies/
      grove policy test no-termination.yaml -o json

    Exit codes: 0 every example is as expected and every rule is shown, 1 bad input, 3 an example is not as expected or
    a rule is not shown, 64 usage.
    """
    from grove_shell.actions.policy_tests import run_policy_tests

    return run_policy_tests(paths, output)


@policy_command.command("list")
@output_option
def policy_list_command(output: str) -> int:
    """List the ready policies.

    \b
    grove policy list

    Exit codes: 0 done, 64 usage.
    """
    from grove_shell.actions.ready_policies import print_ready_policies

    return print_ready_policies(output)


@policy_command.command("print")
@click.argument("name", metavar="NAME", type=click.Choice(ready_policy_names()))
def policy_print_command(name: str) -> int:
    """Print a ready policy with its examples, to edit the values at its top.

    \b
    grove policy print max-restarted-gpus > policies/max-restarted-gpus.yaml

    Exit codes: 0 done, 64 usage.
    """
    from grove_shell.actions.ready_policies import print_ready_policy

    return print_ready_policy(name)
