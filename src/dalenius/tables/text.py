"""Typed columns as text: whatever engine wrote a table, equal values have equal letters.

Integers are written "7", booleans "true" and "false", whole floats "7" and others as Python writes them, dates and
times in ISO form. Blanks around a value are dropped. Null, NaN and the empty text are null; what else counts as missing
("?", "NaN") depends on the declared alphabet and is decided by `coding`.
"""

from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from dalenius.core.source import MISSING
from dalenius.errors import TableError

__all__ = ["ABSENT_SIGNS", "text_column"]

ABSENT_SIGNS = ("?", "NaN", "nan", MISSING)
"""Texts that stand for a missing value in every format, unless they are declared letters."""

TEXT = pa.dictionary(pa.int32(), pa.string())


def float_text(value: Any) -> str | None:
    """A float of any width as a letter.

    >>> float_text(7.0), float_text(-0.0), float_text(0.1), float_text(float("nan"))
    ('7', '0', '0.1', None)
    """
    if value is None or value != value:
        return None
    if abs(float(value)) < 2**53 and value == int(value):  # a float of 16 bits has no 2^53 to compare with
        return str(int(value))
    return str(value)


def text_column(array: Any, where: str) -> Any:
    """A column as a dictionary array of text; only the distinct values are turned into text.

    >>> text_column(pa.array([7.0, None, 2.5, 7.0]), "t, column 'x'").to_pylist()
    ['7', None, '2.5', '7']
    """
    if isinstance(array, pa.ExtensionArray):
        array = _plain(array, where)
    array = _usual(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), TEXT)
    try:
        coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        letters = pc.utf8_trim_whitespace(_text(coded.dictionary))
        indices = coded.indices.cast(pa.int32())
    except UnicodeDecodeError as e:
        raise TableError(
            f"{where}: not valid UTF-8 text ({e.reason})",
            do="Save the table as UTF-8, or name its encoding in [source].",
        ) from None
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise TableError(
            f"{where}: values of type {array.type} cannot be released as values",
            do="Leave this column out, or turn it into text or numbers.",
        ) from None
    letters = pc.if_else(pc.equal(letters, ""), pa.scalar(None, pa.string()), letters)
    return pa.DictionaryArray.from_arrays(indices, letters)


def _plain(array: Any, where: str) -> Any:
    """The storage of an extension type whose storage says what it means."""
    if array.type.extension_name == "arrow.uuid":
        coded = array.storage.dictionary_encode()
        names = [None if value is None else str(UUID(bytes=value)) for value in coded.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(coded.indices, pa.array(names, pa.string()))
    if array.type.extension_name == "arrow.json":
        return array.storage
    raise TableError(
        f"{where}: values of type {array.type} cannot be released as values",
        do="Leave this column out, or turn it into text or numbers.",
    )


def _usual(array: Any) -> Any:
    """The same values in a type that can be encoded: runs one by one, short decimals as long ones."""
    if pa.types.is_run_end_encoded(array.type):
        return pc.run_end_decode(array)
    kind = array.type
    if pa.types.is_decimal(kind) and not (pa.types.is_decimal128(kind) or pa.types.is_decimal256(kind)):
        return array.cast(pa.decimal128(kind.precision, kind.scale))
    return array


def _text(values: Any) -> Any:
    """Distinct values as a string array."""
    kind = values.type
    if pa.types.is_floating(kind):
        # item() would widen a 32-bit float to 64 bits and show digits that were never there.
        floats = values.to_numpy(zero_copy_only=False)
        valid = values.is_valid().to_pylist()
        return pa.array([float_text(v) if ok else None for v, ok in zip(floats, valid, strict=True)], pa.string())
    if pa.types.is_timestamp(kind):
        naive = values.cast(pa.timestamp(kind.unit)).cast(pa.string())
        if pc.any(pc.starts_with(naive, "<")).as_py():  # "<value out of range: ...>"
            raise pa.ArrowInvalid("a time beyond the calendar")
        short = pc.replace_substring_regex(naive, r"\.?0*$", "") if kind.unit != "s" else naive
        return pc.binary_join_element_wise(short, "Z", "") if kind.tz else short
    if pa.types.is_duration(kind):
        raise pa.ArrowNotImplementedError("a number whose unit would be lost")
    if pa.types.is_time(kind) and kind.unit != "s":
        return pc.replace_substring_regex(values.cast(pa.string()), r"\.?0*$", "")
    if pa.types.is_date64(kind):
        values = values.cast(pa.date32())
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
        values = values.cast(pa.binary())
    return values.cast(pa.string())
