"""The archive and the manifest with which ``kubectl krew`` installs grove (RL-008)."""

import hashlib
from typing import Final

from grove_core.version import VERSION
from grove_shell.views.renderers import format_yaml_document
from release.fixed_archives import packed_tar
from release.single_file import requirements

ARCHIVE: Final = f"kubectl-grove-{VERSION}-linux-amd64.tar.gz"
_PROGRAM: Final = "kubectl-grove"
_LICENSES: Final = ("LICENSE", "NOTICE")
_DESCRIPTION: Final = """\
Shows which replicas of a PodCliqueSet are terminated now or later (to the
second), which are kept and why, what an edit restarts, and which objects a
new manifest becomes. It only reads, unless you run `apply` or `operator`.
"""
_BEGINNING: Final = "To begin with: kubectl grove plan --live -n NAMESPACE"


def krew_archive(program: bytes, licenses: dict[str, bytes], seconds: int) -> bytes:
    """Return the archive of the plugin: the single file by the name that kubectl looks for, and the licenses."""
    return packed_tar({_PROGRAM: program, **licenses}, seconds, frozenset({_PROGRAM}))


def krew_manifest(archive: bytes, downloads: str, homepage: str = "") -> str:
    """Return the manifest as YAML.

    Args:
        archive: the content of the archive that is beside it.
        downloads: the address of the folder from which the archive can be downloaded.
        homepage: the address of the project; left out if empty.
    """
    platform = {
        "selector": {"matchLabels": {"os": "linux", "arch": "amd64"}},
        "uri": f"{downloads.rstrip('/')}/{ARCHIVE}",
        "sha256": hashlib.sha256(archive).hexdigest(),
        "bin": _PROGRAM,
        "files": [{"from": name, "to": "."} for name in (_PROGRAM, *_LICENSES)],
    }
    spec = {
        "version": f"v{VERSION}",
        **({"homepage": homepage} if homepage else {}),
        "shortDescription": "Predict what the Grove operator will do",
        "description": _DESCRIPTION,
        "caveats": f"Needs {requirements()} as python3.\n{_BEGINNING}\n",
        "platforms": [platform],
    }
    return format_yaml_document(
        {
            "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
            "kind": "Plugin",
            "metadata": {"name": "grove"},
            "spec": spec,
        }
    )
