"""The work that a design declares: enough, and where that is enough no more than `verify` allows by default."""

from dalenius.documents.proving import ENOUGH, with_work, work_declared
from dalenius.kernel.document import MOST_WORK, allowed_work
from dalenius.kernel.numbers import canonical

DRAFT = {"format": "dalenius-design/2", "idle": "0" * 600_000}  # 0.6 MB, of which 20 million operations are allowed


def test_a_margin_is_declared_while_it_is_allowed():
    assert work_declared(1_000_000, canonical(DRAFT)) == "3600000"


def test_the_margin_does_not_pass_what_is_allowed():
    assert allowed_work(canonical(DRAFT)) == MOST_WORK
    assert work_declared(17_000_000, canonical(DRAFT)) == str(MOST_WORK)


def test_a_proof_that_needs_more_says_so():
    assert int(work_declared(19_000_000, canonical(DRAFT))) > MOST_WORK


def test_the_text_is_that_of_the_document_whatever_its_owner_calls_a_column():
    draft = {"format": "dalenius-design/2", "work": str(ENOUGH), "variables": [{"name": f'"work":"{ENOUGH}"'}]}
    text = with_work(draft, 1000)
    assert text == canonical(draft)
    assert draft["work"] == work_declared(1000, canonical(draft | {"work": str(ENOUGH)}))
