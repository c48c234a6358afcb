"""``grove validate --preflight``: would an operator of this configuration start there?"""

from grove_core.areas.mnnvl.preflight import objection_to_start
from grove_shell.actions.situation import situation_of
from grove_shell.actions.source import NoCluster, Source
from grove_shell.exits import DONE, ERROR
from grove_shell.page import Page, complain, show
from grove_shell.views.faults import NOTHING_DECIDED, faults_page


def preflight(source: Source) -> int:
    """Judge and print; returns the exit code (CL-031)."""
    try:
        situation = situation_of(source)
    except NoCluster as fault:
        complain(fault)
        return ERROR
    cluster, page = situation.loaded.cluster, Page()
    told, served = cluster.configuration, cluster.served
    objection = objection_to_start(told, served)
    if objection is not None:
        page.add(("would not start: ", "bold red"), objection.sentence, (f"  {objection.rule.requirement}", "dim"))
    elif situation.faults:
        complain(faults_page(situation.faults, NOTHING_DECIDED))
    elif told.mnnvl.enabled and served.domains is None:
        page.add(("unknown: ", "bold yellow"), "whether the cluster has ComputeDomains does not show in this input")
    else:
        page.add(("would start", "bold green"))
        show(page)
        return DONE
    show(page)
    return ERROR
