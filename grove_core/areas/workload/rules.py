"""The clauses of the workload area: one member for each decision rule of specs/workload.md."""

from enum import unique

from grove_core.kernel.reasons import Clause, Rule


@unique
class Why(Rule):
    """Why an object of a set is treated as it is."""

    LET_GO = Clause("WL-001", "it is being deleted, and {finalizer} has nothing left to wait for")

    POD_ACCESS = Clause("WL-011", "pods that start in order see each other through it")
    SERVICE_OF_REPLICA = Clause("WL-012", "it gives the pods of replica {replica} of the set their addresses")
    CLIQUE_OF_REPLICA = Clause("WL-013", "replica {replica} of the set has a clique {clique}")
    GROUP_OF_REPLICA = Clause("WL-014", "replica {replica} of the set has a scaling group {group}")
    CLIQUE_OF_GROUP_REPLICA = Clause("WL-015", "replica {replica} of {group} has a clique {clique}")
    BASE_GANG = Clause("WL-016", "replica {replica} of the set is placed as one: {cliques} PodCliques")
    SCALED_GANG = Clause("WL-017", "replica {replica} of {group} is beyond its minimum and placed as one by itself")
    AUTOSCALED = Clause("WL-018", "{name} is scaled automatically, between {least} and {most} replicas")
    SHARED_CLAIM = Clause("WL-019", "pods share what {template} describes; scope {scope}")
    POD_OF_CLIQUE = Clause("WL-020", "pod {index} of {replicas} of the clique")
    GANG_FOLLOWS_PODS = Clause("WL-023", "{pods} of its pods exist")
    TOO_LARGE = Clause("WL-024", "{objects} PodCliques and pods are more than the {most} that are planned for one set")
    NAME_WANTED_TWICE = Clause("WL-022", "another object has that name: {other}")
    CLAIM_TEMPLATE_ELSEWHERE = Clause(
        "WL-021", "its template {template} is no inline one, and objects of that kind were not collected"
    )

    GANG_COMPLETE = Clause("WL-090", "its gang {gang} is complete")
    NOT_IN_GANG_YET = Clause("WL-091", "its gang {gang} does not refer to it yet")
    GANG_INCOMPLETE = Clause("WL-092", "its gang {gang} is not complete")
    TOO_FEW_PODS = Clause("WL-093", "the gang refers to {pods} of its pods and needs {needed}")
    BASE_GANG_PLACED = Clause("WL-094", "its gang is complete, and the base gang {gang} has been placed")
    BASE_GANG_NOT_PLACED = Clause("WL-095", "it waits for the base gang {gang} to be placed")
    TOO_FEW_PLACED = Clause("WL-096", "{placed} of its pods are placed and the gang needs {needed}")
