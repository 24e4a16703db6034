"""Errors planted into the rules of the exported checker, one at a time; the tests must see each of them.

Each is (name, the text that stands once in the exported file, the text that is planted). An error is seen where a
directed case is judged otherwise, or where a kept verdict of the corpus changes.
"""

import json
from functools import cache

from tests.kernel.directed import CASES, judged
from tests.kernel.golden import CORPUS, texts_of, verdict_of
from tests.kernel.one_file import loaded, one_file, source

ROWS = [
    (
        "information privacy with the wrong sign",
        "own[s + k] = [v - w for v, w in zip(a, b, strict=True)]",
        "own[s + k] = [w - v for v, w in zip(a, b, strict=True)]",
    ),
    (
        "e^epsilon and its inverse mixed up",
        "more, less = frame.alone[s] * top * top, frame.alone[s] * bottom * bottom",
        "less, more = frame.alone[s] * top * top, frame.alone[s] * bottom * bottom",
    ),
    (
        "independence without p(s)",
        "base[k] = [b - n * v for b, v in zip(base[k], column, strict=True)]",
        "base[k] = [b + 0 * n * v for b, v in zip(base[k], column, strict=True)]",
    ),
    ("leakage without its limit", "(promise.at_most - frame.already())", "(-frame.already())"),
    (
        "what is told already is told again",
        "(promise.at_most - frame.already())",
        "(promise.at_most - 2 * frame.already())",
    ),
    ("tangents of the wrong sign", "append(-(weight * low >> ends))", "append(+(weight * low >> ends))"),
    ("the worst case forgets its level", "level - (v * low >> ends)", "0 - (v * low >> ends)"),
    (
        "the worst case of all records instead of each k",
        "low = log2(b * total, whole * frame.alone[key[: frame.cut]])[0]",
        "low = log2(b * frame.worlds[key[frame.cut :]], whole * frame.counts[key])[0]",
    ),
    ("pairs of different worlds", "if worlds[i] != worlds[j] or promise.delta:", "if promise.delta:"),
    ("pairs under a delta", "if worlds[i] != worlds[j] or promise.delta:", "if worlds[i] != worlds[j]:"),
    (
        "a ratio between all inputs where some are compared",
        "or promise.delta or set(promise.given) & set(setting.mechanism.reads):",
        "or promise.delta:",
    ),
    (
        "a ratio under a delta",
        "or promise.delta or set(promise.given) & set(setting.mechanism.reads):",
        "or set(promise.given) & set(setting.mechanism.reads):",
    ),
    (
        "rows of a person counted twice",
        "return promise.epsilon_of_one_row, promise.delta / promise.rows",
        "return promise.epsilon_of_one_row / promise.rows, promise.delta / promise.rows",
    ),
    (
        "kept columns forgotten",
        "self.labels = [s + k for s, k in zip(own, setting.beside, strict=True)]",
        "self.labels = [s + setting.beside[0] for s, k in zip(own, setting.beside, strict=True)]",
    ),
]
LINES = [
    ("a variance that is taken for a rate", "require(objective.aim in AIMS,", "require(bool(AIMS),"),
    ("letters instead of maps", "require(one or not mapped,", "require(True,"),
    ("negative weights", "self.weights = [v.whole(0) for v", "self.weights = [v.whole() for v"),
    ("negative weights of limits", "[v.whole(0) for v in by_limit.pair", "[v.whole() for v in by_limit.pair"),
    (
        "negative pairs",
        "found[-1].append((i, j, multiplier.whole(0), exp(far)[1]))",
        "found[-1].append((i, j, multiplier.whole(), exp(far)[1]))",
    ),
    (
        "pairs without what they cost",
        "self._line(j)[case] -= -(v * self.setting.total * r.numerator << UP) // r.denominator",
        "self._line(j)[case] -= 0 * r.denominator",
    ),
    (
        "pairs without their ratio",
        "self._line(j)[case] -= -(v * self.setting.total * r.numerator << UP) // r.denominator",
        "self._line(j)[case] += v * self.setting.total << UP",
    ),
    (
        "a limit from the wrong side",
        "self.constant += Fraction(weight, 1 << UNIT) * limit.at_most",
        "self.constant -= Fraction(weight, 1 << UNIT) * limit.at_most",
    ),
    ("a cost that is a gain", "gain - (weight * cost << UP) // unit", "gain + (weight * cost << UP) // unit"),
    ("margins of the wrong sign", "v - (m * n << UP) for v, m", "v + (m * n << UP) for v, m"),
    (
        "margins that are not preserved",
        'require(setting.mechanism.preserve_marginals, "margins that',
        'require(True, "margins that',
    ),
    (
        "cells that are not raised",
        "total += max([line[j] + n * shift for _, j, shift in cases])",
        "total += max([line[j] + 0 * n * shift for _, j, shift in cases])",
    ),
    (
        "the best case instead of the worst",
        "total += max([line[j] + n * shift for _, j, shift in cases])",
        "total += min([line[j] + n * shift for _, j, shift in cases])",
    ),
    ("the best letter instead of the worst", "            total += max(best)", "            total += min(best)"),
    (
        "inputs that never occur are dropped",
        "            n = self.setting.mass.get(x, 0)\n            self.setting.work.spend(2 * len(cases))",
        "            n = self.setting.mass.get(x, 0)\n            if not n:\n                continue",
    ),
    (
        "inputs that never occur are dropped beside prices",
        "            n, z = setting.mass.get(x, 0), price.get(x, 0)",
        "            n, z = setting.mass.get(x, 0), price.get(x, 0)\n            if not n:\n                continue",
    ),
    (
        "prices along the labels in one place and along the inputs in another",
        "columns.append([z + (-row) // n - sigma",
        "columns.append([(self.prices[len(columns)] << UP) + (-row) // n - sigma",
    ),
    ("what exceeds prices without the ratio", "over[k] += r * more if more > 0 else more", "over[k] += more"),
    ("contraction of the wrong sign", "line[case] -= front * (", "line[case] += front * ("),
    ("contraction without its limit", "self.constant += w * promise.at_most", "self.constant += 0 * w"),
    (
        "a tree for some letters",
        'require(one or len(self.trees) == by_letter, "there is not',
        'require(True, "there is not',
    ),
    (
        "a tree that lacks leaves",
        'require(not stack, "a tree of cases lacks leaves")',
        'require(True, "a tree of cases lacks leaves")',
    ),
    (
        "an open map takes its worst letter",
        "known[None] = max((v for v in row if v is not None), default=None)",
        "known[None] = min((v for v in row if v is not None), default=None)",
    ),
    (
        "objective and what is told already",
        "self.constant -= o.theta * self.frame(o.about).already()",
        "self.constant += o.theta * self.frame(o.about).already()",
    ),
]
DIVISIONS = [
    ("cells raised by the wrong sign", "need = -((line - phi * whole)", "need = -((line + phi * whole)"),
    (
        "cells that forget a corner",
        "        for u, whole, phi in cell:\n            line",
        "        for u, whole, phi in cell[1:]:\n            line",
    ),
    (
        "boxes that take the better end",
        "total += below if below > worst else worst",
        "total += worst if below > worst else below",
    ),
    ("boxes that are too narrow", "rest[view[w]] -= low", "rest[view[w]] -= 2 * low"),
    (
        "relations without their rest",
        "max(ends[w][0], low + least), min(ends[w][1], high + most)",
        "max(ends[w][0], low), min(ends[w][1], high)",
    ),
    (
        "a view that is no function of the input caps it",
        "if view is not None and all(len(found) == 1 for found in view.by_input.values()):",
        "if view is not None:",
    ),
]
OTHERS = [
    (
        "letters in or out, whichever is worse",
        "worth * (high if worth > 0 else low)",
        "worth * (low if worth > 0 else high)",
    ),
    ("a run that is known on the wrong side", "if rank[run] < cut else low * n", "if rank[run] >= cut else low * n"),
    ("a ceiling that is too low", "(top - 1) * E_HIGH", "(top - 2) * E_HIGH"),
    ("a delta for one pair alone", "(len(letters) - 1) * delta", "delta / 4"),
    ("a delta without what it cuts away", "+ eta * prices.below()) + eta * hidden]", "+ eta * prices.below())]"),
    (
        "corners that are not all visited",
        "for j in set(range(n)).difference(base):",
        "for j in set(range(n // 2)).difference(base):",
    ),
    (
        "corners without their worst",
        "need = over if need is None or over > need else need",
        "need = over if need is None or over < need else need",
    ),
    (
        "ends of letters mixed up",
        "return at(x, high if fixed[x] else low) if x in fixed",
        "return at(x, low if fixed[x] else high) if x in fixed",
    ),
    (
        "the best base for the worst letter",
        "(min(bounds[x] for bounds in found) for x in found[0])",
        "(0 * min(bounds[x] for bounds in found) for x in found[0])",
    ),
    (
        "surprisal of half",
        "most[x] = min(most[x], factor * frame.alone[a] * setting.mass[x] / (n * total))",
        "most[x] = min(most[x], factor * frame.alone[a] * setting.mass[x] / (2 * n * total))",
    ),
    (
        "boxes of columns that are not empty",
        "if any(least == EVEN for least, _ in box):",
        "if all(least == EVEN for least, _ in box):",
    ),
    ("the better corner of a box", "here += n * max(-(-v // mass) - less", "here += n * min(-(-v // mass) - less"),
    ("what exceeds the prices of a variance", "tau = max(tau, told - paid)", "tau = min(tau, told - paid)"),
    (
        "a form of many letters without their number",
        "return (S + 1) * (Fraction(s + S + 1",
        "return (Fraction(s + S + 1",
    ),
    (
        "parts that count as the whole",
        "bound += Fraction(mass, setting.total) * bound_by_lines(",
        "bound += Fraction(mass, 2 * setting.total) * bound_by_lines(",
    ),
    (
        "margins of a part",
        "mechanism = replace(setting.mechanism, preserve_marginals=False)",
        "mechanism = replace(setting.mechanism)",
    ),
]
PLANTED = ROWS + LINES + DIVISIONS + OTHERS


@cache
def kept():
    return json.loads((CORPUS / "rules" / "verdicts.json").read_text(encoding="utf-8"))


@cache
def right():
    """What the kernel as it is says about the directed cases."""
    return {name: judged(case(), one_file()) for name, case in CASES.items()}


def planted(old, new):
    """The checker with an error; the text must stand there once."""
    assert source().count(old) == 1, f"{source().count(old)} times: {old}"
    return loaded(source().replace(old, new))


def seen(kernel):
    """Who sees that something is wrong with a kernel, or None."""
    for name, case in CASES.items():
        try:
            if judged(case(), kernel) != right()[name]:
                return name
        except Exception as error:  # anything but a refusal is an error that is seen
            return f"{name}: {type(error).__name__}"
    for name, text in texts_of(CORPUS / "rules").items():
        try:
            verdict = verdict_of(text, False, checker=kernel.check, refusal=kernel.Refused)
        except Exception as error:
            return f"{name}: {type(error).__name__}"
        if verdict != kept()[name]["all"]:
            return name
    return None
