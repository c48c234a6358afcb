"""The expected objects of a set, computed without the core."""

from collections import Counter

from tests.property.workload.sets import (
    Json,
)


class Expected:
    """What a set consists of, read off the documents: kind and name, pods by clique."""

    def __init__(self, raw: Json) -> None:
        template = raw["spec"]["template"]
        self.names: Counter[tuple[str, str]] = Counter()
        self.cliques = {clique["name"]: clique for clique in template["cliques"]}
        self.inline = {entry["name"] for entry in template["resourceClaimTemplates"]}
        groups = template["podCliqueScalingGroups"]
        grouped = {name for group in groups for name in group["cliqueNames"]}
        once = [("ServiceAccount", "llm"), ("Secret", "llm-ic-sat")]
        self.names.update([*once, ("Role", "grove.io:pcs:llm"), ("RoleBinding", "grove.io:pcs:llm")])
        self.share("llm", template["resourceSharing"], raw["spec"]["replicas"])
        for replica in range(raw["spec"]["replicas"]):
            base = f"llm-{replica}"
            self.names.update([("Service", base), ("PodGang", base)])
            for short in (short for short in self.cliques if short not in grouped):
                self.clique(f"{base}-{short}", short)
                self.scale(f"{base}-{short}", self.cliques[short]["spec"]["autoScalingConfig"])
            for group in groups:
                self.group(f"{base}-{group['name']}", group)

    def group(self, name: str, group: Json) -> None:
        self.names["PodCliqueScalingGroup", name] += 1
        self.share(name, group["resourceSharing"], group["replicas"])
        self.scale(name, group["scaleConfig"])
        for beyond in range(group["replicas"] - group["minAvailable"]):
            self.names["PodGang", f"{name}-{beyond}"] += 1
        for index in range(group["replicas"]):
            for short in group["cliqueNames"]:
                self.clique(f"{name}-{index}-{short}", short)

    def clique(self, name: str, short: str) -> None:
        self.names["PodClique", name] += 1
        self.names["Pod", name] += self.cliques[short]["spec"]["replicas"]
        self.share(name, self.cliques[short]["resourceSharing"], self.cliques[short]["spec"]["replicas"])

    def scale(self, name: str, config: Json | None) -> None:
        if config:
            self.names["HorizontalPodAutoscaler", name] += 1

    def share(self, owner: str, entries: list[Json], replicas: int) -> None:
        for entry in (entry for entry in entries if entry["name"] in self.inline):
            for index in ["all"] if entry["scope"] == "AllReplicas" else list(map(str, range(replicas))):
                self.names["ResourceClaim", f"{owner}-{index}-{entry['name']}"] += 1
