"""Names that our definitions ask for, beside those of the released operator and driver (MF-010)."""

from typing import Any, Final

import pytest

from grove_core.resources.crd_name_clashes import (
    CrdNameClash,
    CrdNameField,
    NameInCrd,
    crd_name_clashes,
    crd_names_from_definition,
)
from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests, grove_crd_manifests, grove_crd_names

Json = dict[str, Any]

RELEASED: Final = (
    ("grove.io", "PodCliqueSet", "podcliquesets", ("pcs",)),
    ("grove.io", "PodClique", "podcliques", ("pclq",)),
    ("grove.io", "PodCliqueScalingGroup", "podcliquescalinggroups", ("pcsg",)),
    ("grove.io", "ClusterTopologyBinding", "clustertopologybindings", ("ct",)),
    ("grove.io", "PodGangMap", "podgangmaps", ("pgm",)),
    ("scheduler.grove.io", "PodGang", "podgangs", ("pg",)),
    ("resource.nvidia.com", "ComputeDomain", "computedomains", ()),
    ("resource.nvidia.com", "ComputeDomainClique", "computedomaincliques", ()),
)
"""Of all releases up to v0.1.0-alpha.12; the older ClusterTopology is the definition that ours replaces."""

ELSEWHERE: Final = (
    "cj cm cr crd crds cs csr deploy ds ep ev hpa ing ip limits netpol no ns pc pdb po pv pvc quota rc rs sa sc sts svc"
    " vac pg cq lq queue queues wl rf flavor flavors"
)
"""Short names in other groups: of Kubernetes 1.35, of KAI's PodGroup, of Kueue."""


def defined(group: str, kind: str, plural: str, short: tuple[str, ...] = (), **more: Any) -> Json:
    return {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": {"kind": kind, "plural": plural, "shortNames": list(short), **more}},
    }


def accepted(definition: Json) -> Json:
    names = definition["spec"]["names"]
    whole = {"singular": names["kind"].lower(), "listKind": f"{names['kind']}List", **names}
    return {**definition, "status": {"acceptedNames": whole}}


def found(*objects: Json) -> tuple[CrdNameClash, ...]:
    return crd_name_clashes(
        [names for one in objects if (names := crd_names_from_definition(one)) is not None], grove_crd_names()
    )


@pytest.mark.parametrize("released", RELEASED, ids=lambda released: released[2])
def test_mf010_no_name_is_that_of_another_definition(released: tuple[str, str, str, tuple[str, ...]]) -> None:
    own = [
        names
        for one in (*grove_crd_manifests(), *compute_domain_crd_manifests())
        if (names := crd_names_from_definition(one)) is not None
    ]
    theirs = crd_names_from_definition(defined(*released))
    assert theirs is not None
    assert len(own) == 7
    assert crd_name_clashes([theirs], own) == ()
    same = [names for names in own if names.definition == theirs.definition]
    assert all(names.asked == theirs.asked for names in same)


def test_mf010_the_short_name_of_topologies_is_that_of_nothing_else() -> None:
    short = {name.text for names in grove_crd_names() for name in names.asked if name.role is CrdNameField.SHORT}
    assert short & {*ELSEWHERE.split()} == {"pg"}, "which is that of the existing API (MF-003)"


def test_mf010_names_are_those_of_the_printed_definitions() -> None:
    assert list(grove_crd_names()) == [crd_names_from_definition(one) for one in grove_crd_manifests()]


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (("Other", "others", ("pcs",)), NameInCrd("pcs", CrdNameField.SHORT)),
        (("Other", "pcs", ()), NameInCrd("pcs", CrdNameField.SHORT)),
        (("Other", "others", ("podcliques",)), NameInCrd("podcliques", CrdNameField.PLURAL)),
        (("Podclique", "others", ()), NameInCrd("podclique", CrdNameField.SINGULAR)),
        (("PodCliqueList", "others", ()), NameInCrd("PodCliqueList", CrdNameField.LIST_KIND)),
    ],
)
@pytest.mark.req("CL-032")
def test_mf010_every_kind_of_name_is_compared(other: tuple[str, str, tuple[str, ...]], name: NameInCrd) -> None:
    """As a server compares them: plurals, singulars and short names with each other, kinds with list kinds."""
    (clash,) = found(accepted(defined("grove.io", *other)))
    assert (clash.name, clash.holder, clash.is_held) == (name, f"{other[1]}.grove.io", True)
    assert found(accepted(defined("example.com", *other))) == (), "another group"


@pytest.mark.req("CL-032")
def test_mf010_the_holder_is_the_one_that_the_server_gave_the_name() -> None:
    theirs, ours = defined("grove.io", "Other", "others", ("pcs",)), next(iter(grove_crd_manifests()))
    assert found(theirs, accepted(ours)) == (
        CrdNameClash("others.grove.io", NameInCrd("pcs", CrdNameField.SHORT), "podcliquesets.grove.io", is_held=True),
    )
    assert found(accepted(theirs), ours) == (
        CrdNameClash("podcliquesets.grove.io", NameInCrd("pcs", CrdNameField.SHORT), "others.grove.io", is_held=True),
    )
    (open_still,) = found(theirs, ours)
    assert not open_still.is_held
    assert found(accepted(ours)) == ()


@pytest.mark.parametrize("damaged", [{}, {"spec": []}, {"spec": {"group": "grove.io", "names": {"kind": 3}}}])
def test_mf010_what_is_no_definition_has_no_names(damaged: Json) -> None:
    assert crd_names_from_definition(damaged) is None


def test_mf010_two_definitions_of_others_are_not_looked_at() -> None:
    assert found(*(accepted(defined("grove.io", kind, f"{kind.lower()}s", ("x",))) for kind in ("One", "Two"))) == ()
