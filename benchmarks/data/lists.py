"""Clusters as the texts that kubectl prints."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Final

import yaml

from benchmarks.data.cast import HASHES, Clique, PodWords, Raw, State, cliques_for, pods_of, sets_for
from benchmarks.data.owners import owners_of_set
from benchmarks.data.pods import pod_as_raw


class Form(Enum):
    """How a list is written; the value is the suffix of its file."""

    COMPACT = ".compact.json"
    PRETTY = ".pretty.json"
    YAML = ".yaml"


_FRAMES: Final = {
    Form.COMPACT: ('{"apiVersion":"v1","items":[', ",", '],"kind":"List","metadata":{"resourceVersion":""}}\n'),
    Form.PRETTY: (
        '{\n    "apiVersion": "v1",\n    "items": [\n',
        ",\n",
        '\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n',
    ),
    Form.YAML: ("apiVersion: v1\nitems:\n", "", 'kind: List\nmetadata:\n  resourceVersion: ""\n'),
}
_NETWORK_STATUS: Final = (
    '[{\n    "name": "cbr0",\n    "interface": "eth0",\n    "ips": ["10.0.0.76"],\n    "default": true\n}]'
)
_OWNERS: Final = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique")
# Words that stand for what differs between the pods of a template; numbers are quoted in YAML, words are not.
_BLANK: Final = Clique(
    role="worker",
    set_name="Qset",
    set_uid="Qsetuid",
    replica=770001,
    group="Qgroup",
    group_uid="Qgroupuid",
    group_replica=-1,
    name="Qclique",
    uid="Qowner",
    serial=0,
    states=(),
)
_MARKS: Final = re.compile(
    "(Qgang|Qset|770001|Qgroup|770002|Qclique|Qowner|Qname|Quid|770003|Qnode|Qaddress|770004|Qhash)"
)


def write_list(path: Path, form: Form, pods: int, *, owners: bool, annotated: bool = False) -> None:
    """Write a cluster as ``kubectl get`` would, without managedFields.

    Args:
        path: the file to write.
        form: how.
        pods: how many, in the order in which they were created.
        owners: the sets, scaling groups and cliques as well, by kind, before the pods.
        annotated: with an annotation that network plug-ins write: JSON in a string, so full of escapes.
    """
    first, between, last = _FRAMES[form]
    with path.open("w", encoding="utf-8") as file:
        file.write(first)
        separator = ""
        for text in _texts(form, pods, owners=owners, annotated=annotated):
            file.write(separator + text)
            separator = between
        file.write(last)


def _texts(form: Form, pods: int, *, owners: bool, annotated: bool = False) -> Iterator[str]:
    for kind in _OWNERS if owners else ():
        for number in sets_for(pods):
            yield from (_text(raw, form) for raw in owners_of_set(number) if raw["kind"] == kind)
    annotations = {"k8s.v1.cni.cncf.io/network-status": _NETWORK_STATUS} if annotated else {}
    yield from islice(_pod_texts(form, pods, annotations), pods)


def _pod_texts(form: Form, pods: int, annotations: Mapping[str, str]) -> Iterator[str]:
    templates: dict[tuple[bool, State], list[str]] = {}
    for clique in cliques_for(pods):
        for pod in pods_of(clique):
            kind = bool(clique.group), pod.state
            if kind not in templates:
                blank = _blank_pod(clique, pod.state)
                if annotations:
                    blank["metadata"]["annotations"] = dict(annotations)
                templates[kind] = _MARKS.split(_text(blank, form))
            parts = templates[kind].copy()
            words = _words_for(clique, pod)
            for place in range(1, len(parts), 2):
                parts[place] = words[parts[place]]
            yield "".join(parts)


def _blank_pod(clique: Clique, state: State) -> Raw:
    """A pod with marks for everything that differs between pods of one kind."""
    pod = PodWords("Qname", "Quid", "770003", "Qnode", "Qaddress", 770004, state)
    blank = pod_as_raw(_BLANK, pod)
    labels = blank["metadata"]["labels"]
    labels |= {"grove.io/podgang": "Qgang", "grove.io/pod-template-hash": "Qhash"}
    if not clique.group:
        del labels["grove.io/podcliquescalinggroup"], labels["grove.io/podcliquescalinggroup-replica-index"]
    else:
        labels["grove.io/podcliquescalinggroup-replica-index"] = "770002"
    return blank


def _words_for(clique: Clique, pod: PodWords) -> dict[str, str]:
    return {
        "Qgang": clique.gang,
        "Qset": clique.set_name,
        "770001": str(clique.replica),
        "Qgroup": clique.group,
        "770002": str(clique.group_replica),
        "Qclique": clique.name,
        "Qowner": clique.uid,
        "Qname": pod.name,
        "Quid": pod.uid,
        "770003": pod.version,
        "Qnode": pod.node,
        "Qaddress": pod.address,
        "770004": str(pod.number),
        "Qhash": HASHES[clique.role],
    }


def _text(raw: Raw, form: Form) -> str:
    if form is Form.COMPACT:
        return json.dumps(raw, separators=(",", ":"))
    if form is Form.PRETTY:
        text = json.dumps(raw, indent=4)
        return " " * 8 + text.replace("\n", "\n" + " " * 8)
    return yaml.dump([raw], Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), width=1000)


def texts_of_pods(pods: int) -> Iterable[str]:
    """The pods one by one, each as compact JSON."""
    return _texts(Form.COMPACT, pods, owners=False)
