"""Small files beside a table: joint pmfs, channels and lists of letters, read strictly."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from math import lcm
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dalenius.core.channel import Channel
from dalenius.core.design import Design
from dalenius.core.numbers import strict_json
from dalenius.core.pmf import Pmf
from dalenius.core.product_pmf import ProductPmf, law_of
from dalenius.core.samples import Samples
from dalenius.documents import OLD, PROVABLE, about_file, belongs, told_card, told_design
from dalenius.errors import DaleniusError, InputError, MismatchError, TableError, Unsupported

__all__ = [
    "conditionally_iid",
    "read_channel",
    "read_design",
    "read_gain",
    "read_json",
    "read_law",
    "read_letters",
    "read_metric",
    "read_pmf",
    "read_text",
    "read_told",
    "sound",
]

MOST_OUTCOMES = 200_000

T = TypeVar("T")


def read_text(path: str | Path, what: str = "file") -> str:
    """A small text file, whole; `what` names it in the error when it is not there.

    Parameters
    ----------
    path : str or Path
        The file.
    what : str
        What the file is called in an error.

    Returns
    -------
    str
        All of it.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    path = Path(path)
    try:
        return path.read_bytes().decode()  # to the letter: the digest of a document is that of its file
    except FileNotFoundError:
        raise InputError(
            f"there is no {what} {path.name} (looked in {path.parent.absolute()})", do="Check the name and the folder."
        ) from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path.name} is not UTF-8 text", do="Save it as UTF-8, or check that it is the right file."
        ) from None
    except ValueError:
        raise InputError(f"the name of the {what} holds a NUL character", do="Correct the name.") from None
    except OSError as e:
        raise InputError(
            f"cannot read the {what} {path}: {e.strerror}", do="Check the name and your rights to the file."
        ) from None


def read_json(path: str | Path, what: str = "file") -> Any:
    """A JSON document: duplicate keys and NaN are refused, numbers with a point are kept as exact decimals.

    Parameters
    ----------
    path : str or Path
        The file.
    what : str
        What the file is called in an error.

    Returns
    -------
    object
        Plain values.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    try:
        return strict_json(read_text(path, what))
    except InputError as e:
        raise InputError(
            str(e) if str(e).startswith(("there is", "cannot", Path(path).name)) else f"{Path(path).name}: {e}"
        ) from None


def read_about(path: str | Path, text: str) -> dict[str, Any]:
    """What travels beside a document: the file of the same name that ends in .about.json; empty where there is none."""
    beside = about_file(Path(path))
    if not beside.is_file():
        return {}
    about = read_json(beside, "file")
    if not belongs(about, text):
        raise InputError(
            f"{beside.name} belongs to another document than {Path(path).name}: its `of` is not the SHA-256 of that "
            "file; put the right one there, or take it away"
        )
    return dict(about)


@contextmanager
def sound(path: str | Path) -> Iterator[None]:
    """While the block reads what a document or the file beside it says, a value of the wrong kind is its damage.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    try:
        yield
    except DaleniusError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as e:
        name = Path(path).name
        raise InputError(
            f"{name}: the file or the one beside it is damaged: {type(e).__name__} {e}",
            do=f"Run `dalenius verify {name}` to see what it still proves.",
        ) from None


def read_told(path: str | Path, what: str = "design or card file") -> Any:
    """A design or a card as sentences read it, with what travels beside it; any other document as it stands.

    Nothing in it is believed before it is proved. Version 1 is refused.

    Parameters
    ----------
    path : str or Path
        The file.
    what : str
        What the file is called in an error.

    Returns
    -------
    object
        Plain values.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    text = read_text(path, what)
    document = read_json(path, what)
    kind = document.get("format") if isinstance(document, dict) else None
    if kind in OLD:
        raise InputError(
            f"{Path(path).name} is of version 1 ({kind})",
            do=f"Run `dalenius convert {Path(path).name} NEW`, which proves it again and writes it as version 2.",
        )
    if kind not in PROVABLE:
        return document
    with sound(path):
        about = read_about(path, text)
        return (told_design if "law" in document else told_card)(document, about)


def read_design(path: str | Path) -> Design:
    """A design from its file and what travels beside it. Nothing in it is believed before it is proved.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Design
        As the file says it.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    told = read_told(path, "design file")
    with sound(path):
        try:
            return Design.from_json(told, read_text(path))
        except InputError as e:
            raise e.within(str(path)) from None


def _born(birth: Callable[[Any], T], path: Path, what: str) -> T:
    document = read_json(path, what)
    try:
        return birth(document)
    except DaleniusError as e:
        raise e.within(path.name) from None


def read_pmf(path: str | Path, what: str = "distribution file") -> Pmf:
    """A joint pmf from the `joint.json` format.

    Parameters
    ----------
    path : str or Path
        The file.
    what : str
        What the file is called in an error.

    Returns
    -------
    Pmf
        Exact.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    return _born(Pmf.from_json, Path(path), what)


def read_law(path: str | Path, what: str = "distribution file") -> Pmf | ProductPmf:
    """A joint pmf or a product of independent groups from the `joint.json` format."""
    return _born(law_of, Path(path), what)


def read_channel(path: str | Path, what: str = "recipe file") -> Channel:
    """A channel from the `channel.json` format.

    Parameters
    ----------
    path : str or Path
        The file.
    what : str
        What the file is called in an error.

    Returns
    -------
    Kernel
        Of any form.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    return _born(Channel.from_json, Path(path), what)


def read_metric(path: str | Path, alphabets: Mapping[str, Sequence[str]]) -> Any:
    """The distances of a metric file, whose inputs must be these: names, letters and order; or plain rows."""
    document = read_json(path, "metric file")
    name = Path(path).name
    if isinstance(document, list):
        return document
    if not isinstance(document, dict) or set(document) != {"inputs", "distances"}:
        raise InputError(f'{name}: a metric file has the keys "inputs" and "distances"', do="Give the file these keys.")
    ours = {n: list(letters) for n, letters in alphabets.items()}
    if not isinstance(document["inputs"], dict) or list(document["inputs"].items()) != list(ours.items()):
        raise MismatchError(
            f"{name}: the inputs are {document['inputs']}, and what the mechanism observes is {ours}",
            do="List the columns in the order of observe.",
        )
    return document["distances"]


def read_gain(path: str | Path, secret: Mapping[str, Sequence[str]]) -> Any:
    """The gains of a gain file, whose secret must be this: names, letters and order; or rows and nothing else."""
    document = read_json(path, "gain file")
    name = Path(path).name
    if isinstance(document, list):
        return document
    if not isinstance(document, dict) or set(document) - {"actions"} != {"secret", "gains"}:
        raise InputError(
            f'{name}: a gain file has the keys "secret" and "gains", and perhaps "actions"',
            do="Give the file these keys.",
        )
    ours = {n: list(letters) for n, letters in secret.items()}
    if not isinstance(document["secret"], dict) or list(document["secret"].items()) != list(ours.items()):
        raise MismatchError(
            f"{name}: the secret is {document['secret']}, and that of the promise is {ours}",
            do="Name the same columns in both.",
        )
    actions = document.get("actions")
    if actions is not None and (not isinstance(actions, list) or len(actions) != len(document["gains"])):
        raise InputError(f"{name}: there is not one row of gains for each action", do="Write one row for each action.")
    return document["gains"]


def read_letters(path: str | Path, whose: str) -> tuple[str, ...]:
    """An alphabet from a file: a .json list, or text with one letter a line (blank lines do not count).

    Parameters
    ----------
    path : str or Path
        The file.
    whose : str
        The column, for errors.

    Returns
    -------
    tuple of str
        Each once.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    path = Path(path)
    what = f"file of values for {whose}:"
    if path.suffix.lower() == ".json":
        letters = read_json(path, what)
        if not isinstance(letters, list) or not all(type(letter) in (str, int) for letter in letters):
            raise TableError(
                f"{path.name}: the values of {whose} are not a list of strings",
                do="Write the values as texts, in quotes.",
            )
        return tuple(str(letter) for letter in letters)
    lines = (line.strip() for line in read_text(path, what).removeprefix("\ufeff").splitlines())
    return tuple(line for line in lines if line)


def conditionally_iid(prior: Pmf, kernel: Channel, hidden: str, n: int) -> Pmf:
    r"""The joint pmf of a hidden variable W and n samples that are independent and alike given it,

        p(w, x_1, ..., x_n) = p(w) prod_i k(x_i | w),

    written out in full; the samples are named after the output of the kernel, X1 to Xn.

    Parameters
    ----------
    prior : Pmf
        p(w).
    kernel : Channel
        p(x | w).
    hidden : str
        The name of W.
    n : int
        How many samples.

    Returns
    -------
    Pmf
        Of W and all samples.

    >>> from fractions import Fraction
    >>> half = Fraction(1, 2)
    >>> w = Pmf.from_records({"W": ("0", "1")}, [(("0",), "1/2"), (("1",), "1/2")])
    >>> k = Channel({"W": ("0", "1")}, {"X": ("a", "b")}, ((half, half), (Fraction(1), Fraction(0))))
    >>> conditionally_iid(w, k, "W", 2).probability(X1="b", X2="b")
    Fraction(1, 8)
    """
    alike = Samples(hidden, prior, kernel, n)
    letters, names = alike.letters, alike.names
    size = len(letters) ** n * len(kernel.rows)
    if size > MOST_OUTCOMES:
        many = f"{size:,}" if size < 10**15 else "far too many"
        raise Unsupported(
            f"{n} samples have {many} outcomes, more than {MOST_OUTCOMES:,}; to protect each single one of them, write "
            f'observe = ["{alike.sample}"] and independent = ["{alike.sample}"], and types will do'
        )
    scale = lcm(*(entry.denominator for row in kernel.rows for entry in row))
    codes, counts = [], []
    for (w,), weight in zip(prior.support.tolist(), prior.weights.tolist(), strict=True):
        row = np.array([int(value * scale) for value in kernel.rows[w]], dtype=object)
        law = reduce(np.multiply.outer, [row] * n).reshape(-1) * weight
        found = np.flatnonzero(law)
        samples = np.stack(np.unravel_index(found, (len(letters),) * n), axis=1)
        codes.append(np.insert(samples, 0, w, axis=1))
        counts.extend(law[found].tolist())
    variables = {hidden: prior.variables[hidden], **dict.fromkeys(names, tuple(letters))}
    return Pmf.from_counts(variables, np.concatenate(codes), counts)
