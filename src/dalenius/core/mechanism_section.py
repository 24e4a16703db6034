"""The section `[mechanism]` of a problem file: what is looked at, and what may leave."""

from fractions import Fraction
from typing import Any, Literal

from dalenius.core.combination import Combination
from dalenius.core.forms.windows import chain, sliding
from dalenius.core.guarantee import Names
from dalenius.core.noise_law import NOISE_LAWS, NoiseLaw
from dalenius.core.section import Section
from dalenius.errors import InputError

__all__ = ["FORMS", "mechanism_of"]

FORMS = ["pram", "randomised-response", "subset-selection", "windows", "sums", "random-columns", "noise", "records"]
"""What `form` in [mechanism] may say; a mechanism that is registered adds its own."""


def mechanism_of(s: Section) -> dict[str, Any]:
    """The fields of a problem that the section says."""
    parts = {
        "observe": s.names("observe"),
        "output": s.text("output", None),
        "release": s.names("release", ()),
        "keep": s.names("keep", ()),
        "strata": s.names("strata", ()),
        "forbid": _forbid(s),
        "freeze": s.names("freeze", ()),
        "preserve_marginals": s.flag("preserve_marginals", False),
        "allow_inverted": s.flag("allow_inverted", False),
        "form": s.choice("form", FORMS, None),
        "order": s.choice("order", ("shuffle", "keep"), "shuffle"),
    }
    parts["windows"] = _windows(s, parts["observe"], parts["form"]) if "windows" in s.values else ()
    parts["modulus"] = s.integer("modulus", None, least=2)
    parts["each"] = _each(s) if "each" in s.values else False
    parts["noise"] = _noise(s) if "noise" in s.values else None
    parts["towards"] = _towards(s) if "towards" in s.values else None
    parts["min_multiplicity"] = s.integer("min_multiplicity", None, least=1)
    s.done((*parts, "clip"))
    if (parts["noise"] is None) != (parts["form"] != "noise"):
        raise s.error('form = "noise" and noise = "..." are said together in [mechanism]', "noise")
    if bool(parts["windows"]) != (parts["form"] == "windows") and not (parts["windows"] and parts["form"] == "sums"):
        raise s.error('form = "windows" and windows = ... are said together in [mechanism]', "windows")
    if (not parts["output"] and not parts["release"]) or (parts["output"] and parts["release"]):
        raise s.error('say either release = [...] (same values) or output = "Y" (a new column) in [mechanism]')
    return parts


def _towards(s: Section) -> Fraction | Literal["median"]:
    if s.values["towards"] == "median":
        s.take("towards")
        return "median"
    share: Fraction = s.number("towards")
    return share


def _forbid(s: Section) -> tuple[tuple[str, str] | Combination, ...]:
    """Transitions, ["from", "to"], and combinations that cannot be, { age = "child", marital = "married" }."""
    entries = s.take("forbid", [])
    found = list[tuple[str, str] | Combination]()
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict):
            try:
                found.append(Combination.of(entry))
            except InputError as e:
                raise s.error(f"forbid: {e}", "forbid") from None
        elif isinstance(entry, list) and len(entry) == 2 and all(isinstance(value, str) for value in entry):
            found.append((entry[0], entry[1]))
        else:
            raise s.error(
                'forbid is a list of pairs of values, [["from", "to"], ...], or of combinations: '
                '[{ age = "child", marital = "married" }, ...]',
                "forbid",
            )
    return tuple(found)


def _noise(s: Section) -> NoiseLaw:
    """The kind of noise, and the released range of each column that declares one."""
    kind = s.choice("noise", NOISE_LAWS)
    clip = s.take("clip", {})
    if not isinstance(clip, dict):
        raise s.error('clip is { column = ["low", "high"], ... }', "clip")
    try:
        return NoiseLaw(kind, clip)
    except InputError as e:
        raise s.error(str(e), "clip") from None


def _windows(s: Section, observe: Names, form: str | None) -> tuple[Names, ...]:
    """The windows as lists of columns, or along `observe` by their size and overlap; those of sums by their size."""
    if isinstance(s.values["windows"], dict):
        shape = s.section("windows")
        if form == "sums":
            size = shape.integer("size", least=2)
            shape.done(("size",))
            if size > len(observe):
                raise s.error(
                    f"sums of {size} columns need as many of them, and {len(observe)} are observed", "windows"
                )
            return sliding(observe, size)
        size = shape.integer("size", least=2)
        overlap = shape.integer("overlap", 1, least=0)
        shape.done(("size", "overlap"))
        try:
            return chain(observe, size, overlap)
        except InputError as e:
            raise s.error(str(e), "windows") from None
    lists = s.take("windows")
    if not isinstance(lists, list) or not lists or not all(isinstance(w, list) and w for w in lists):
        raise s.error("windows is a list of lists of columns, or { size = ..., overlap = ... }", "windows")
    return tuple(Section({"windows": w}, s.place, s.file, s.lines).names("windows") for w in lists)


def _each(s: Section) -> bool | dict[str, Fraction]:
    """A mechanism of its own for each column: `true`, the level in equal parts; or the level of each column."""
    if not isinstance(s.values["each"], dict):
        return bool(s.flag("each"))
    levels = s.section("each")
    return {name: levels.number(name) for name in list(levels.values)}
