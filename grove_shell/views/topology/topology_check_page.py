"""The page of ``grove topology check``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from grove_core.areas.topology.fit_check import GangFit, GangTreeFit, PodCliqueSetFit, PodColocation
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.gang_fit import GangFitReport, TopologyFit
from grove_core.kernel.reasons import Reason
from grove_core.resources.pod_demand import resource_amount_text
from grove_core.resources.pod_requests import PODS
from grove_shell.reading.input_topologies import NodeCollector
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import count_with_noun, join_names_with_commas, rule_citation

_MOST: Final = 4
_REFUSED: Final = (", but admission would refuse the set", "bold red")
_WORDS: Final[Mapping[FitVerdict, Span]] = MappingProxyType(
    {
        FitVerdict.FITS: ("FITS", "bold green"),
        FitVerdict.CANNOT: ("CANNOT FIT", "bold red"),
        FitVerdict.UNDECIDED: ("NOT DECIDED", "bold magenta"),
    }
)


def topology_check_page(checks: Iterable[GangFitReport], collected: NodeCollector, *, verbose: bool) -> StyledTextPage:
    """Return the page: each set under its own topology, then under each other one (TP-100 to TP-111)."""
    page = StyledTextPage()
    page.add_line((f"{count_with_noun(len(collected.nodes), 'node')}, {_subtracted(collected)}", "dim"))
    for check in checks:
        page.add_line()
        page.add_line(
            (f"{check.root.namespace}/{check.root.name}", "bold"), *_head(check.own, refused=bool(check.objections))
        )
        for objection in check.objections:
            page.add_line("    ", ("refused: ", "red"), str(objection), rule_citation(objection.reason))
        _body(page, check.own, verbose=verbose)
        for other in check.others:
            page.add_line("  under ", (other.name, "bold"), *_head(other)[1:])
            _body(page, other, verbose=verbose)
    return page


def _subtracted(collected: NodeCollector) -> str:
    """Return whose requests are subtracted from the nodes (TP-103)."""
    if not collected.with_pods:
        return "taken as empty: the input has no pods"
    if not collected.pods_on_nodes:
        return "all empty: no pod in the input requests resources on a node"
    elsewhere = len(collected.pods_on_nodes) - collected.pods_on_listed_nodes
    others = f"; {count_with_noun(elsewhere, 'pod')} on nodes that the input lacks" if elsewhere else ""
    return f"minus the requests of {count_with_noun(collected.pods_on_listed_nodes, 'pod')} on them{others}"


def _head(one: TopologyFit, *, refused: bool = False) -> tuple[Span | str, ...]:
    name = f"  under {one.name}" if one.name else "  under no topology"
    path = " > ".join(level.domain for level in one.levels)
    return (
        name,
        f" ({path})" if path else "",
        ": ",
        _WORDS[one.worst_verdict],
        _at_once(one),
        _REFUSED if refused else "",
    )


def _at_once(one: TopologyFit) -> str:
    """Return the verdict on all gangs together, where each alone fits and all together do not."""
    if one.fit is None or one.worst_verdict is not FitVerdict.FITS or one.fit.result.verdict is FitVerdict.FITS:
        return ""
    return f", each gang alone; all together {_WORDS[one.fit.result.verdict][0]}"


def _body(page: StyledTextPage, one: TopologyFit, *, verbose: bool) -> None:
    _add_reasons(page, "    ", one.because)
    _add_reasons(page, "    the set may not change to it: ", one.switch_refusals)
    if one.unlabelled.names:
        lacking = ", ".join(f"{key} ({count:,})" for key, count in one.unlabelled.lacking)
        names = join_names_with_commas(list(one.unlabelled.names), _MOST)
        page.add_line(
            (
                f"    {count_with_noun(len(one.unlabelled.names), 'node')} not part of it, without {lacking}: {names}",
                "dim",
            )
        )
    if one.fit is not None:
        for gang in one.fit.gangs:
            _gang(page, gang, verbose=verbose)
        _together(page, one.fit, verbose=verbose)


def _gang(page: StyledTextPage, gang: GangFit, *, verbose: bool) -> None:
    requests = ", ".join(
        resource_amount_text(resource, amount) for resource, amount in gang.requested if resource != PODS
    )
    names = gang.names[0] + (f" and {len(gang.names) - 1:,} alike" if len(gang.names) > 1 else "")
    size = f"{count_with_noun(gang.pods, 'pod')}{f'; {requests}' if requests else ''}"
    page.add_line("    ", _WORDS[gang.result.verdict], f"  {names} ({size})")
    _fitting(page, "      ", gang.result, verbose=verbose)
    if gang.minimum_result is not None:
        page.add_line(
            f"      the {count_with_noun(gang.minimum, 'pod')} that it needs to start: ",
            _WORDS[gang.minimum_result.verdict],
        )
        if gang.minimum_result.verdict is not gang.result.verdict:
            _fitting(page, "        ", gang.minimum_result, verbose=verbose)
    if gang.guaranteed:
        for words in _promises(gang.guaranteed):
            page.add_line(f"      guaranteed: {words}")
    else:
        page.add_line("      guaranteed: nothing; its pods may be on any nodes")
    for promise, fitting in gang.preferred:
        page.add_line(f"      preferred: {_promise(promise)}: ", _WORDS[fitting.verdict])
        _fitting(page, "        ", fitting, verbose=False)


def _together(page: StyledTextPage, fit: PodCliqueSetFit, *, verbose: bool) -> None:
    """Add the verdict on all gangs together, where there are several."""
    gangs = sum(len(gang.names) for gang in fit.gangs)
    if gangs > 1:
        page.add_line("    ", _WORDS[fit.result.verdict], f"  the {gangs:,} gangs together")
        if all(gang.result.verdict is not FitVerdict.CANNOT for gang in fit.gangs):  # its reasons are above
            _fitting(page, "      ", fit.result, verbose=verbose)


def _fitting(page: StyledTextPage, indent: str, fitting: GangTreeFit, *, verbose: bool) -> None:
    _add_reasons(page, indent, fitting.because)
    for place in fitting.assignments if verbose else ():
        page.add_line(f"{indent}  {place.node}: {count_with_noun(place.pods, 'pod')} of {place.clique}")


def _add_reasons(page: StyledTextPage, indent: str, because: Sequence[Reason]) -> None:
    for reason in because:
        page.add_line(f"{indent}{reason.sentence}", rule_citation(reason))


def _promises(promises: Iterable[PodColocation]) -> Iterator[str]:
    """Yield one line for all constraints with the same number of pods and the same level."""
    alike: dict[tuple[int, str], list[PodColocation]] = {}
    for one in promises:
        alike.setdefault((one.pods, one.level), []).append(one)
    for (pods, level), of in alike.items():
        names = join_names_with_commas([one.of for one in of], _MOST)
        each = "each of " if len(of) > 1 else ""
        yield f"{_pods(pods)} of {each}{names} {_within(level)}"


def _promise(one: PodColocation) -> str:
    return f"{_pods(one.pods)} of {one.of} {_within(one.level)}"


def _pods(pods: int) -> str:
    return f"all {count_with_noun(pods, 'pod')}" if pods > 1 else count_with_noun(pods, "pod")


def _within(level: str) -> str:
    return f"{'on' if level == 'host' else 'in'} one {level}"
