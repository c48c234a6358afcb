"""Makes mutants of the core in the working directory, a copy of the checkout: ``python -m tests.mutation.generate``.

mutmut does it; a module that did not change since the last time keeps its mutants.
"""

import os
from pathlib import Path

from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths
from mutmut.mutation.trampoline import set_mutant_under_test

if __name__ == "__main__":
    set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(os.cpu_count() or 1)
