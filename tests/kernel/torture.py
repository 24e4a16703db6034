"""Many damaged documents through the kernel, the exported file, and brute force.

python -m tests.kernel.torture COUNT [SEED]
"""

import json
import random
import sys
import time
from dataclasses import dataclass, field
from functools import cache

from dalenius.kernel import Refused, check
from tests.kernel.brute import truthful
from tests.kernel.documents import text_of
from tests.kernel.golden import CORPUS, LONGEST, texts_of
from tests.kernel.honest_documents import honest
from tests.kernel.mutations import damaged
from tests.kernel.one_file import one_file


@dataclass
class Count:
    """What happened: texts of false proofs, of crashes and of different verdicts, and the slowest one in seconds."""

    proved: int = 0
    refused: int = 0
    slowest: float = 0.0
    false: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)


def sentence(call, refusal, text, privacy_only=True):
    """None where a text is proved, else the refusal; anything else that is raised goes through."""
    try:
        call(text, None, privacy_only)
    except refusal as error:
        return str(error)
    return None


def known_documents():
    """Honest documents whose promises brute force understands."""
    return list(honest().values())


@cache
def other_documents():
    """The documents of all other corpora: every form, law and rule, honest or not."""
    folders = [folder for folder in CORPUS.iterdir() if folder.is_dir() and folder.name != "base"]
    texts = [text for folder in folders for text in texts_of(folder).values() if len(text) < LONGEST]
    found = []
    for text in texts:
        try:
            document = json.loads(text)
        except ValueError:
            continue
        if isinstance(document, dict) and document:
            found.append(document)
    return found


def damage(many, seed, checker=check, *, everywhere=False):
    """Damage documents so many times.

    The honest ones of the base are checked again by brute force wherever they are still proved. With `everywhere`
    those of all other corpora are damaged, and checked with their bounds.
    """
    chance = random.Random(seed)
    documents = other_documents() if everywhere else known_documents()
    other = one_file()
    found = Count()
    for _ in range(many):
        document = damaged(chance.choice(documents), chance)
        text = text_of(document)
        start = time.process_time()
        try:
            said = sentence(checker, Refused, text, not everywhere)
        except Exception:  # whatever is raised is what we look for
            found.raised.append(text)
            continue
        found.slowest = max(found.slowest, time.process_time() - start)
        if checker is check and sentence(other.check, other.Refused, text, not everywhere) != said:
            found.differ.append(text)
        if said is not None:
            found.refused += 1
            continue
        found.proved += 1
        if not everywhere and not _truthful(document, chance):
            found.false.append(text)
    return found


def _truthful(document, chance):
    try:
        return truthful(document, chance)
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError):
        return False  # brute force could not even read it


def main():
    many = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed = False
    for name, everywhere in (("of the base", False), ("of every form and rule", True)):
        found = damage(many // 2, seed, everywhere=everywhere)
        again = "not checked by brute force" if everywhere else f"{len(found.false)} of them false by brute force"
        print(
            f"{many // 2:,} damaged documents {name}: {found.refused:,} refused, {found.proved:,} proved, "
            f"{again}, {len(found.raised)} raised something else, "
            f"{len(found.differ)} differ in the exported file, slowest {found.slowest:.2f} s",
            flush=True,
        )
        wrong = found.false + found.raised + found.differ
        for text in wrong:
            print(text[:2000])
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
