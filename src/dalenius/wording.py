"""Names as sentences show them, and what was proved in a few words: what the command line needs at once."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = [
    "ONE_BY_ONE",
    "Shape",
    "as_toml",
    "compared",
    "in_bits",
    "joined",
    "once",
    "proof_words",
    "rounded_up",
    "shown",
    "unsteered",
]

MOST_NAMES = 16  # more are not listed in a sentence
_HIDDEN = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def shown(text: object) -> str:
    """A name or letter of the data made safe to show: nothing that steers a terminal or turns the line around.

    >>> shown("north"), shown("a\\x1b[31m"), shown(""), shown(" ")
    ('north', 'a\\\\x1b[31m', '(empty)', '" "')
    """
    word = unsteered(str(text), but="")
    if not word:
        return "(empty)"
    return f'"{word}"' if word != word.strip() else word


def unsteered(text: str, *, but: str = "\n\t") -> str:
    """A text without what steers a terminal or turns a line around, but for line ends and tabs.

    >>> unsteered("a\\x1b]0;b\\x07\\nc")
    'a\\\\x1b]0;b\\\\x07\\nc'
    """
    if text.isprintable():  # what is printable holds nothing of either kind
        return text
    steers = {c for c in set(text) if c not in but and (unicodedata.category(c) in _HIDDEN or c in _DIRECTIONS)}
    return "".join(ascii(c)[1:-1] if c in steers else c for c in text)


def as_toml(value: Any) -> str:
    """A value as a problem file writes it; what is not said is left out.

    >>> as_toml({"of": ["plan", "visits"], "at_most": "1/10", "p": None, "each": True})
    '{ of = ["plan", "visits"], at_most = "1/10", each = true }'
    """
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {as_toml(entry)}' for key, entry in value.items() if entry is not None)} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{shown(value)}"' if isinstance(value, str) else str(value)


def joined(names: Sequence[str], word: str = "and") -> str:
    """Names as a sentence lists them.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    >>> joined([f"X{k}" for k in range(1, 61)])
    'X1, X2, X3, ... and X60 (60 in all)'
    """
    if len(names) > MOST_NAMES:
        return f"{', '.join(map(shown, names[:3]))}, ... {word} {shown(names[-1])} ({len(names)} in all)"
    safe = [shown(name) for name in names]
    return f" {word} ".join([", ".join(safe[:-1]), safe[-1]] if len(safe) > 1 else safe)


def once(sentences: Iterable[str]) -> list[str]:
    """The sentences that say something, each once, in their order."""
    return list(dict.fromkeys(sentence for sentence in sentences if sentence))


ONE_BY_ONE = ("dual", "water", "rate")
"""Proofs that no channel of one record does better, whose averages over many records are such channels again."""


@dataclass(frozen=True)
class Shape:
    """What every recipe has to keep beside the promises, for none of them to be better."""

    # Columns that leave as they are: those with rules of their own for each value, and the others.
    strata: Sequence[str] = ()
    kept: Sequence[str] = ()
    # Columns in their own values, and values that never change.
    release: Sequence[str] = ()
    freeze: Sequence[str] = ()
    # Whether each column is treated by itself, changes are forbidden, and all shares are kept.
    each: bool = False
    forbids: bool = False
    keeps_shares: bool = False
    side: str | None = None  # what its reader has anyway

    def seen(self, inputs: Iterable[str]) -> list[str]:
        """Of what a recipe looks at, that which does not leave as it is."""
        return [name for name in inputs if name not in self.strata]


def compared(
    shape: Shape,
    inputs: Iterable[str],
    *,
    by_noise: bool,
    limited: bool,
    told: Sequence[tuple[str, Sequence[str]]],
    by_record: bool,
) -> str:
    """The recipes among which none is better: everything that the bound holds fixed beside the promises.

    Parameters
    ----------
    shape : Shape
        Of the design.
    inputs : names
        What the recipe looks at.
    by_noise : bool
        Whether numbers are released on the grid of noise.
    limited : bool
        Whether the change has limits.
    told : sequence of (bits, names)
        What must be told at least.
    by_record : bool
        Whether the bound is one for codes of many records too.

    Returns
    -------
    str
        One sentence.
    """
    lines = [f"looks at {joined(shape.seen(inputs))} alone"]
    if shape.strata:
        lines.append(f"has rules of its own for each {joined(shape.strata)}, which {_leaves(shape.strata)}")
    if shape.kept:
        lines.append(f"decides by that alone, beside {joined(shape.kept)}, which {_leaves(shape.kept)}")
    if shape.release:
        where = "on the grid of the noise" if by_noise else "in the values that the table has"
        lines.append(f"releases {joined(shape.release)} {where}")
    if shape.each:
        lines.append("treats each column by itself")
    if shape.keeps_shares:
        lines.append("keeps the number of rows of every combination, on average")
    if shape.forbids:
        lines.append("makes no change that the problem forbids")
    if shape.freeze:
        lines.append(f"never changes {joined(shape.freeze)}")
    if limited:
        lines.append("keeps the limits on the change")
    lines += [f"says at least {least} bits about {joined(about)}" for least, about in told]
    if shape.side:
        lines.append(f"uses {shown(shape.side)} as the problem says")
    if not by_record:
        lines.append("changes each row by itself, all rows by the same rule")
    *others, last = lines
    listed = f"{'; '.join(others)}{';' if len(others) > 1 else ''} and {last}" if others else last
    return f"Compared with every recipe that {listed}."


def _leaves(names: Sequence[str]) -> str:
    return "goes out as it is" if len(names) == 1 else "go out as they are"


def rounded_up(q: Fraction) -> str:
    """A figure from above: four digits after the point, or three digits where it is small.

    >>> [rounded_up(Fraction(1, n)) for n in (3, 30_000, 3_000_000_000)]
    ['0.3334', '0.0000334', '3.34e-10']
    """
    digits = 4
    while q and q * 10**digits < 100 and q < Fraction(1, 1000):
        digits += 1
    from dalenius.kernel.numbers import up  # opens the checker: `--help` and refusals do without

    return up(q, digits) if digits <= 8 else f"{up(q * 10 ** (digits - 2), 2)}e-{digits - 2:02d}"


def in_bits(bits: Fraction | None) -> str:
    """Bits in a sentence, rounded up.

    >>> in_bits(Fraction(1)), in_bits(Fraction(1, 3))
    ('1 bit', '0.3334 bits')
    """
    if bits is None:
        return "everything"
    many = rounded_up(bits)
    return "1 bit" if many == "1" else f"{many} bits"


def proof_words(document: dict[str, Any], figures: tuple[dict[str, Fraction | None] | None, ...]) -> list[str]:
    """What was proved about an answer.

    Parameters
    ----------
    document : dict
        The proof of the answer, as its file says it.
    figures : tuple
        What the kernel proved of each promise.

    Returns
    -------
    list of str
        A line for each promise.
    """
    kind = document["noise"]["noise"]
    noise = "a table of noise" if kind == "table" else f"{kind} noise"
    lines = [f"Proved: sums over {int(document['records']):,} records under {noise}."]
    for promise, proved in zip(document["promises"], figures, strict=True):
        told = proved or {}
        group = promise["group"]
        whose = "any one record" if group == 1 else f"any {group} records of a person"
        if promise["promise"] == "dalenius":
            about = "all records together, or anything else" if group == int(document["records"]) else whose
            lines.append(f"  Nobody learns more than {in_bits(told['capacity_bits'])} about {about}.")
        elif promise["promise"] == "independent_records":
            found = in_bits(told["independent_bits"])
            lines.append(f"  Somebody who knows all other records learns at most {found} about {whose}.")
        else:
            epsilon = told["epsilon_nats"] or Fraction(0)
            delta = told["delta"] or Fraction(0)
            small = f", delta 1 in {int(1 / delta):,}" if delta else ""  # never less than it is
            lines.append(f"  Differential privacy of {whose}: epsilon {rounded_up(epsilon)}{small}.")
    if error := document["error"]:
        lines.append(f"  The noise is at most {error['steps']} steps with a probability of at least {error['level']}.")
    return lines
