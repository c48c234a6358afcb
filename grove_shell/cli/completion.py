"""``grove completion``."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print a shell completion script.

    \b
    Examples:
      grove completion bash > ~/.local/share/bash-completion/completions/grove
      source <(grove completion zsh)
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}", ctx)
    group = ctx.find_root().command
    click.echo(completion(group, {}, "grove", "_GROVE_COMPLETE").source())
    return 0
