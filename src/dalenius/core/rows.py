"""Promises about a person with several rows, in the documents that the checker reads.

A person's rows are drawn one by one, so that levels and deltas of local_dp add up over them. A document that promises
level epsilon for `rows` rows is proved as one that promises epsilon / rows for each, and its figures are multiplied.
"""

from collections.abc import Mapping
from typing import Any

from dalenius.core.numbers import exact, up, written
from dalenius.core.reading import require

__all__ = ["draws_of", "of_one_row", "times_rows"]


ADDED_OVER_ROWS = ("epsilon_nats", "delta")


def _rows_of_level(promised: Mapping[str, Any]) -> int:
    rows = promised.get("rows", 1) if "local_dp" in promised else 1
    require(type(rows) is int and rows >= 1, "rows is not a number of rows")
    return int(rows)


def of_one_row(document: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """The document with every level of local_dp divided by the rows that it is about, and these numbers of rows.

    What the file says of a person in its source, or as a card in its own right, must be what its promises count.
    """
    many = [_rows_of_level(g["promised"]) for g in document["guarantees"]]
    most = document.get("max_rows", document.get("source", {}).get("max_rows", 1))
    levels = [n for n, g in zip(many, document["guarantees"], strict=True) if "local_dp" in g["promised"]]
    require(all(n == most for n in levels if most != 1 or "source" in document), "a level is not that of a person")
    if set(many) <= {1}:
        return document, many
    single = []
    for rows, guarantee in zip(many, document["guarantees"], strict=True):
        promised = dict(guarantee["promised"])
        if "local_dp" in promised:
            promised.pop("rows", None)
            promised |= {k: written(exact(promised[k]) / rows) for k in ("local_dp", "delta") if k in promised}
        single.append({**guarantee, "promised": promised})
    mechanism, least = document.get("mechanism", {}), max(many)
    if isinstance(mechanism.get("each"), dict):
        mechanism = mechanism | {"each": {n: written(exact(v) / least) for n, v in mechanism["each"].items()}}
        document = document | {"mechanism": mechanism}
    if "source" in document:
        document = document | {"source": {k: v for k, v in document["source"].items() if k != "max_rows"}}
    return {k: v for k, v in document.items() if k != "max_rows"} | {"guarantees": single}, many


def draws_of(promised: Mapping[str, Any]) -> tuple[int, int]:
    """The records of the group and the released rows that a promise of `dalenius` is about.

    >>> draws_of({"dalenius": True, "group": 3}), draws_of({"dalenius": True, "rows": 40})
    ((3, 1), (1, 40))
    """
    group, rows = promised.get("group", 1), promised.get("rows", 1)
    counted = type(group) is int and type(rows) is int and group >= 1 and (rows == 1 or rows >= group)
    require(counted, "group and rows are not numbers of records and of their rows")
    return int(group), int(rows)


def times_rows(figures: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Figures of one row for so many: levels and deltas times their number, rounded up.

    >>> times_rows({"epsilon_nats": "0.5"}, 3), times_rows({"epsilon_nats": "0.5"}, 1)
    ({'epsilon_nats': '1.5'}, {'epsilon_nats': '0.5'})
    """
    if rows == 1:
        return dict(figures)
    return {k: up(rows * exact(v)) if k in ADDED_OVER_ROWS and v is not None else v for k, v in figures.items()}
