"""How a replay is shown."""

import time

from grove_shell.views.replay_page import ReplayReport, RuleSetTerminationDifference, replay_page
from tests.replay.log_lines import AT, parted


def page_of(*looks: RuleSetTerminationDifference) -> str:
    reported = ReplayReport(
        decisions=len(looks), sets=1, first=AT, last=AT, versions=(), rules=("field",), other_rules="design",
        changed=(), rule_differences=looks,
    )  # fmt: skip
    return replay_page(reported, full=False).plain_text


class TestPage:
    """What a person reads of a log."""

    def test_rp005_each_difference_is_reported_once_in_its_first_round(self) -> None:
        shown = page_of(parted(1, 1), parted(2, 2), parted(1, 3))
        assert [words in shown for words in ("line 1", "line 2", "line 3")] == [True, True, False]

    def test_rp005_a_long_log_takes_as_long_as_it_is(self) -> None:
        """Comparing each with each would take ten minutes."""
        begin = time.process_time()
        assert "and 39,980 more" in page_of(*(parted(number, number) for number in range(40_000)))
        assert time.process_time() - begin < 30
