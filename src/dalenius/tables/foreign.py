"""Files of other tools: matrices of sdcMicro, randomised response as OpenDP makes it, hierarchies of ARX."""

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from dalenius.core.channel import Channel
from dalenius.core.numbers import exact
from dalenius.errors import InputError, TableError

__all__ = ["arx_groups", "opendp_response", "sdcmicro_matrix"]

CANDIDATES = (";", ",", "\t")


def sdcmicro_matrix(path: str | Path, column: str) -> Channel:
    """The recipe of a matrix of PRAM, as R writes it with `write.csv(matrix, file)`.

    Parameters
    ----------
    path : str or Path
        A text file: the released values in the first line, then a line for each original value with its name first.
    column : str
        The column that the matrix is for.

    Returns
    -------
    Channel
        p(released | original), with the numbers of the file made exact and every row adding up to 1.

    Raises
    ------
    TableError
        If the file is no square matrix of probabilities with the same values on both sides.
    """
    name = Path(path).name
    lines = _lines(path)
    if len(lines) < 2:
        raise TableError(
            f"{name} has no matrix: a line of values and a line for each of them were expected",
            do="Write the matrix as sdcMicro does: write.csv of it in R.",
        )
    released = [field.strip() for field in lines[0]]
    width = len(lines[1])
    released = released[1:] if len(released) == width else released  # R leaves the corner out with write.table
    originals = [line[0].strip() for line in lines[1:]]
    if len(released) != width - 1 or any(len(line) != width for line in lines[1:]):
        raise TableError(
            f"{name}: the lines do not have the same number of fields", do="Give every line the same number of fields."
        )
    if sorted(originals) != sorted(released) or len(set(released)) != len(released):
        raise TableError(
            f"{name}: rows and columns do not name the same values",
            do="Name the same values in the first line and at the beginning of each line.",
        )
    order = [released.index(value) for value in originals]
    matrix = []
    for line in lines[1:]:
        numbers = [exact(field.strip(), f"{name}: an entry") for field in line[1:]]
        if any(abs(number) > 2 for number in numbers):  # a last digit too much is judged by the sum of its row
            raise TableError(f"{name}: an entry is no probability", do="Write numbers from 0 to 1.")
        matrix.append([float(numbers[k]) for k in order])
    try:
        return Channel.rationalise({column: tuple(originals)}, {column: tuple(originals)}, matrix)
    except InputError as e:
        raise TableError(f"{name}: {e}", do="Correct this row: its entries add up to 1.") from None


def opendp_response(values: Sequence[str], probability: object, column: str) -> Channel:
    """The recipe of randomised response: the true answer with a probability, else one of the others, all alike.

    Parameters
    ----------
    values : sequence of str
        The answers, two or more.
    probability : object
        Of the true answer, as a number or a text such as "3/4".
    column : str
        The column that holds the answers.

    Returns
    -------
    Channel

    Raises
    ------
    InputError
        If there are fewer than two answers, or the probability is not between 0 and 1.

    Examples
    --------
    >>> [str(p) for p in opendp_response(["yes", "no"], "3/4", "smoker").rows[0]]
    ['3/4', '1/4']
    """
    true = exact(probability, "the probability of the true answer")
    if len(values) < 2 or len(set(values)) != len(values):
        raise InputError("Name two or more different values.")
    if not 0 <= true <= 1:
        raise InputError(f"The probability of the true answer is {probability}; it must lie between 0 and 1.")
    other = (1 - true) / (len(values) - 1)
    rows: tuple[tuple[Fraction, ...], ...] = tuple(
        tuple(true if released == original else other for released in values) for original in values
    )
    return Channel({column: tuple(values)}, {column: tuple(values)}, rows)


def arx_groups(path: str | Path, level: int) -> dict[str, tuple[str, ...]]:
    """The groups of one level of a hierarchy of ARX.

    Parameters
    ----------
    path : str or Path
        A text file with a line for each value: the value, then its group at level 1, at level 2, ...
    level : int
        1 or more.

    Returns
    -------
    dict
        The values of each group.

    Raises
    ------
    TableError
        If a line lacks the level, or a value stands in two lines.
    """
    name = Path(path).name
    groups: dict[str, list[str]] = {}
    seen: set[str] = set()
    for number, line in enumerate(_lines(path), 1):
        fields = [field.strip() for field in line]
        if not 1 <= level < len(fields):
            raise TableError(
                f"{name}, line {number}: there is no level {level}; the line has {len(fields) - 1}",
                do="Choose a level that every line has.",
            )
        if fields[0] in seen:
            raise TableError(f'{name}, line {number}: "{fields[0]}" stands in two lines', do="Keep one of the lines.")
        seen.add(fields[0])
        groups.setdefault(fields[level], []).append(fields[0])
    if not groups:
        raise TableError(f"{name} is empty; a line for each value was expected", do="Write a line for each value.")
    return {label: tuple(values) for label, values in groups.items()}


def _lines(path: str | Path) -> list[list[str]]:
    """The fields of each line; the delimiter is the one that divides the first line most."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise TableError(
            f"cannot read {path}: {getattr(e, 'strerror', None) or 'it is not UTF-8 text'}",
            do="Check the name and your rights, and save the file as UTF-8.",
        ) from None
    first = text.partition("\n")[0]
    delimiter = max(CANDIDATES, key=first.count)
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as e:
        raise TableError(f"cannot read {path}: {e}", do="Check the file: it may be damaged.") from None
    return [line for line in lines if any(field.strip() for field in line)]
