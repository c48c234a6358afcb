"""The operator under measurement: a process of its own, asked by its metrics and by the system what it costs."""

import json
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self
from urllib.request import urlopen

_TICKS: Final = 100
_PATIENCE: Final = 60.0
_REPORTED: Final = re.compile('kind="(PodClique|PodCliqueScalingGroup|PodGang)"')  # have a status of ours
_LINE: Final = re.compile(r"(?P<name>\w+)\{(?P<labels>[^}]*)\} (?P<value>[\d.e+]+)")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process has used so far.

    Attributes:
        processor: seconds, those of its start included.
        requests: all but those for the Lease, and watches.
        writes: of a plan.
        fewest: writes that no operator can avoid: each object made once, and one status for each that has one.
        peak: MiB of memory.
    """

    processor: float
    requests: int
    writes: int
    fewest: int
    peak: float

    def since(self, before: "Cost") -> "Cost":
        """What came after a moment; the peak stays the peak."""
        return Cost(
            processor=self.processor - before.processor,
            requests=self.requests - before.requests,
            writes=self.writes - before.writes,
            fewest=self.fewest - before.fewest,
            peak=self.peak,
        )


class Operator:
    """One operator process, started and stopped by a ``with`` block."""

    def __init__(self, kubeconfig: Path, folder: Path, backend: str = "auto") -> None:
        """Its configuration, with this back end for gangs, and its log lie in a folder."""
        self._backend = backend
        self._config = folder / "operator.yaml"
        self._log = folder / "operator.log"
        self._kubeconfig = kubeconfig
        self._process: subprocess.Popen[bytes] | None = None
        self._out: IO[bytes] | None = None
        self._port = 0

    def __enter__(self) -> Self:
        """Start, and wait until it acts."""
        self._config.write_text(
            "{apiVersion: operator.config.grove.io/v1alpha1, kind: OperatorConfiguration, "
            f"serving: {{host: 127.0.0.1, port: 0}}, scheduling: {{backend: {self._backend}}}}}",
            encoding="utf-8",
        )
        words = ["operator", "--kubeconfig", str(self._kubeconfig), "--config", str(self._config)]
        self._out = self._log.open("wb")
        self._process = subprocess.Popen([sys.executable, "-m", "grove_shell", *words], stderr=self._out)
        until = time.monotonic() + _PATIENCE
        while '"leads"' not in (text := self._log.read_text(encoding="utf-8")):
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError(f"the operator did not start: {text}")
            time.sleep(0.05)
        self._port = json.loads(text.splitlines()[0])["port"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
        if self._out is not None:
            self._out.close()

    def cost(self) -> Cost:
        """So far; the requests for the Lease are left out."""
        assert self._process is not None  # noqa: S101 - the block was entered
        place = Path(f"/proc/{self._process.pid}")
        fields = (place / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
        peak = re.search(r"VmHWM:\s+(\d+)", (place / "status").read_text(encoding="ascii"))
        with urlopen(f"http://127.0.0.1:{self._port}/metrics") as answer:
            page = answer.read().decode()
        found: Counter[str] = Counter()
        for line in _LINE.finditer(page):
            if line["name"] == "rest_client_requests_total" and 'method="PUT"' not in line["labels"]:
                found["requests"] += int(float(line["value"]))
            elif line["name"] == "grove_writes_total":
                many = int(float(line["value"]))
                found["writes"] += many
                if 'action="Create"' in line["labels"] and 'outcome="done"' in line["labels"]:
                    found["fewest"] += many * (2 if _REPORTED.search(line["labels"]) else 1)
        return Cost(
            processor=(int(fields[11]) + int(fields[12])) / _TICKS,
            requests=found["requests"],
            writes=found["writes"],
            fewest=found["fewest"],
            peak=int(peak[1]) / 1024 if peak else 0.0,
        )
