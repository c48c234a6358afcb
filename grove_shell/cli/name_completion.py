"""Shell completion of files and of names that the input has: sets, KIND/NAME, topologies (CL-116)."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from grove_shell.actions.completion_object_names import ObjectName


def complete_files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the names of files and folders."""
    return [CompletionItem(incomplete, type="file")]


def complete_set_names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the sets that the input has, as ``SET``, or as ``NS/SET`` where it has several namespaces."""
    sets = _names_in_input(ctx.params, ("PodCliqueSet",))
    short = sorted({one.name for one in sets})
    long = sorted({f"{one.namespace}/{one.name}" for one in sets if one.namespace})
    first, second = (short, long) if len({one.namespace for one in sets}) < 2 else (long, short)  # noqa: PLR2004 - several
    return _beginning_with(incomplete, first) or _beginning_with(incomplete, second)


def complete_explained_object(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the kinds that ``explain`` knows, each with a slash; once one kind is meant, its objects (CL-073)."""
    from grove_shell.actions.explain import EXPLAINED_KINDS

    return _complete_object(ctx, incomplete, EXPLAINED_KINDS)


def complete_why_target(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the kinds that ``why`` takes, each with a slash; once one kind is meant, its objects."""
    return _complete_object(ctx, incomplete, ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "Pod"))


def _complete_object(ctx: click.Context, incomplete: str, kinds: Sequence[str]) -> list[CompletionItem]:
    from grove_shell.client.kind_names import kind_named, shortest_name_of

    word, slash, _ = incomplete.partition("/")
    written = [f"{shortest_name_of(kind)}/" for kind in kinds]
    matching = [f"{word}/"] if slash else [one for one in written if one.startswith(word.lower())]
    if len(matching) != 1:
        return [CompletionItem(one) for one in matching]
    kind = kind_named(matching[0].rstrip("/"))
    names = {one.name for one in _names_in_input(ctx.params, (kind,))} if kind in kinds else set()
    objects = _beginning_with(incomplete, sorted(f"{matching[0]}{name}" for name in names))
    return objects or ([] if slash else [CompletionItem(matching[0])])


def complete_topology_names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the topologies that the input has."""
    from grove_core.resources.cluster_topology import TOPOLOGY_KINDS

    return _beginning_with(incomplete, sorted({one.name for one in _names_in_input(ctx.params, TOPOLOGY_KINDS)}))


def _beginning_with(incomplete: str, names: Collection[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _names_in_input(params: dict[str, Any], kinds: Collection[str]) -> "list[ObjectName]":
    """Return the objects of the files that were given before, or of the cluster with ``--live``."""
    from grove_shell.actions.command_input import LiveClusterOptions
    from grove_shell.actions.completion_object_names import names_in_cluster, object_names_in_files

    namespace = params.get("namespace")
    if params.get("live"):
        found = {name: params.get(name) for name in ("kubeconfig", "context")}
        live = LiveClusterOptions(namespace=namespace, everywhere=bool(params.get("everywhere")), **found)
        return names_in_cluster(live, kinds)
    names = object_names_in_files(params.get("filenames") or (), kinds)
    return [one for one in names if namespace in {None, one.namespace} or not one.namespace]
