"""Errors planted into records, chains, answers, levels and balls are seen: a kept verdict of `corpus/later` changes."""

import json

import pytest

from tests.kernel.golden import CORPUS, texts_of, verdict_of
from tests.kernel.one_file import one_file, source
from tests.kernel.planted_rules import planted

RECORDS = [
    ("each weight of a row is the whole row", "+= scaled * weight // one", "+= scaled * one // one"),
    ("what arrives forgets its input", "found[y] += self.channel.table.mass[e] * weight", "found[y] += weight"),
    (
        "a distance forgets how many rows change",
        "total += table.mass[e] * far * self.scale",
        "total += far * self.scale",
    ),
    ("what is lost is what is kept", "if letters[record[at]] not in kept)", "if letters[record[at]] in kept)"),
    (
        "the most common record for the rarest",
        "return min(rows.get(y, 0) for y in released)",
        "return max(rows.get(y, 0) for y in released)",
    ),
    (
        "outcomes that no row has are as common as can be",
        "return min(rows.get(y, 0) for y in released)",
        "return min(rows.get(y, 10**9) for y in released)",
    ),
    (
        "a record among the others",
        'item.require(label not in known, "a record of the table',
        'item.require(True, "a record of the table',
    ),
    (
        "others twice",
        "item.require(not found or found[-1] < label,",
        "item.require(not found or found[-1] <= label,",
    ),
    ("others in any order", "item.require(not found or found[-1] < label,", "item.require(True,"),
    ("rarer records than allowed", "require(rows >= limit.rows, f", "require(rows >= 1, f"),
    ("a law that is not preserved", "require(self.arrived == before + others,", "require(bool(before),"),
    ("a forbidden change of a record", "require(not mechanism.changes(before, letters[y]),", "require(True,"),
    (
        "a forbidden change to the first record alone",
        "            for y in places:\n                require(not mechanism",
        "            for y in places[:1]:\n                require(not mechanism",
    ),
    ("a combination that leaves", "require(not mechanism.combines(letters[y]),", "require(True,"),
    (
        "a matrix for each column of records",
        'plain = mechanism.form == "any" and mechanism.each is None',
        'plain = mechanism.form == "any"',
    ),
    ("records of a row in any order", "if any(a >= b for a, b in pairwise(places)):", "if False:"),
    ("a kept column beside records", 'require(not mechanism.beside, "form records', 'require(True, "form records'),
    ("a level of records", "    level = _unproved\n", ""),
    (
        "a design without its channel",
        'node.require(not setting.has_law, "a design shows',
        'node.require(True, "a design',
    ),
    (
        "a level of one stratum for all, in short",
        "yield letters, [value for value, weights in entries if weights[place]]",
        "yield letters, [value for value, weights in entries if weights[0]]",
    ),
    (
        "listed inputs that count among all others",
        "            rest = minus(rest, weights[place])\n",
        "            rest = minus(rest, minus(rest, rest))\n",
    ),
]

BOUNDS = [
    (
        "ordered letters that only differ",
        "total += weight * (abs(a - b) if ordered else 1)",
        "total += weight",
    ),
    (
        "the nearest record is nearer than it is",
        "best = min(best, self.scale * far + self.numbers[first])",
        "best = min(best, self.scale * (far // 2) + self.numbers[first])",
    ),
    (
        "the farthest of those that are looked at",
        "best = min(best, number + self.scale * between(codes, row))",
        "best = max(best, number + self.scale * between(codes, row))",
    ),
    ("a price that allows nothing", "allowed += price * limit.at_most", "allowed += 0 * limit.at_most"),
    ("transports beyond one class", "left[s] -= share", "left[s] -= 0 * share"),
    ("transports beyond the other class", "left[t] -= share", "left[t] -= 0 * share"),
    (
        "a transport to a law that is not preserved",
        'end.require(setting.mechanism.preserve_marginals, "the law of',
        'end.require(True, "the law of',
    ),
    (
        "transports without independence",
        "if not isinstance(promise, Independent):\n        raise which",
        "if False:\n        raise which",
    ),
    (
        "what a class sends twice",
        "total += sum(count * near.least(table.records[x]) for x, count in supply)",
        "total += sum(2 * count * near.least(table.records[x]) for x, count in supply)",
    ),
    ("three classes without their factor", "else 2 - Fraction(2, values)", "else Fraction(1)"),
    ("all values told apart as two", "len(set(map(tuple, score)))", "2"),
    ("rare records compete", "if count >= least]", "if count >= 0]"),
    ("numbers of the law are not given back", "lowest + Fraction(back, setting.total << SCORE)", "lowest"),
    ("a promise that allows nothing", "<< SCORE) - allowed) / factor", "<< SCORE)) / factor"),
    (
        "numbers for a law that is not preserved",
        "law.require(setting.mechanism.preserve_marginals or not numbers,",
        "law.require(True,",
    ),
    ("prices of limits that are not paid back", "/ factor - limited)", "/ factor)"),
    (
        "scores with the wrong sign",
        "[value - units * w for value, w",
        "[value + units * w for value, w",
    ),
    ("a negative price", "price = item.number(0)", "price = item.number()"),
    ("a negative weight of a promise", "multipliers = weights.wholes(0)", "multipliers = weights.wholes()"),
    ("steps by which nothing is divided", "setting.total * (steps or 1) << SCORE", "setting.total << SCORE"),
    ("parts of a mixture that count once", ".append((e, times * common))", ".append((e, common))"),
    ("cuts beyond the end", "(end + rows - 1 - first) // rows", "(end + rows - first) // rows"),
    ("steps without end", 'proof.require(steps <= MOST_STEPS, "', 'proof.require(True, "'),
]

CHAINS = [
    ("a chain that is not stationary", "after == [n * scale for n in first],", "True,"),
    (
        "samples with other letters",
        'variables), "the samples have different letters")\n    first',
        'variables) or True, "")\n    first',
    ),
    (
        "a step too many",
        "share = Fraction(n * (last - first), sum(self.start))",
        "share = Fraction(n * (last - first + 1), sum(self.start))",
    ),
    (
        "ends that are not hidden",
        "        if ends:\n            self.parts[k]",
        "        if False:\n            self.parts[k]",
    ),
    ("samples before the first window", "if min(places) < self.runs[0][0]:", "if False:"),
    ("samples after the last window", "if max(places) > self.runs[last][1]:", "if False:"),
    (
        "an outer end without the other one",
        "self._hide_ends(k, ends | self._ends(",
        "self._hide_ends(k, ends or self._ends(",
    ),
    ("windows that share a sample", "k == 0 or found[k - 1][1] < first,", "True,"),
    ("windows that are no runs", "require(last - first + 1 == len(own),", "require(True,"),
    (
        "a secret of two windows",
        "if first <= min(places) and max(places) <= last:",
        "if first <= min(places) <= last:",
    ),
    (
        "windows that tell twice",
        "known[key] = part.information([name for name in own if name in wanted])[0]",
        "known[key] = 2 * part.information([name for name in own if name in wanted])[0]",
    ),
    ("a view that costs nothing", "return found - law.entropy(names[:longest], setting.work)[0]", "return found"),
    ("the secret itself is not proved", "self._looking(secret).independent(secret)", "self._looking(secret)"),
]

ANSWERS = [
    (
        "geometric noise of twice its scale",
        "super().__init__(_below(E_LOW / high), work)",
        "super().__init__(2 * E_LOW / high, work)",
    ),
    (
        "tails of less geometric noise",
        "return Laplace(self._wider, self.work).outside(steps)",
        "return Laplace(self._wider / 2, self.work).outside(steps)",
    ),
    (
        "a level of half the distance",
        "        return distance / self.scale\n",
        "        return distance / self.scale / 2\n",
    ),
    ("noise that reaches farther than said", "require(outside <= 1 - level,", "require(True,"),
    (
        "one tail of two",
        "return min(Fraction(1), 2 * falling((steps + 1) / self.scale)[1]",
        "return min(Fraction(1), falling((steps + 1) / self.scale)[1]",
    ),
    ("half of the delta", "total += high * (1 - falling(-gap)[0])", "total += high * (1 - falling(-gap)[0]) / 2"),
    (
        "concentrated privacy of half the squares",
        "return sum(d * d for d in distances) / (2 * self.variance)",
        "return sum(d * d for d in distances) / (4 * self.variance)",
    ),
    ("a coarser grid rounds down", "return -(-distance // self.every)", "return distance // self.every"),
    (
        "a group of one",
        "many = group * max(len(pair) for pair in self.of_one)",
        "many = max(len(pair) for pair in self.of_one) - 1",
    ),
    (
        "a mixture that is twice as near",
        "less = most * E_LOW + log2_of(near / whole)[0]",
        "less = most * E_LOW + log2_of(near / whole)[0] + 1",
    ),
    (
        "a table that rules out",
        "                if largest and not least:\n                    return None\n",
        "                if largest and not least:\n                    continue\n",
    ),
    ("a group of a table is one record", "(None if one is None else group * one, most)", "(one, one)"),
    ("a delta of neighbours alone", "lines = [range(len(self.rows))] if group > 1 else", "lines ="),
    (
        "pairs of a group count once",
        "else min(self.everything, group * self._of_pairs)",
        "else min(self.everything, self._of_pairs)",
    ),
    (
        "rows of a table that are no laws",
        "rows.require(all(len(row) == len(law) and sum(row) == one for row in table)",
        "rows.require(all(len(row) == len(law) for row in table)",
    ),
    ("sums of a table that are others", '== sums, "these are not the sums', '!= [], "these are not the sums'),
    (
        "records of a person learned as if the others were known",
        "found = [self.anybody(group)] if group > 1 else [self.anybody(1), self._of_neighbours]",
        "found = [self.anybody(group), group * self._of_neighbours]",
    ),
    (
        "a row compared with nothing",
        "self.own = [sum(known[v] for v in row) for row in rows]",
        "self.own = [0 for row in rows]",
    ),
]

LEVELS = [
    (
        "rays without an input that is left out",
        "for levels in product(range(-1, many), repeat=many):",
        "for levels in product(range(many), repeat=many):",
    ),
    (
        "two levels at most",
        "for levels in product(range(-1, many), repeat",
        "for levels in product(range(-1, 2), repeat",
    ),
    ("levels without their delta", "spent = sum(z) + delta * sum(m for", "spent = sum(z) + 0 * sum(m for"),
    (
        "a pair that gives back what it does not use",
        "m * max(0, bottom * column[i] - top * column[j])",
        "m * abs(bottom * column[i] - top * column[j])",
    ),
    (
        "pairs of two strata",
        "pair.require(worlds[inputs[x]] == worlds[inputs[other]],",
        "pair.require(True,",
    ),
    (
        "a negative multiplier of a pair",
        "weights.append((x, other, weight.whole(0)))",
        "weights.append((x, other, weight.whole()))",
    ),
    (
        "levels under a metric",
        'promise.metric is not None:\n        raise which.refuse("levels',
        'False:\n        raise which.refuse("levels',
    ),
    ("levels for what is least", 'require(objective.maximise, "levels', 'require(True, "levels'),
]

CORNERS = [
    ("a part of a ball in which no law is said to be", "if ends and not least <= 1 <= most:", "if ends:"),
    ("parts of a ball that nobody proves", 'require(not boxes, "the cuts', 'require(True, "the cuts'),
    (
        "the last part of a ball alone",
        "bound = max(bound, _bound_of(cells, ball, box, part))",
        "bound = _bound_of(cells, ball, box, part)",
    ),
    (
        "a box with the lower end of every cell",
        "        found += [mass + step for mass in found]",
        "        found += found",
    ),
    (
        "a box of which the first corner counts",
        "    return max(a - b for a, b in zip(told, _whole_below",
        "    return next(a - b for a, b in zip(told, _whole_below",
    ),
    ("a box in which what a secret gains is free", "return [p * (log2(p)[0] + price)", "return [p * (log2(p)[0])"),
    ("a letter without its price", "return v * (log2(v)[1] - known) if v else 0", "return v * log2(v)[1] if v else 0"),
    (
        "a letter that is forgotten",
        "told = [a + b for a, b in zip(told, _for_all_ends",
        "told = [a for a, b in zip(told, _for_all_ends",
    ),
    ("corners to which nothing is moved", "for more in [None, *range(len(law))]:", "for more in [None]:"),
    (
        "corners from which no part is taken",
        "        given = dict(taken)\n",
        "        given = {c: p for c, p in taken if p == law[c]}\n",
    ),
    (
        "cells that are never emptied",
        "        if p <= left:\n            for others",
        "        if False:\n            for others",
    ),
    ("a ball in which nothing is received", "[w + mass * v * (s == about[c]) for", "[w for"),
    ("a ball of which the last corner counts", "most = max(most, -(-here", "most = max(0, -(-here"),
    ("a received cell that is too small", "[w + mass * v * (s == about[c]) for", "[w + v * (s == about[c]) for"),
    (
        "weights of a secret that count alike",
        "sum(column) * w)[1] for v, w in parts",
        "sum(column) * max(weights))[1] for v, w in parts",
    ),
    ("a value of the secret without weight", "len(place) and all(weights)", "len(place)"),
    (
        "a kind of givers of which the least cell counts",
        "worst = max(worst, rest + sum",
        "worst = min(worst, rest + sum",
    ),
    ("givers that count alike, whatever they give", "here += share * worst", "here += mass // len(given) * worst"),
    ("what falls goes to what falls as well", "up is None or up[z] or not up[s]", "up is None or up[z] == up[s]"),
    ("a part alone", 'require(rest == other, "the two parts', 'require(True, "the two parts'),
    ("more taken than there is", "if min(column) >= 0}\n", "if max(column) >= 0}\n"),
    (
        "held cells that give more than they have",
        "part not in emptied and (part not in kept or p > left)",
        "part not in emptied and (part not in kept)",
    ),
    ("moves that cost nothing", "    bound = 2 * radius * m\n", "    bound = 0 * radius * m\n"),
]

VARIANCES = [
    (
        "a bound of a variance that counts its trace again",
        "Fraction(2 * trace, one) - told",
        "Fraction(3 * trace, one) - told",
    ),
    ("what a column adds to a variance is forgotten", "return -(-units // (self.under * whole * whole))", "return 0"),
    ("strata that count alike", "Fraction(many, setting.total) * variance_of(part)", "variance_of(part)"),
    (
        "columns of which the first alone counts",
        "sum(map(variance_of, release.columns())",
        "sum(map(variance_of, release.columns()[:1])",
    ),
    ("bits in a variance of strata", "Fraction(0) if spread else told_by_strata", "told_by_strata"),
    ("bits of a column in place of its variance", '"variance" if spread else "information"', '"information"'),
]

RECEIVED = [
    ("what a letter loses is forgotten", "max(column[y] - _most_given(less, left), 0)", "max(column[y], 0)"),
    ("what a letter gets is forgotten", "column[y] + more))", "column[y]))"),
    ("every value of the secret gets it", "if s == mine:  # what", "if True:  # what"),
    (
        "what a cell gives itself",
        "less = [(v - w, most) for v, most in less]",
        "less = [(w - v, most) for v, most in less]",
    ),
    ("slopes by which nothing is gained", "(linear + _most_given(gains, left) << BITS", "(linear << BITS"),
    ("the cell of least gain gives first", "if pair[0] > 0), reverse=True)", "if pair[0] > 0))"),
    ("cells that give without end", "given = min(most, left)", "given = most"),
    ("the last part of a receiver alone", "bound = max(bound, _of_box(", "bound = max(0, _of_box("),
    ("a cut that is no cut below", "min(high[cell], at)", "max(high[cell], at)"),
    ("a cut that is no cut above", "max(low[cell], at)", "min(low[cell], at)"),
    ("given again what was given", "left = ball.radius - sum(low)", "left = ball.radius"),
    ("what is given at least never arrives", "[v + sum(low) * w for v, w in", "[v for v, _ in"),
    ("receivers that are left out", 'require(len(trees) == cells, "there', 'require(True, "there'),
    ("parts of a receiver that are left out", 'require(not boxes, "a receiver', 'require(True, "a receiver'),
    (
        "a ball of half the radius",
        "radius.numerator * sum(counts) << GIVEN",
        "radius.numerator * sum(counts) << GIVEN - 1",
    ),
    (
        "slopes of another letter",
        "slopes = [part.slopes[s * letters : (s + 1) * letters]",
        "slopes = [part.slopes[: letters]",
    ),
    ("slopes in other units", "- (slope * v << BITS - SLOPE)", "- (slope * v << BITS - SLOPE + 1)"),
    ("one end of a letter", "if v else 0) for v in ends]", "if v else 0) for v in ends[:1]]"),
    (
        "a letter that is likelier than its values",
        "total * log2(total)[0] if total",
        "total * log2(2 * total)[0] if total",
    ),
    ("weights of a part that do not count", "weights = part.weights or ball.weights", "weights = ball.weights"),
    ("parts with laws of their own as if they shared one", "if len(laws) < 2:", "if laws:"),
    ("a value without weight in a part", "len(weights) == secrets and all(weights), ", "len(weights) == secrets, "),
    ("two receivers that tell what the better one tells", "/ 2 + bend / 4 + apart", "/ 2 + apart"),
    ("receivers that always bend", "if apart >= bend:", "if False:"),
    ("a value that may vanish", "require(min(alone) > radius", "require(True"),
    ("a bend of the whole way for many values", "radius * (many - 1), ball.unit", "radius * many, ball.unit"),
    (
        "values that give nothing",
        "alone[s] - radius, alone[t]), _inverses(ball.unit, alone[s], alone[t] - radius)",
        "alone[s], alone[t]), _inverses(ball.unit, alone[s], alone[t])",
    ),
    ("a way whose best piece counts", "least = min(_told_twice(", "least = max(_told_twice("),
    (
        "letters that get nothing on the way",
        "(-(at + 1) * ball.radius * a // PIECES)",
        "(-at * ball.radius * a // PIECES)",
    ),
    ("what others keep, all of it", "- _most_given(have, ball.radius))", "- 0)"),
    ("the better of two edges", "total += max(min(one, two), 0)", "total += max(one, two, 0)"),
    ("an edge that turns upwards", "below(-wide * wide, rest)", "below(wide * wide, rest)"),
    ("an edge without its turn", "if wide > 0 and ends[0] * wide < a * rest", "if False and ends[0] * wide < a * rest"),
    ("an edge by its other end", "v = ends[0] if wide > 0 and", "v = ends[1] if wide > 0 and"),
    ("letters that two receivers share", "below(-((a - b) ** 2), v + rest)", "below(-((a + b) ** 2), v + rest)"),
    ("what others keep stands beside nothing", "rest, wide = across + aside", "rest, wide = across"),
]

LENGTHS = [
    ("a proof of very long numbers", "not TOO_LONG.search(canonical(proof.value))", "bool(proof.value)"),
    ("a proof of numbers of any length but one", "{401}')", "{4001}')"),
]

PLANTED = LENGTHS + RECORDS + BOUNDS + CHAINS + ANSWERS + LEVELS + CORNERS + VARIANCES + RECEIVED


def seen(kernel):
    """The first text of the corpus of which a kernel says something else, or None."""
    kept = json.loads((CORPUS / "later" / "verdicts.json").read_text(encoding="utf-8"))
    for name, text in texts_of(CORPUS / "later").items():
        try:
            verdict = verdict_of(text, False, checker=kernel.check, refusal=kernel.Refused)
        except Exception as error:  # anything but a refusal is an error that is seen
            return f"{name}: {type(error).__name__}"
        if verdict != kept[name]["all"]:
            return name
    return None


def test_nothing_is_seen_in_the_checker_as_it_is():
    assert seen(one_file()) is None


def test_every_planted_error_has_a_name_and_a_place():
    assert len({name for name, _, _ in PLANTED}) == len(PLANTED) >= 85
    assert [name for name, old, _ in PLANTED if source().count(old) != 1] == []


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [error[1:] for error in PLANTED], ids=[error[0] for error in PLANTED])
def test_a_planted_error_is_seen(old, new):
    assert seen(planted(old, new)) is not None


@pytest.mark.parametrize(
    ("old", "new"), [error[1:] for error in PLANTED[::20]], ids=[error[0] for error in PLANTED[::20]]
)
def test_some_planted_errors_are_seen(old, new):
    assert seen(planted(old, new)) is not None
