"""The template that the Go operator makes a PodClique from: the first whose name its name ends with (WF-110)."""

from grove_core.kernel.structs import replace
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import CliqueTemplate
from grove_core.snapshot.expected_replicas import ExpectedClique


def template_by_name_suffix(root: PodCliqueSet, clique_name: str) -> CliqueTemplate | None:
    """Return the first template with whose name the full name of a PodClique ends; None where there is none."""
    return next((one for one in root.spec.template.cliques if clique_name.endswith(one.name)), None)


def with_template_by_name_suffix(root: PodCliqueSet, part: ExpectedClique) -> ExpectedClique:
    """Return the clique with the template that its PodClique is made from, which may be another clique's (WF-110)."""
    found = template_by_name_suffix(root, part.name)
    return part if found is None or found is part.template else replace(part, template=found)
