"""A document of the file formats as text: sections, keys and records on lines of their own, long lists in one."""

import json
from typing import Any

__all__ = ["laid_out"]

SHORT = 10_000  # records that are written one to a line; a million letters are no reading matter
DEPTH = 3

_encode = json.JSONEncoder(ensure_ascii=False).encode


def laid_out(document: Any) -> str:
    """Valid JSON that a person can read and a diff can follow, written at the speed of the encoder.

    >>> print(laid_out({"joint": {"variables": {"X": ["a"]}, "pmf": [{"X": "a", "p": "1"}]}}), end="")
    {
     "joint": {
      "variables": {
       "X": ["a"]
      },
      "pmf": [
       {"X": "a", "p": "1"}
      ]
     }
    }
    """
    return _text(document, 0) + "\n"


def _text(value: Any, depth: int) -> str:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    plain = depth == DEPTH or len(held) > SHORT or not any(isinstance(v, dict | list) and v for v in held)
    if plain and depth:
        return _encode(value)
    if isinstance(value, dict):
        lines, ends = [f"{_encode(k)}: {_text(v, depth + 1)}" for k, v in value.items()], "{}"
    elif isinstance(value, list):
        lines, ends = [_encode(v) for v in value], "[]"
    else:
        return _encode(value)
    if not lines:
        return ends
    inner = "\n" + " " * (depth + 1)
    return ends[0] + inner + f",{inner}".join(lines) + "\n" + " " * depth + ends[1]
