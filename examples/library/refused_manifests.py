"""Which manifests of a folder are refused, and why: ``python refused_manifests.py manifests/``."""

import sys

import grove_shell as grove

result = grove.validate(sys.argv[1:], rules="field")
for problem in result.problems:
    print(f"{problem.file}:{problem.line or 1}: {problem.object}: {problem.path}: {problem.message}, got {problem.got}")
print(f"{len(result.refused)} of {len(result.manifests)} manifests are refused")
sys.exit(0 if result.ok else 1)
