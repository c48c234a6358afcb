"""Every wrong use gives one sentence that says what to write instead (LB-003)."""

import io
import re
from datetime import datetime, timedelta, timezone
from tempfile import NamedTemporaryFile
from typing import Any, Final

import pytest

import grove_shell as grove
from tests.library.test_reading import RECORDED, objects

CLUSTER: Final = grove.read(RECORDED)
MANIFEST: Final = RECORDED.with_name("edits") / "qwen-new-image.yaml"
NAIVE: Final = datetime(2026, 11, 20, 9)  # noqa: DTZ001 - what is refused
OPTION: Final = re.compile(r"(?<!\S)-(?:-[a-z]|[a-z]\b)")
MOST_PROBLEMS: Final = 4
UNTIMED: Final = {"apiVersion": "v1", "kind": "PodList", "items": []}
USES: Final[dict[str, Any]] = {
    # what is read
    "nothing to read: give a path, an open file or an object": grove.read,
    "nothing to read: give a path": lambda: grove.read([]),
    "a source is a path, an open file or an object as a dict; got int": lambda: grove.read(5),  # type: ignore[arg-type]  # refused
    "a source is a path, an open file or an object as a dict; got Cluster": lambda: grove.read(CLUSTER),  # type: ignore[arg-type]  # refused
    "an item of a list is an object as a dict; got int": lambda: grove.read({"kind": "List", "items": [1]}),
    "a path is text; got bytes": lambda: grove.read(PathOfBytes()),
    "got an empty text": lambda: grove.read(""),
    "give the content as io.StringIO": lambda: grove.read("kind: List\nitems: []\n"),
    "got JSON: give the content as io.StringIO": lambda: grove.read('{"kind": "List"}'),
    "got bytes: give its content as io.BytesIO": lambda: grove.read(b"kind: List"),  # type: ignore[arg-type]  # refused
    "the open file BytesIO has nothing left to read": lambda: grove.read(io.BytesIO()),
    "the open file StringIO cannot be read: I/O operation on closed file": lambda: grove.read(closed()),
    "StringIO:2:1: document 1: expected valid YAML": lambda: grove.read(io.StringIO("a: [")),
    "BytesIO: expected UTF-8 text, got UTF-16 text": lambda: grove.read(io.BytesIO(b"\xff\xfe\x00")),
    "StringIO: expected a PodCliqueSet, got none": lambda: grove.read(io.StringIO('{"kind": "List", "items": []}')),
    "at most one open file can be read at once, got 2": lambda: grove.read(io.StringIO("{}"), io.StringIO("{}")),
    "missing.yaml: no such file": lambda: grove.read("missing.yaml"),
    "objects: expected a PodCliqueSet, got none": lambda: grove.read({"kind": "List", "items": []}),
    "objects: document 1, items[0], apiVersion: expected a string, got nothing": lambda: grove.read(
        {"kind": "PodCliqueSet"}
    ),
    "old takes paths of manifests": lambda: grove.read(RECORDED, old={"kind": "PodCliqueSet"}),
    "old: PodCliqueSet/qwen: expected manifests of PodCliqueSets; what a cluster has is given without old=": lambda: (
        grove.read(MANIFEST, old=RECORDED)
    ),
    "sources: PodCliqueSet/embed: expected manifests alone, as old= stands for the cluster": lambda: grove.read(
        [one for one in objects() if one["metadata"]["name"] == "embed"], old=MANIFEST
    ),
    # how it is read
    "complete is True or False; got 'no'": lambda: grove.read(RECORDED, complete="no"),  # type: ignore[arg-type]  # refused
    "namespace is a text; got list": lambda: grove.read(RECORDED, namespace=["a"]),  # type: ignore[arg-type]  # refused
    "namespace is an empty text; leave it out": lambda: grove.read(RECORDED, namespace=""),
    "expected a PodCliqueSet, got none in namespace prod; known: llm-serving": lambda: grove.read(
        RECORDED, namespace="prod"
    ),
    "config is a path; got dict": lambda: grove.read(RECORDED, config={}),  # type: ignore[arg-type]  # refused
    "real-cluster.yaml: expected one configuration, got 54": lambda: grove.read(RECORDED, config=RECORDED),
    "kind: expected 'OperatorConfiguration', got": lambda: grove.read(RECORDED, config=MANIFEST),
    "faults is one of raise, return; got 'ignore'": lambda: grove.read(RECORDED, faults="ignore"),
    "now has no time zone: 2026-11-20T09:00:00; say datetime": lambda: grove.read(RECORDED, now=NAIVE),
    "now is no time with a zone, such as 2026-11-20T09:00:00Z: got 'today'": lambda: grove.read(RECORDED, now="today"),
    "now is a datetime or a text such as 2026-11-20T09:00:00Z; got int": lambda: grove.read(RECORDED, now=3),  # type: ignore[arg-type]  # refused
    "now is before the year 1 or after the year 9999": lambda: grove.read(
        RECORDED, now=datetime.max.replace(tzinfo=timezone(-timedelta(hours=1)))
    ),
    "now='dump', and nothing in the input has a time; give the time, or now='clock'": lambda: grove.read(
        UNTIMED, now="dump"
    ),
    "rules 'field@alpha.99' is not one of auto, design, field, ": lambda: grove.read(RECORDED, rules="field@alpha.99"),
    'did you mean "field"': lambda: grove.read(RECORDED, rules="feild"),
    "rules is the name of a rule set, a RuleSet or 'auto'; got int": lambda: grove.read(RECORDED, rules=3),  # type: ignore[arg-type]  # refused
    # a live cluster
    "manifests takes paths": lambda: grove.read_live(manifests={"kind": "PodCliqueSet"}),
    "all_namespaces is True or False; got 1": lambda: grove.read_live(all_namespaces=1),  # type: ignore[arg-type]  # refused
    "kubeconfig is a path; got int": lambda: grove.read_live(kubeconfig=3),  # type: ignore[arg-type]  # refused
    "context is a text; got int": lambda: grove.read_live(context=3),  # type: ignore[arg-type]  # refused
    "missing.kubeconfig: No such file or directory; give another kubeconfig=": lambda: grove.read_live(
        kubeconfig="missing.kubeconfig"
    ),
    "is it up, and is context= the one you mean?": lambda: grove.read_live(kubeconfig=unreachable()),
    # plans
    "cluster is what grove_shell.read() returns; got str": lambda: grove.plan("cluster.yaml"),  # type: ignore[arg-type]  # refused
    "cluster is what grove_shell.read() returns; got Plan": lambda: grove.forecast(grove.plan(CLUSTER), until="6h"),  # type: ignore[arg-type]  # refused
    "sets are names of PodCliqueSets, as 'prod/llama'; got NoneType": lambda: grove.plan(CLUSTER, sets=[None]),  # type: ignore[list-item]  # refused
    "sets names no PodCliqueSet; leave it out for all": lambda: grove.plan(CLUSTER, sets=[]),
    "sets: not in the input: PodCliqueSet qwem; did you mean": lambda: grove.plan(CLUSTER, sets="qwem"),
    "until is no time span such as 6h or 1h30m; a day is 24h: got 'soon'": lambda: grove.forecast(
        CLUSTER, until="soon"
    ),
    "until must be after the time of the plan": lambda: grove.forecast(CLUSTER, until=timedelta(0)),
    "until is a timedelta, a datetime or a text such as 6h; got int": lambda: grove.forecast(CLUSTER, until=6),  # type: ignore[arg-type]  # refused
    "until has no time zone": lambda: grove.forecast(CLUSTER, until=NAIVE),
    # explanations, comparisons, validation
    "target: qwen is not KIND/NAME with KIND one of": lambda: grove.explain(CLUSTER, "qwen"),
    "target: not in the input, or of no PodCliqueSet in it: PodClique qwen-9": lambda: grove.explain(
        CLUSTER, "pclq/qwen-9"
    ),
    "target is a text as 'pclq/llama-0-decode'; got int": lambda: grove.explain(CLUSTER, 5),  # type: ignore[arg-type]  # refused
    "the namespace is an argument of its own: explain(cluster, 'KIND/NAME', namespace=...)": lambda: grove.explain(
        CLUSTER, "pclq/llm-serving/qwen-0-worker"
    ),
    "second is the name of a rule set, a RuleSet or": lambda: grove.compare(CLUSTER, "design", CLUSTER),  # type: ignore[arg-type]  # refused
    "nothing to validate: give the path": grove.validate,
    "nothing to validate: give the path of a file or folder": lambda: grove.validate([]),
    "validate takes paths of files and folders": lambda: grove.validate({"kind": "PodCliqueSet"}),
}
NO_CLUSTER: Final = """\
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: me, user: {}}]
"""


def unreachable() -> str:
    """The path of a kubeconfig whose server does not answer."""
    with NamedTemporaryFile("w", suffix=".yaml", delete=False) as written:
        written.write(NO_CLUSTER)
    return written.name


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
        assert len(raised.value.faults if isinstance(raised.value, grove.BadInput) else [1]) <= MOST_PROBLEMS


class TestLB015:
    """A message that a function raises MUST name arguments and open files of the program, and no option of the command
    line.
    """

    @pytest.mark.parametrize("sentence", USES)
    def test_none_names_an_option_of_the_command_line(self, sentence: str) -> None:
        with pytest.raises((TypeError, ValueError, grove.BadInput)) as raised:
            USES[sentence]()
        assert not OPTION.search(str(raised.value))
        assert "stdin" not in str(raised.value)
