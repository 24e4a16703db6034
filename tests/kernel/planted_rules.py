"""Errors planted into the rules of the exported checker, one at a time; the tests must see each of them.

Each is (name, the text that stands once in the exported file, the text that is planted). An error is seen where a
directed case is judged otherwise, or where a kept verdict of the corpus changes.
"""

import json
from functools import cache

from tests.kernel.directed_cases import CASES, judged
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
        "low = log2(b * total, whole * frame.alone[s])[0]",
        "low = log2(b * frame.worlds[k], whole * frame.counts[s + k])[0]",
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
    ("negative weights", "self.weights = [value.whole(0) for value", "self.weights = [value.whole() for value"),
    (
        "negative weights of limits",
        "[value.whole(0) for value in by_limit.pair",
        "[value.whole() for value in by_limit.pair",
    ),
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
        "columns.append([z + (-row) // count - sigma",
        "columns.append([(self.prices[len(columns)] << UP) + (-row) // count - sigma",
    ),
    (
        "what exceeds prices without the ratio",
        "over[place] += (top if more > 0 else bottom) * more",
        "over[place] += bottom * more",
    ),
    ("what lacks to prices with the ratio", "(top if more > 0 else bottom) * more", "top * more"),
    ("contraction of the wrong sign", "[front * (2 * a - a * a * b) // 1", "[-front * (2 * a - a * a * b) // 1"),
    ("contraction without its limit", "return w * promise.at_most, [*lent", "return 0 * w, [*lent"),
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
        "known[None] = max((value for value in row if value is not None), default=None)",
        "known[None] = min((value for value in row if value is not None), default=None)",
    ),
    (
        "objective and what is told already",
        "self.constant -= o.theta * self.frame(o.about).already()",
        "self.constant += o.theta * self.frame(o.about).already()",
    ),
]
DIVISIONS = [
    ("cells raised by the wrong sign", "need = -((line - times * phi", "need = -((line + times * phi"),
    ("cells raised without the weight of what is told", "- times * phi * whole)", "- (1 << UNIT) * phi * whole)"),
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
        "faces of too few inputs",
        "1 + sum(len(self.frame(secret).keys) - 1 for secret in about))",
        "max([1, *(len(self.frame(secret).keys) - 1 for secret in about)]))",
    ),
    ("faces of some inputs alone", "require(len(trees) == comb(len(inputs), atoms),", "require(bool(trees),"),
    (
        "faces for promises between inputs",
        'require(bool(promise.about), "faces are for promises about secrets alone")',
        "require(True, str(promise.about))",
    ),
    (
        "faces for cuts between inputs",
        'require(not self.letters.matter and not self.cuts, "faces',
        'require(not self.letters.matter, "faces',
    ),
    (
        "faces whose prices are taken twice",
        "over[x] = [-(-line // count) - (z << UP) for line",
        "over[x] = [-(-line // count) - (2 * z << UP) for line",
    ),
    ("faces without what they tell", "- (-phi >> BITS - SCORE))  # both", "+ 0 * phi)  # both"),
    ("faces that keep the least value", "return max(values)", "return min(values)"),
    (
        "posteriors of a face out of proportion",
        "column = [(x, weight * (one // m))",
        "column = [(x, weight * m)",
    ),
    (
        "what must be told, with the wrong sign",
        "self.constant -= Fraction(weight, 1 << UNIT) * limit.bits",
        "self.constant += Fraction(weight, 1 << UNIT) * limit.bits",
    ),
    (
        "what must be told, without a bound of it",
        "if not wanted:\n            return None",
        "if wanted or not wanted:\n            return None",
    ),
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
        "sets whose tangent is too low",
        "found = -(-self.setting.total * at.numerator * HIGH",
        "found = -(-0 * at.numerator * HIGH",
    ),
    (
        "sets that leave out what is worth its price",
        "worth = n * (slope - price)\n            found += worth * (high if worth > 0 else low)",
        "worth = n * (slope - price)\n            found += worth * (low if worth > 0 else high)",
    ),
    ("sets that are bounded once", "+ min(limits) * blocks.most(tree)", "+ blocks.most(tree)"),
    ("sets of some cases", "worst = max(worst, self._best(known, at))", "worst = self._best(known, at)"),
    (
        "letters in or out, whichever is worse",
        "gain += worth * (high if worth > 0 else low)",
        "gain += worth * (low if worth > 0 else high)",
    ),
    (
        "a run that is known on the wrong side",
        "if rank[run] < cut else low * count",
        "if rank[run] >= cut else low * count",
    ),
    ("a ceiling that is too low", "(top - 1) * E_HIGH", "(top - 2) * E_HIGH"),
    ("a delta for one pair alone", "(len(letters) - 1) * delta", "delta / 4"),
    ("a delta without what it cuts away", "+ eta * prices.below()) + eta * hidden]", "+ eta * prices.below())]"),
    (
        "corners that are not all visited",
        "if known >> j & 1:",
        "if known >> j & 1 or 2 * j >= n:",
    ),
    ("corners that are thought to be known", "back[after] |= 1 << base[i]", "back[after] = -1"),
    ("corners of other columns", "levels.append(Fraction(-low, common))", "levels.append(Fraction(0))"),
    (
        "corners without their worst",
        "return Fraction(sum(z), 1 << SCORE) + Fraction(max(needs), 1 << BITS)\n\n\ndef equations",
        "return Fraction(sum(z), 1 << SCORE) + Fraction(min(needs), 1 << BITS)\n\n\ndef equations",
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
        "what a leakage allows, forgotten in closed form",
        "bounds.append(most + told)",
        "bounds.append(most + 0 * told)",
    ),
    (
        "a capacity of some columns for all of them",
        "whole = promise.group >= len(setting.members) and promise.rows == 1",
        "whole = promise.rows == 1",
    ),
    ("a contraction of nothing", "found.append(promise.at_most * everything)", "found.append(0 * everything)"),
    (
        "surprisal of half",
        "most[x] = min(most[x], factor * frame.alone[a] * setting.mass[x] / (count * total))",
        "most[x] = min(most[x], factor * frame.alone[a] * setting.mass[x] / (2 * count * total))",
    ),
    (
        "boxes of columns that are not empty",
        "if any(least == EVEN for least, _ in box):",
        "if all(least == EVEN for least, _ in box):",
    ),
    ("the better corner of a box", "* max(-(-v // mass) - less for", "* min(-(-v // mass) - less for"),
    ("the better corner of all boxes", "here = max(here, *(-(-(v", "here = min(here, *(-(-(v"),
    ("columns without what all of them tell", "(-(-(v - mass * less) >>", "(-(-(v - 0 * mass * less) >>"),
    (
        "letters that are barred from the first input alone",
        "map(setting.barred, range(setting.many))",
        "[setting.barred(0)]",
    ),
    ("boxes for letters that are never released", "letters -= len(set[int]()", "letters -= 0 * len(set[int]()"),
    ("columns of any mass where marginals are kept", "            if self.kept:\n", "            if not self.kept:\n"),
    ("what exceeds the prices of a variance", "if over * least > most * under:", "if over * least < most * under:"),
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
GAUGES = [
    ("gauges of the wrong sign", "found[s + k][case] = -used[s]", "found[s + k][case] = used[s]"),
    ("weights of actions without end", "part.require(sum(numbers) <= weight,", "part.require(True,"),
    ("a guess without its limit", "return promise.limit(setting)", "return Fraction(0)"),
    (
        "values weighed by the law twice",
        "{s: (w * total << UP) // count for",
        "{s: (w * total * total << UP) // count for",
    ),
    (
        "a dual norm that is too small",
        "scale = (weight << UP) * whole.denominator",
        "scale = (2 * weight << UP) * whole.denominator",
    ),
    ("the order instead of its dual", "whole = norm(parts, promise.dual,", "whole = norm(parts, promise.order,"),
    (
        "a limit in bits taken as a power",
        "exponent = promise.at_most / promise.dual if",
        "exponent = promise.at_most * 0 if",
    ),
    ("variations of the wrong sign", "[[-w for w in column] for column in columns]", "columns"),
    ("variations without end", "require(max(map(max, columns)) <= weight,", "require(True,"),
    ("inputs weighed without end", "item.require(sums[worlds[x]] <= weight,", "item.require(True,"),
    (
        "inputs of the wrong sign",
        "self._line(x)[case] -= w * self.setting.total << UP",
        "self._line(x)[case] += w * self.setting.total << UP",
    ),
    ("slopes of delta without end", "slopes.require(all(0 <= a <= 1 for a in numbers),", "slopes.require(True,"),
    ("delta for nothing", "return w * delta, [", "return w * 0 * delta, ["),
    ("delta between other strata", "cut.require(worlds[x] == worlds[y],", "cut.require(True,"),
    (
        "a ratio of delta that is too small",
        "r, front = exp(epsilon)[1], setting.total",
        "r, front = exp(epsilon)[1] / 2, setting.total",
    ),
    (
        "capacity for nothing",
        "return Fraction(total, 1 << UNIT) * at_most, list",
        "return Fraction(0) * at_most, list",
    ),
    (
        "laws that are not divided by their sum",
        "log2(b * total, sums[k] * alone[s])[0]",
        "log2(b * total, alone[s])[0]",
    ),
    (
        "values without what leaves beside",
        "labels = list(dict.fromkeys((s, k) for _, s, k, _ in used))",
        "labels = list(dict.fromkeys((s, ()) for _, s, k, _ in used))",
    ),
    ("another law without a ball", 'require(inside, "a law of a cut', 'require(True, "a law of a cut'),
    ("a law of half the weight", "told[x] += n * logs[s, k]", "told[x] += 2 * n * logs[s, k]"),
    (
        "a variation of twice the radius",
        "inside = apart <= 2 * ball.radius * total",
        "inside = apart <= 99 * ball.radius * total",
    ),
    ("a divergence of any radius", "<= ball.radius * (total << BITS)", "<= 9999 * ball.radius * (total << BITS)"),
    (
        "ends of cells that do not bound",
        "inside = all(low * total <= n <= high * total for",
        "inside = all(n <= total for",
    ),
    (
        "capacity of several rows",
        "whole = promise.rows == 1 and promise.group",
        "whole = promise.rows and promise.group",
    ),
]

PLANTED = ROWS + LINES + DIVISIONS + OTHERS + GAUGES


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
