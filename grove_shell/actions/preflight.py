"""``grove validate --preflight``: check whether an operator with this configuration would start in the cluster."""

from collections.abc import Iterable

from grove_core.areas.mnnvl.admit import preflight_objection
from grove_core.resources.crd_names import CrdNames, name_clashes
from grove_shell.actions.command_input import ClusterUnavailable, InputSource, read_input
from grove_shell.exit_codes import DONE, ERROR
from grove_shell.manifests.crd_definitions import grove_crd_names
from grove_shell.page import Page, print_error, print_page
from grove_shell.views.formatting import NOTHING_DECIDED, input_problems_page


def preflight(source: InputSource) -> int:
    """Judge and print; returns the exit code (CL-032)."""
    installed: list[CrdNames] = []
    try:
        if source.live is not None:
            from grove_shell.actions.live_cluster_lists import installed_crd_names  # noqa: PLC0415 - needs the client

            installed = installed_crd_names(source.live)
        inputs = read_input(source)
    except ClusterUnavailable as fault:
        print_page(_page_of_taken_names(installed))
        print_error(fault)
        return ERROR
    cluster, page = inputs.loaded.cluster, _page_of_taken_names([*installed, *inputs.loaded.definitions])
    settings, served = cluster.configuration, cluster.served
    objection = preflight_objection(settings, served)
    if objection is not None:
        page.add(("would not start: ", "bold red"), objection.sentence, (f"  {objection.rule.requirement}", "dim"))
    elif inputs.problems:
        print_error(input_problems_page(inputs.problems, NOTHING_DECIDED))
    elif settings.mnnvl.enabled and served.domains is None:
        page.add(("unknown: ", "bold yellow"), "whether the cluster has ComputeDomains does not show in this input")
    elif not page.lines:
        page.add(("would start", "bold green"))
        print_page(page)
        return DONE
    print_page(page)
    return ERROR


def _page_of_taken_names(found: Iterable[CrdNames]) -> Page:
    """Return a line for each name of our definitions that another definition has or claims (CL-032)."""
    page = Page()
    for clash in name_clashes(found, grove_crd_names()):
        page.add(("name taken: ", "bold red"), clash.sentence, ("  CL-032", "dim"))
    return page
