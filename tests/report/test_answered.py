"""The statement of an answer says what it promises, and does not call everything a limit."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from dalenius.answering import answer
from dalenius.core import Column
from dalenius.core.question import Question
from dalenius.sampling import Key


def test_a_promise_that_allows_everything_says_so(tmp_path: Path) -> None:
    """ "Nobody learns more than 1 bit" about one of two values stood as the promise: it is all there is to know."""
    table = pa.table({"sex": ["f", "m"] * 50})
    for scale, void in ((Fraction(1), True), (Fraction(10**6), False)):
        asked = Question("histogram", ("sex",), "discrete-gaussian", scale, declared={"sex": Column(values=("f", "m"))})
        answer(asked, table, key=Key.unsafe(3), card=tmp_path / f"{scale}.json")
        page = (tmp_path / f"{scale}.html").read_text("utf-8")
        assert ("nothing is promised: they may learn all there is to know about a row, 1 bit" in page) == void
        assert ("Nobody learns more than" in page) == (not void)
