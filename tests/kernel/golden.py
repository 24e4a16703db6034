"""The golden corpus: texts and what the kernel says about each, a folder for each part of the kernel.

python -m tests.kernel.golden base          writes the texts of `corpus/base` from the documents of the tests
python -m tests.kernel.golden FOLDER        writes corpus/FOLDER/verdicts.json anew, to be read before it is kept
"""

import json
import re
import sys
from pathlib import Path

from dalenius.kernel import Refused, check
from dalenius.kernel.numbers import down, up
from dalenius.kernel.promises import LOWER
from tests.kernel.documents import text_of
from tests.kernel.forgeries import forged
from tests.kernel.honest_documents import honest

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 8_000
DIGITS = 15


def file_name(name):
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") + ".json"


def base_texts():
    """{file name: text} of `corpus/base`: the honest documents and the forgeries that are not long."""
    texts = {f"honest_{file_name(name)}": text_of(document) for name, document in honest().items()}
    texts |= {f"forged_{file_name(name)}": text for name, text in forged().items() if len(text) <= LONGEST}
    return texts


def shown(figure, name=""):
    if figure is None:
        return None
    return down(figure, DIGITS) if name in LOWER else up(figure, DIGITS)


def verdict_of(text, privacy_only, checker=check, refusal=Refused):
    """What the kernel says about a text, in words that can be compared."""
    try:
        verdict = checker(text, None, privacy_only)
    except refusal as error:
        # What could have stood there instead grows with every form, law and aim.
        return "refused: " + re.sub(r" is not one of .*| must be .* in this order", " ...", str(error))
    found = {
        "promises": [
            figures and {name: shown(figure, name) for name, figure in figures.items()}
            for figures in verdict.kept.promises
        ],
        "limits": [shown(cost) for cost in verdict.kept.limits],
        "rows": verdict.rows,
    }
    if verdict.kept.stated:
        found["stated"] = {name: shown(figure) for name, figure in verdict.kept.stated.items()}
    if not privacy_only:
        low, high = (down, up) if verdict.maximised else (up, down)
        found |= {"rule": verdict.rule}
        if verdict.value is not None:
            found |= {"value": low(verdict.value, DIGITS), "bound": high(verdict.bound, DIGITS)}
    return found


def texts_of(folder):
    return {
        file.name: file.read_bytes().decode() for file in sorted(folder.glob("*.json")) if file.name != "verdicts.json"
    }


def verdicts_of(folder, every=1, **by):
    """{file name: {"privacy": ..., "all": ...}} of one text in `every`; of `base` privacy alone."""
    found = {}
    for name, text in list(texts_of(folder).items())[::every]:
        found[name] = {"privacy": verdict_of(text, True, **by)}
        if folder.name != "base":
            found[name]["all"] = verdict_of(text, False, **by)
    return found


def write(folder):
    if folder.name == "base":
        for old in folder.glob("*.json"):
            old.unlink()
        for name, text in base_texts().items():
            (folder / name).write_bytes(text.encode())
    verdicts = verdicts_of(folder)
    (folder / "verdicts.json").write_text(json.dumps(verdicts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    proved = sum(not isinstance(verdict["privacy"], str) for verdict in verdicts.values())
    print(f"{folder.name}: {len(verdicts)} texts, {proved} proved")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(CORPUS / name)
