"""The program of the single file: unpacks the packages for this Python once, and runs grove from there.

It is the ``__main__`` of the file, beside ``contents.py`` and the archives of packages. Python 3.6 can read it too, so
that a Python that is too old prints what is needed (RL-006).
"""

import os
import shutil
import sys
import tempfile
import zipfile

import contents  # type: ignore[import-not-found]  # a module of the single file alone

EXIT_ERROR = 1  # as grove_shell.exit_codes, which is not unpacked yet


def main() -> None:
    """Unpack if need be, then run the command line."""
    problem = unmet_requirement()
    if problem:
        sys.exit(fail(f"grove: this file needs {contents.NEEDS}; {problem}"))
    try:
        packages = unpacked_packages(sys.path[0])
    except OSError as fault:
        advice = "set XDG_CACHE_HOME to a folder of yours that can be written"
        sys.exit(fail(f"grove: cannot unpack into {fault.filename}: {fault.strerror}; {advice}"))
    sys.path[0] = packages
    from grove_shell.__main__ import main as run  # noqa: PLC0415 - it is there from here on

    run()


def fail(message: str) -> int:
    """Print a message and return the exit code."""
    sys.stderr.write(message + "\n")
    return EXIT_ERROR


def unmet_requirement() -> str:
    """Return what is different here from what the file needs; empty if nothing is."""
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if here not in contents.PYTHONS:
        return f"here is Python {here}"
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if not sys.platform.startswith("linux") or machine != contents.MACHINE:
        return "here is " + " ".join(filter(None, (sys.platform, machine)))
    try:
        has_glibc = bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (ValueError, OSError):
        has_glibc = False
    return "" if has_glibc else "here is another C library"


def unpacked_packages(archive: str) -> str:
    """Return the folder of the packages for this Python, unpacked into the user's cache at the first run (RL-007).

    It is unpacked beside its place and renamed, so that no process sees a part of it. A folder around it to which
    others can write is an error.
    """
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    home = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "grove")
    os.makedirs(home, mode=0o700, exist_ok=True)
    state = os.stat(home)
    if state.st_uid != os.getuid() or state.st_mode & 0o022:
        raise OSError(1, "others can write to it", home)
    target = os.path.join(home, f"{contents.DIGEST[:16]}-{version}")
    if os.path.isdir(target):
        return target
    being_made = tempfile.mkdtemp(dir=home, prefix="unpacking-")
    try:
        with zipfile.ZipFile(archive) as outer:
            for name in ("common.zip", f"{version}.zip"):
                with outer.open(name) as inner, zipfile.ZipFile(inner) as packed:
                    packed.extractall(being_made)
        os.rename(being_made, target)
    except OSError:
        shutil.rmtree(being_made, ignore_errors=True)
        if not os.path.isdir(target):  # else another process was first
            raise
    return target


if __name__ == "__main__":
    main()
