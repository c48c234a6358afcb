"""SHA256SUMS of a folder, and its signature by OpenSSH (RL-009)."""

import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Final

SUMS: Final = "SHA256SUMS"
SIGNATURE: Final = f"{SUMS}.sig"
NAMESPACE: Final = "grove-release"
"""The purpose that the signature names: the same key for another purpose makes no valid signature of a release."""
SIGNER: Final = "releases@grove"


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 of every other file of the folder, as ``sha256sum -c`` reads it."""
    files = sorted(path for path in folder.iterdir() if path.name not in {SUMS, SIGNATURE})
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def sign_checksums(folder: Path, key: Path) -> str:
    """Sign SHA256SUMS with a private key of OpenSSH, verify that, and return the line for users' ``allowed_signers``.

    Args:
        folder: with SHA256SUMS.
        key: the private key, or a public key whose private one ``ssh-agent`` has.

    Raises:
        subprocess.CalledProcessError: the key cannot be read, or the signature is not valid.
    """
    sums = folder / SUMS
    (folder / SIGNATURE).unlink(missing_ok=True)
    _ssh_keygen("-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key), str(sums))
    public = key.read_text("utf-8") if key.suffix == ".pub" else _ssh_keygen("-y", "-f", str(key))
    signer = f'{SIGNER} namespaces="{NAMESPACE}" {" ".join(public.split()[:2])}\n'
    with tempfile.TemporaryDirectory() as aside:
        allowed = Path(aside) / "allowed_signers"
        allowed.write_text(signer, encoding="utf-8")
        words = ("-f", str(allowed), "-I", SIGNER, "-n", NAMESPACE, "-s", str(folder / SIGNATURE))
        _ssh_keygen("-Y", "verify", *words, given=sums.read_bytes())
    return signer


def _ssh_keygen(*words: str, given: bytes | None = None) -> str:
    done = subprocess.run(("ssh-keygen", *words), input=given, capture_output=True, check=True)  # noqa: S603, S607 - the user's own OpenSSH
    return done.stdout.decode()
