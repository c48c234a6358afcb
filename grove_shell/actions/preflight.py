"""``grove validate --preflight``: would an operator of this configuration start there?"""

from collections.abc import Iterable

from grove_core.areas.mnnvl.preflight import objection_to_start
from grove_core.resources.definition_names import Names, clashes
from grove_shell.actions.situation import situation_of
from grove_shell.actions.source import NoCluster, Source
from grove_shell.exits import DONE, ERROR
from grove_shell.manifests.definitions import own_names
from grove_shell.page import Page, complain, show
from grove_shell.views.faults import NOTHING_DECIDED, faults_page


def preflight(source: Source) -> int:
    """Judge and print; returns the exit code (CL-031)."""
    installed: list[Names] = []
    try:
        if source.live is not None:
            from grove_shell.actions.installed_names import installed_names  # noqa: PLC0415 - needs the client

            installed = installed_names(source.live)
        situation = situation_of(source)
    except NoCluster as fault:
        show(_page_of_taken_names(installed))
        complain(fault)
        return ERROR
    cluster, page = situation.loaded.cluster, _page_of_taken_names([*installed, *situation.loaded.definitions])
    told, served = cluster.configuration, cluster.served
    objection = objection_to_start(told, served)
    if objection is not None:
        page.add(("would not start: ", "bold red"), objection.sentence, (f"  {objection.rule.requirement}", "dim"))
    elif situation.faults:
        complain(faults_page(situation.faults, NOTHING_DECIDED))
    elif told.mnnvl.enabled and served.domains is None:
        page.add(("unknown: ", "bold yellow"), "whether the cluster has ComputeDomains does not show in this input")
    elif not page.lines:
        page.add(("would start", "bold green"))
        show(page)
        return DONE
    show(page)
    return ERROR


def _page_of_taken_names(found: Iterable[Names]) -> Page:
    """One line for each name of a definition of ours that another one has or asks for (CL-032)."""
    page = Page()
    for clash in clashes(found, own_names()):
        page.add(("name taken: ", "bold red"), clash.sentence, ("  CL-032", "dim"))
    return page
