"""The text of a document reads back as the document, whatever it holds; a design is written once."""

import json

from hypothesis import given
from hypothesis import strategies as st

from dalenius.core.document import SHORT, laid_out
from dalenius.designs import disclose
from dalenius.testing import xor

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_what_is_laid_out_reads_back(document):
    assert json.loads(laid_out(document)) == document


def test_records_have_lines_of_their_own_and_a_long_list_has_one():
    records = [{"X": str(k), "p": "1/2"} for k in range(SHORT + 1)]
    assert len(laid_out({"pmf": records[:-1]}).splitlines()) == SHORT + 4
    assert len(laid_out({"pmf": records}).splitlines()) == 3


def test_a_design_is_written_once_and_its_document_is_the_callers_own():
    design = disclose(xor())
    assert design.dumps() is design.dumps()
    design.to_json()["channel"]["rows"].clear()
    assert json.loads(design.dumps())["channel"]["rows"]
    assert json.loads(design.dumps()) == design.to_json()
    outline = design.outline()
    assert {**design.to_json(), "joint": outline["joint"]} == outline
