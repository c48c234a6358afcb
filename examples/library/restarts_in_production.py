"""Fail when manifests restart more than 16 GPUs of a production namespace.

``kubectl get namespaces -o json > namespaces.json``, then
``python restarts_in_production.py cluster.json namespaces.json manifests/``
"""

import json
import sys
from pathlib import Path

import grove_shell as grove

dump, namespaces, manifests = sys.argv[1:]
found = json.loads(Path(namespaces).read_text())["items"]
production = [one["metadata"]["name"] for one in found if one["metadata"].get("labels", {}).get("env") == "prod"]
plan = grove.plan(grove.read(dump, manifests))
if plan.unknown:
    sys.exit("not known: " + "; ".join(plan.unknown))
edits = [one for one in plan.edits if one.set.partition("/")[0] in production]
large = [one for one in edits if one.restarts is None or one.restarts.gpus > 16]
for one in large:
    print(one.set, "restarts", one.restarts.gpus if one.restarts else "an unknown number of", "GPUs")
sys.exit(1 if large else 0)
