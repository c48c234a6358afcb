"""``python -m release``: make all files of a release; ``nox -s release`` runs it with the tools that it needs."""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from grove_core.version import VERSION
from release.artifacts import (
    Addresses,
    Source,
    differing_artifacts,
    holds_something_else,
    replace_release,
    write_artifacts,
)
from release.checksums import SIGNATURE, sign_checksums
from release.locked_wheels import ROOT, download_locked_wheels
from release.single_file import PYTHONS
from release.source_commit import commit_time, differing_files, export_commit

KEY: Final = "GROVE_SIGNING_KEY"
_DOWNLOADS: Final = f"https://example.com/grove/releases/v{VERSION}"


def arguments_of(words: list[str]) -> Namespace:
    """Return the options of the command line."""
    parser = ArgumentParser(prog="python -m release", description="Make all files of a release of this checkout.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder to write into (default: dist)")
    parser.add_argument("--signed", action="store_true", help=f"fail without a private key: {KEY} is its file")
    parser.add_argument("--dirty", action="store_true", help="also make it of a tree that differs from its commit")
    parser.add_argument("--twice", action="store_true", help="make it twice, and fail if the bytes differ")
    parser.add_argument("--downloads", default=_DOWNLOADS, metavar="URL", help="where the files will be downloaded")
    parser.add_argument("--homepage", default=os.environ.get("GROVE_REPOSITORY", ""), metavar="URL", help="the project")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Make the release, print what was made, and return the exit code."""
    options = arguments_of(words)
    key = os.environ.get(KEY, "")
    problems = problems_before(options, key)
    if problems:
        sys.stderr.writelines(f"{one}\n" for one in problems)
        return 1
    try:
        return make(options, key)
    except (ValueError, subprocess.CalledProcessError) as fault:
        sys.stderr.write(f"{fault}\n{(getattr(fault, 'stderr', None) or b'').decode(errors='replace')}")
        return 1


def problems_before(options: Namespace, key: str) -> list[str]:
    """Return why nothing can be released: all reasons at once."""
    found = []
    differing = [] if options.dirty else differing_files(ROOT)
    if differing:
        found.append(f"a release is made of a commit; these files differ from it: {', '.join(differing[:10])}")
        found.append("commit them, or give --dirty for a try")
    if options.signed and not key:
        found.append(f"--signed: set {KEY} to the file of a private key of OpenSSH")
    if holds_something_else(options.out):
        found.append(f"{options.out} is not empty and holds no release: name another folder with --out")
    if key and not Path(key).is_file():
        found.append(f"{KEY}: there is no file {key}")
    return found


def make(options: Namespace, key: str) -> int:
    """Make the artifacts, sign their checksums if there is a key, and put them into the folder when all is done."""
    addresses, signer, seconds = Addresses(options.downloads, options.homepage), "", commit_time(ROOT)
    with tempfile.TemporaryDirectory() as aside:
        made, again = Path(aside) / "made", Path(aside) / "again"
        wheels = {python: download_locked_wheels(python, Path(aside) / python) for python in PYTHONS}
        source = Source(ROOT if options.dirty else export_commit(ROOT, Path(aside) / "source"), seconds)
        write_artifacts(made, source, addresses, wheels)
        if options.twice:
            write_artifacts(again, source, addresses, wheels)
            differing = differing_artifacts(made, again)
            if differing:
                sys.stderr.write(f"made twice, with other bytes: {', '.join(differing)}\n")
                return 1
        if key:
            signer = sign_checksums(made, Path(key))
        replace_release(options.out, made)
    report(options.out, signer, is_twice=options.twice)
    return 0


def report(folder: Path, signer: str, *, is_twice: bool) -> None:
    """Print the files with their sizes, whether they were made twice, and whether they are signed."""
    lines = [f"{path.stat().st_size:>11,}  {path.name}" for path in sorted(folder.iterdir())]
    lines += ["made twice: the same bytes"] if is_twice else []
    if signer:
        lines += [f"{SIGNATURE} is valid; the line of allowed_signers for users:", signer.rstrip()]
    else:
        lines.append(f"nothing is signed: {KEY} is not set")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
