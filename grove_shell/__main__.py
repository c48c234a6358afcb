"""The executable: ``grove``, and as a kubectl plugin ``kubectl grove``."""

import os
import sys
from io import TextIOWrapper
from pathlib import Path


def main() -> None:
    """Run the command line and leave with its exit code (CL-001)."""
    from grove_shell.cli.main import run_command_line

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an ASCII terminal can show a "µs" as well as it can
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "true")  # we have none, and looking for them takes a while
    program = Path(sys.argv[0]).name
    if program.startswith("kubectl_complete-"):
        from grove_shell.cli.kubectl_completion import complete_for_kubectl

        code = complete_for_kubectl(sys.argv[1:])
    else:
        name = "kubectl grove" if program.startswith("kubectl-") else "grove"
        code = run_command_line(sys.argv[1:], name)
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except OSError:
        sys.exit(code)  # the interpreter flushes again, and says what is wrong
    os._exit(code)  # nothing is left to do, but a hundred thousand objects to take down one by one


if __name__ == "__main__":
    main()
