"""What the kernel says about every text of the corpus is what it said when the verdict was read and kept."""

import json

import pytest

from dalenius.kernel import Refused, check
from tests.effort import effort
from tests.kernel.golden import CORPUS, base_texts, texts_of, verdict_of, verdicts_of
from tests.kernel.one_file import one_file

FOLDERS = sorted(folder for folder in CORPUS.iterdir() if folder.is_dir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_verdicts_of_the_corpus_are_those_that_were_kept(folder):
    kept = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    assert verdicts_of(folder) == kept


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_exported_file_gives_the_same_verdicts(folder):
    other = one_file()
    kept = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    found = verdicts_of(folder, effort(12, 1), checker=other.check, refusal=other.Refused)
    assert found
    assert found == {name: kept[name] for name in found}


def test_the_corpus_of_the_base_is_made_of_the_documents_of_the_tests():
    assert texts_of(CORPUS / "base") == base_texts()


def test_the_corpus_has_both_kinds_of_verdicts():
    texts = [text for folder in FOLDERS for text in texts_of(folder).values()]
    assert len(texts) >= 150
    verdicts = [verdict_of(text, True) for text in texts_of(CORPUS / "base").values()]
    refused = sum(isinstance(verdict, str) for verdict in verdicts)
    assert refused >= 200
    assert len(verdicts) - refused >= 50


def test_a_changed_text_changes_its_verdict():
    name, text = next(item for item in texts_of(CORPUS / "base").items() if item[0] == "honest_leakage.json")
    assert verdict_of(text, True) != verdict_of(text.replace('"0.19"', '"0.18"'), True), name
    with pytest.raises(Refused, match="canonical"):
        check(text + " ")
