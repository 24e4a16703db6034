"""The part of a statement that proves it again: the second checker, its button, and the proof file that it reads.

The page stays one file that loads nothing: it carries the checker and the proof file compressed, which makes it smaller
by a third, and a few lines that open the checker. The page's policy allows these two scripts by the digests of their
texts and no other. Without scripts the page reads the same; only the button is missing.
"""

import gzip
import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from markupsafe import Markup

__all__ = ["ALWAYS", "Reproof", "enclosed", "needed", "opener", "packed", "reproof", "script"]

CARRIED = 30_000
"""Characters of a proof file as the page carries it, compressed; of a longer one its reader chooses the file."""
PIECE = 1 << 17  # letters that are compressed before it is asked whether they are too many


@dataclass(frozen=True)
class Reproof:
    """What the template writes: the addition to the page's policy, the button, and the script."""

    policy: str = ""
    button: str = ""
    script: str = ""


TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|/(?![/*\s])(?:[^/\\\n]|\\.)+/[a-z]*(?=[.,)])')
"""Strings, templates and regular expressions of a script, in which every space counts."""
SPACES = re.compile(r"\s*([=*<>!&|?:,;{}()\[\]])\s*")
BETWEEN = re.compile(r"(?<=[\w)\]]) ?([-+/]=?) ?(?=[\w(\[])")
"""Spaces that say nothing. Beside + and - only those between two operands: a - -b is not a--b."""


NO_BUTTON = Markup('<p class="note">This page cannot repeat this kind of proof by itself; the command above can.</p>')

ALWAYS = ("numbers", "reading", "setting", "channels", "distortion", "release", "promises", "check")
"""Modules of the checker that every page carries, in the order in which they need each other."""
NO_END = re.compile(r"(?<=[;,{(\[])\n|\n(?=\})")
IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)


FORMS = {
    "dense": (),
    "listed": ("forms",),
    "pram": ("forms",),
    "resample": ("forms",),
    "staircase": ("forms",),
    "records": ("records",),
    "medians": ("records",),
    "windows": ("local", "each"),
    "noise": ("noise",),
}
"""Forms of a channel that the checker knows, and the modules that read them."""
PROMISES = dict.fromkeys(("independent", "leakage", "information_privacy"), ()) | {
    "local_dp": ("local",),
    "worst_case_leakage": ("gauges",),
    "dalenius": ("adversary",),
    "contraction": ("adversary",),
    "guess": ("gauges",),
    "maximal_leakage": ("gauges",),
    "total_variation": ("gauges",),
}
"""Promises that it knows, and the module that proves them."""
RULES = {
    "closed": ("ratios", "closed"),
    "lines": ("frames", "lines"),
    "subsets": ("frames", "posteriors", "ratios", "subsets"),
    "blocks": ("frames", "posteriors", "ratios", "subsets"),
    "corners": ("frames", "posteriors", "corners"),
    "levels": ("frames", "posteriors", "ratios", "levels"),
    "marginals": ("frames", "posteriors", "ratios", "marginals"),
    "records": ("records", "frames", "nearest", "transports"),
    "coarse": ("records", "frames", "nearest", "transports"),
    "transports": ("records", "frames", "nearest", "transports"),
    "parts": ("local", "each"),
    "noise": ("noise",),
    "grid": ("frames", "lines", "noise"),
}
"""Rules of optimality that it knows, and the modules that prove them, in the order in which they need each other."""
DIVISIONS = {
    "simplices": ("posteriors", "ratios", "simplices"),
    "faces": ("posteriors", "ratios", "simplices", "faces"),
}
"""What the rule `lines` needs more where it divides columns by cells of their posteriors, or by their inputs."""


def needed(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The modules of the checker that a page carries for a proof file; none where they could not prove its promises.

    >>> plain = {"each": None, "form": "any", "side": None}
    >>> needed({"mechanism": plain, "channel": {"form": "dense"}, "promises": [{"promise": "dalenius"}]})[-2:]
    ('adversary', 'check')
    >>> needed({"mechanism": plain, "channel": {"form": "sums"}, "promises": []})
    ()
    """
    mechanism = document["mechanism"]
    promises = [promise["promise"] for promise in document["promises"]]
    alone = mechanism["each"] is None
    forms = _forms(document["channel"])
    laws = ("known", "table") if alone else ("margins",)
    unknown = (
        document.get("law", {"law": laws[0]})["law"] not in laws,
        (mechanism["form"] == "noise") != ("noise" in forms) or ("noise" in forms and not _plain_noise(document)),
        (mechanism["side"] or {}).get("encoder") == "statistically-informed",
        not FORMS.keys() >= set(forms) or not PROMISES.keys() >= set(promises),
        any(promise.get("within") is not None for promise in document["promises"]),
        alone == ("windows" in forms) or not (alone or _plain_columns(document)),
    )
    if any(unknown):
        return ()
    # Modules that need the checker itself come after it.
    after = ("each", "noise")
    more = dict.fromkeys(
        [*(m for form in forms for m in FORMS[form]), *(m for promise in promises for m in PROMISES[promise])]
    )
    before = [module for module in more if module not in after]
    beyond = dict.fromkeys([*(module for module in more if module in after), *_proving(document.get("proof", {}))])
    return (*ALWAYS[:-1], *before, ALWAYS[-1], *(module for module in beyond if module not in before))


def _forms(channel: Mapping[str, Any]) -> list[str]:
    """The form of a channel, and those of the columns that it is made of."""
    inside = [form for window in channel.get("windows", ()) for form in _forms(window["channel"])]
    return [channel["form"], *dict.fromkeys(inside)]


def _proving(proof: Mapping[str, Any]) -> list[str]:
    """The modules for a proof of optimality and for those that it is made of."""
    own = [*RULES.get(proof.get("rule", ""), ()), *DIVISIONS.get(proof.get("division", ""), ())]
    return [*own, *(module for part in proof.get("proofs", ()) for module in _proving(part))]


def _plain_columns(document: Mapping[str, Any]) -> bool:
    """Whether columns with a matrix each keep a level alone, without a delta, distances, or columns beside them."""
    mechanism = document["mechanism"]
    beside = (*mechanism.get("strata", ()), *mechanism.get("keep", ()), *(mechanism["side"] or ()))
    levels = (
        promise["promise"] == "local_dp" and promise["delta"] == "0" and not (promise["metric"] or promise["given"])
        for promise in document["promises"]
    )
    return not beside and not document.get("limits") and all(levels)


def _plain_noise(document: Mapping[str, Any]) -> bool:
    """Whether noise is that of one column, whose values are the released ones, with squared errors alone."""
    channel, axes = document["channel"], document["channel"]["axes"]
    if len(document["mechanism"]["observe"]) != 1 or len(axes) != 1 or channel["give"] != [["1"]]:
        return False
    (first,), (width,), (axis,), (shift,) = channel["first"], channel["letters"], axes, channel["shift"]
    own = axis["low"] == first and int(shift) == -int(first) and int(axis["high"]) == int(first) + width - 1
    promises = {promise["promise"] for promise in document["promises"]}
    objective = document.get("objective", {"aim": "leakage", "theta": "1"})
    costs = [*(limit.get("distortion") for limit in document.get("limits", ())), objective.get("distortion", [])]
    squared = all(cost is not None and all(part["distance"] != "norm" for part in cost) for cost in costs)
    aimed = objective["aim"] == "distortion" or (objective["aim"] == "leakage" and objective["theta"] == "1")
    return own and squared and aimed and promises <= {"leakage", "local_dp", "dalenius", "contraction"}


@cache
def script(modules: Sequence[str], *, button: bool = True) -> str:
    """These modules of the checker, and the button, as one module without comments and spaces that say nothing."""
    paths = [f"checker/{name}.mjs" for name in modules]
    return _joined(*paths, "opened.mjs", "prover.mjs") if button else "\n".join(_lines(*paths))


@cache
def opener() -> str:
    """The few lines that open the checker that a page carries, and let it run."""
    return _joined("opened.mjs", "opener.mjs")


def _lines(*paths: str) -> list[str]:
    texts = [files("dalenius.report").joinpath(path).read_text("utf-8") for path in paths]
    return [line for text in texts for line in packed(IMPORT.sub("", text))]


def _joined(*paths: str) -> str:
    # Nobody imports a page; and after these signs, and before a closing brace, no line ends a statement by itself.
    return NO_END.sub("", "\n".join(line.removeprefix("export ") for line in _lines(*paths)))


def packed(text: str) -> list[str]:
    """The lines of a script that do something, short.

    Comments of our scripts stand on lines of their own, or at the end of a line behind a space.

    >>> packed("// why\\nconst a = 1; // here\\n\\n/** what\\n * it does */\\n  if (a)\\n    b(`, `, a - -1);")
    ['const a=1;', 'if(a)', 'b(`, `,a - -1);']
    """
    found = []
    inside = False
    for line in map(str.strip, text.splitlines()):
        inside = inside or line.startswith("/*")
        if not inside and line and not line.startswith("//"):
            found.append(_short(line))
        if line.endswith("*/"):
            inside = False
    return found


def _short(line: str) -> str:
    parts = []
    end = 0
    for text in TEXTS.finditer(line):
        parts += [_code(line[end : text.start()]), text[0]]
        end = text.end()
    return "".join([*parts, _code(line[end:])]).strip()


def _code(part: str) -> str:
    return BETWEEN.sub(r"\1", SPACES.sub(r"\1", part.partition(" // ")[0]))


def enclosed(text: str) -> str:
    """A proof file as the page carries it: compressed, in letters that mean nothing to HTML."""
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _too_long(text: str) -> bool:
    """Whether a proof file is more than the page carries, seen from as much of it as already is."""
    press, pressed = zlib.compressobj(9), 0
    for begin in range(0, len(text), PIECE):
        pressed += len(press.compress(text[begin : begin + PIECE].encode()))
        if pressed > CARRIED:
            return True
    return False


def reproof(text: str, fingerprint: str | None) -> Reproof:
    """The button for a proof file.

    Parameters
    ----------
    text : str
        `design.json` or `card.json` to the letter; empty where there is none. There is no button then; where the
        second checker does not know this kind of proof, a sentence says so.
    fingerprint : str or None
        What the SHA-256 of the file must be, where the page states it.

    Returns
    -------
    Reproof
    """
    modules = needed(json.loads(text)) if text else ()
    if not modules:
        return Reproof(button=NO_BUTTON) if text else Reproof()
    checker = script(modules)
    file = "" if _too_long(text) else enclosed(text)
    carried = 0 < len(file) <= CARRIED
    stated = Markup(' data-fingerprint="{}"').format(fingerprint) if fingerprint else Markup()
    button = Markup(
        '<div class="prover" id="prover" hidden><p><button class="prove" id="prove" type="button"{}>{}</button></p>'
        '<p class="note" id="prove-said" role="status">A second checker, in this page, repeats the proof. It takes a '
        "moment, and nothing leaves this computer.</p>{}</div>"
    )
    label = "Prove it again, here" if carried else "Choose design.json and prove it again, here"
    chooser = Markup('<input type="file" id="prove-file" accept=".json" hidden>')
    packages = {"checker": enclosed(checker)} | ({"proof-file": file} if carried else {})
    kept = Markup("\n").join(Markup('<pre id="{}" hidden>{}</pre>').format(*package) for package in packages.items())
    return Reproof(
        policy="; script-src " + " ".join(map(_named, (opener(), checker))),
        button=button.format(stated, label, Markup() if carried else chooser),
        script=kept + Markup('\n<script type="module">') + Markup(opener()) + Markup("</script>"),
    )


def _named(source: str) -> str:
    """A script as the policy of a page names it: by the digest of its text."""
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"
