"""Many damaged documents through the kernel, the exported file, and brute force.

python -m tests.kernel.torture COUNT [SEED]
"""

import random
import sys
import time
from dataclasses import dataclass, field

from dalenius.kernel import Refused, check
from tests.kernel.brute import truthful
from tests.kernel.documents import honest, text_of
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


def sentence(call, refusal, text):
    """None where a text is proved, else the refusal; anything else that is raised goes through."""
    try:
        call(text, None, True)
    except refusal as error:
        return str(error)
    return None


def damage(many, seed, checker=check):
    """Damage honest documents so many times."""
    chance = random.Random(seed)
    documents = list(honest().values())
    other = one_file()
    found = Count()
    for _ in range(many):
        document = damaged(chance.choice(documents), chance)
        text = text_of(document)
        start = time.perf_counter()
        try:
            said = sentence(checker, Refused, text)
        except Exception:  # whatever is raised is what we look for
            found.raised.append(text)
            continue
        found.slowest = max(found.slowest, time.perf_counter() - start)
        if checker is check and sentence(other.check, other.Refused, text) != said:
            found.differ.append(text)
        if said is not None:
            found.refused += 1
            continue
        found.proved += 1
        try:
            true = truthful(document, chance)
        except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError):
            true = False  # brute force could not even read it
        if not true:
            found.false.append(text)
    return found


def main():
    many = int(sys.argv[1])
    found = damage(many, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(
        f"{many:,} damaged documents: {found.refused:,} refused, {found.proved:,} proved, "
        f"{len(found.false)} of them false, "
        f"{len(found.raised)} raised something else, {len(found.differ)} differ in the exported file, "
        f"slowest {found.slowest:.2f} s"
    )
    for text in found.false + found.raised + found.differ:
        print(text[:2000])
    return 1 if found.false or found.raised or found.differ else 0


if __name__ == "__main__":
    sys.exit(main())
