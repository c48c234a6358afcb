"""Changes of drawn clusters, and what plans do to them, that only our own laws need."""

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.kernel.structs import replace
from grove_core.testing import Plan, RandomCluster


def with_namesake(generated: RandomCluster) -> RandomCluster:
    """The same cluster, its first scaling group called as its first standalone clique, as admission allows."""
    template = generated.root.spec.template
    first = template.pod_clique_scaling_groups[:1]
    if not first:
        return generated
    called = template.cliques[0].name
    one = first[0].model_copy(update={"name": called})
    groups = (one, *template.pod_clique_scaling_groups[1:])
    spec = generated.root.spec.model_copy(
        update={"template": template.model_copy(update={"pod_clique_scaling_groups": groups})}
    )

    def renamed(name: str, replica: int) -> str:
        before, after = (f"{generated.root.ref.name}-{replica}-{short}" for short in (first[0].name, called))
        return after + name.removeprefix(before) if (name + "-").startswith(before + "-") else name

    def in_place(ref: Ref, replica: int) -> Ref:
        return replace(ref, name=renamed(ref.name, replica))

    return replace(
        generated,
        root=replace(generated.root, spec=spec),
        groups=tuple(replace(group, ref=in_place(group.ref, group.replica_index)) for group in generated.groups),
        cliques=tuple(
            replace(
                clique,
                ref=in_place(clique.ref, clique.replica_index),
                owner_name=renamed(clique.owner_name, clique.replica_index),
            )
            for clique in generated.cliques
        ),
    )


def is_termination(step: Step) -> bool:
    """Whether a step ends a clique for a breach; other deletions rest on nothing (PL-015)."""
    return isinstance(step.action, Delete) and bool(step.action.rests_on)


def deleted(plan: Plan) -> set[str]:
    """The cliques that a plan ends, by name."""
    return {step.target.name for step in plan.steps if is_termination(step)}
