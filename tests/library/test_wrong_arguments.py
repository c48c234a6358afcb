"""Every wrong use gives one sentence that says what to write instead (LB-003)."""

import io
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

import grove_shell as grove
from tests.library.test_reading import RECORDED

CLUSTER: Final = grove.read(RECORDED)

NAIVE: Final = datetime(2026, 11, 20, 9)  # noqa: DTZ001 - what is refused
USES: Final[dict[str, Any]] = {
    "nothing to read: give a path, an open file or an object": grove.read,
    "nothing to read: give a path": lambda: grove.read([]),
    "a source is a path, an open file or an object as a dict; got int": lambda: grove.read(5),  # type: ignore[arg-type]  # what is refused
    "an item of a list is an object as a dict; got int": lambda: grove.read({"kind": "List", "items": [1]}),
    "a path is text; got bytes": lambda: grove.read(PathOfBytes()),
    "got an empty text": lambda: grove.read(""),
    "give the content as io.StringIO": lambda: grove.read("kind: List\nitems: []\n"),
    "complete is True or False; got 'no'": lambda: grove.read(RECORDED, complete="no"),  # type: ignore[arg-type]  # refused
    "namespace is a text; got list": lambda: grove.read(RECORDED, namespace=["a"]),  # type: ignore[arg-type]  # refused
    "config is a path; got dict": lambda: grove.read(RECORDED, config={}),  # type: ignore[arg-type]  # refused
    "kubeconfig is a path; got int": lambda: grove.read_live(kubeconfig=3),  # type: ignore[arg-type]  # refused
    "the open file BytesIO has nothing left to read": lambda: grove.read(io.BytesIO()),
    "the open file StringIO cannot be read: I/O operation on closed file": lambda: grove.read(closed()),
    "got bytes: give its content as io.BytesIO": lambda: grove.read(b"kind: List"),  # type: ignore[arg-type]  # refused
    "sets are names of PodCliqueSets, as 'prod/llama'; got NoneType": lambda: grove.plan(CLUSTER, sets=[None]),  # type: ignore[list-item]  # refused
    "sets names no PodCliqueSet; leave it out for all": lambda: grove.plan(CLUSTER, sets=[]),
    "at most one open file can be read at once, got 2": lambda: grove.read(io.StringIO("{}"), io.StringIO("{}")),
    "missing.yaml: no such file": lambda: grove.read("missing.yaml"),
    "expected a PodCliqueSet, got none": lambda: grove.read({"kind": "List", "items": []}),
    "now has no time zone: 2026-11-20T09:00:00; say datetime": lambda: grove.read(RECORDED, now=NAIVE),
    "now is no time with a zone, such as 2026-11-20T09:00:00Z: got 'today'": lambda: grove.read(RECORDED, now="today"),
    "now is a datetime or a text such as 2026-11-20T09:00:00Z; got int": lambda: grove.read(RECORDED, now=3),  # type: ignore[arg-type]  # what is refused
    'did you mean "field"': lambda: grove.read(RECORDED, rules="feild"),
    "rules is the name of a rule set, a RuleSet or 'auto'; got int": lambda: grove.read(RECORDED, rules=3),  # type: ignore[arg-type]  # what is refused
    "faults is one of raise, return; got 'ignore'": lambda: grove.read(RECORDED, faults="ignore"),
    "old takes paths of manifests": lambda: grove.read(RECORDED, old={"kind": "PodCliqueSet"}),
    "manifests takes paths": lambda: grove.read_live(manifests={"kind": "PodCliqueSet"}),
    "missing.kubeconfig: No such file": lambda: grove.read_live(kubeconfig="missing.kubeconfig"),
    "cluster is what grove_shell.read() returns; got str": lambda: grove.plan("cluster.yaml"),  # type: ignore[arg-type]  # what is refused
    "not in the input: PodCliqueSet qwem; did you mean": lambda: grove.plan(CLUSTER, sets="qwem"),
    "until is no time span such as 6h or 1h30m, of at most 292 years: got 'soon'": lambda: grove.forecast(
        CLUSTER, until="soon"
    ),
    "until must be after the time of the plan": lambda: grove.forecast(CLUSTER, until=timedelta(0)),
    "until is a timedelta, a datetime or a text such as 6h; got int": lambda: grove.forecast(CLUSTER, until=6),  # type: ignore[arg-type]  # what is refused
    "until has no time zone": lambda: grove.forecast(CLUSTER, until=NAIVE),
    "qwen is not KIND/NAME with KIND one of": lambda: grove.explain(CLUSTER, "qwen"),
    "not in the input, or of no PodCliqueSet in it: PodClique qwen-9": lambda: grove.explain(CLUSTER, "pclq/qwen-9"),
    "target is a text as 'pclq/llama-0-decode'; got int": lambda: grove.explain(CLUSTER, 5),  # type: ignore[arg-type]  # what is refused
    "second is the name of a rule set, a RuleSet or": lambda: grove.compare(CLUSTER, "design", CLUSTER),  # type: ignore[arg-type]  # refused
    "both sides are 'field@": lambda: grove.compare(CLUSTER, "auto", "field"),
    "nothing to validate: give the path": grove.validate,
    "validate takes paths of files and folders": lambda: grove.validate({"kind": "PodCliqueSet"}),
}


def closed() -> io.StringIO:
    found = io.StringIO("{}")
    found.close()
    return found


class PathOfBytes:
    """A path of bytes."""

    def __fspath__(self) -> Any:
        return b"cluster.yaml"


class TestLB003:
    """An argument of a wrong type or value MUST raise TypeError or ValueError with one sentence that names the
    argument, what it got and what to write instead. No traceback ends inside a module that the caller does not know.
    """

    @pytest.mark.parametrize("sentence", USES)
    def test_each_wrong_use_has_its_sentence(self, sentence: str) -> None:
        with pytest.raises((TypeError, ValueError, grove.BadInput)) as raised:
            USES[sentence]()
        assert sentence in str(raised.value)
        assert len(str(raised.value).splitlines()) <= 2
