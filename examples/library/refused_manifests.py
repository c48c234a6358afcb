"""Which manifests of a folder are refused, and why: ``python refused_manifests.py manifests/``."""

import sys

import grove_shell as grove

result = grove.validate(sys.argv[1:], rules="field")
for problem in result.problems:
    place = f"{problem.file}:{problem.line or 1}: {problem.object or 'the file'}: {problem.path}"
    print(f"{place.removesuffix(': ')}: {problem.message}{f', got {problem.got}' if problem.got else ''}")
print(f"{len(result.refused)} of {len(result.manifests)} manifests refused, {len(result.faulty_files)} faulty files")
sys.exit(0 if result.ok else 1)
