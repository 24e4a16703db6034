"""Errors planted into the text of the exported checker, one at a time; the tests must see each of them.

An error is seen where a forged text is proved, an honest one refused, a kept verdict changed, or something raised that
is no refusal. Each is (name, the text that stands once in the exported file, the text that is planted).
"""

from functools import cache

from tests.kernel.documents import text_of
from tests.kernel.forgeries import forged
from tests.kernel.golden import verdict_of
from tests.kernel.honest_documents import honest
from tests.kernel.one_file import loaded, source

READERS = [
    (
        "unknown keys are let in",
        "        if found != keys:\n            wrong",
        "        if not set(keys) <= set(found):\n            wrong",
    ),
    (
        "a text is taken for a list",
        'list):\n            raise self.refuse("a list is expected")\n        return self.value',
        '(list, str)):\n            raise self.refuse("a list is expected")\n        return list(self.value)',
    ),
    (
        "true is taken for 1",
        "if type(self.value) is not int or not least <= self.value < below:",
        "if not isinstance(self.value, int) or not least <= self.value < below:",
    ),
    ("a place may lie outside", "or not least <= self.value < below:", "or not least <= self.value:"),
    (
        "a text may stand twice",
        'if len(set(found)) != len(found):\n            raise self.refuse("a text stands twice")',
        'if False:\n            raise self.refuse("")',
    ),
    ("the text need not be canonical", "        again == text,", "        again == text or bool(text),"),
    (
        "numbers may be of any grammar",
        "match = NUMBER.fullmatch(text) if len(text) <= LONGEST_NUMBER else None",
        "match = NUMBER.match(text)",
    ),
    (
        "integers may be negative",
        'if least is not None and found < least:\n            raise self.refuse(f"an integer',
        'if False:\n            raise self.refuse(f"an integer',
    ),
    ("the depth is not counted", "    require(not brackets, f", "    require(True, f"),
    (
        "work is not counted",
        "        self.spent += operations * (1 + (bits >> 8) ** 2 // 2)",
        "        self.spent += 0",
    ),
    ("more work may be declared", "    if work.limit > most:", "    if False:"),
    ("outcomes need not rise", "    if not all(map(lt, labels, labels[1:])):", "    if False:"),
    (
        "outcomes may leave their alphabets",
        "or not 0 <= min(column) <= max(column) < len(variable.letters):",
        "or not 0 <= min(column):",
    ),
    ("counts may be zero", "    if counts is None or min(counts) < 1:", "    if counts is None:"),
    ("a stated law is counted", 'total if kind == "table" else None)', "total)"),
    (
        "a column may be kept and read",
        'node.require(len(set(used)) == len(used), "a column is both',
        'node.require(True, "a column is both',
    ),
    (
        "a kept column may be released again",
        "release.require(not set(released) & set(used[len(looked) :]),",
        "release.require(True,",
    ),
    (
        "rows need not sum to the scale",
        "if len(numbers) != letters or sum(numbers) != one:",
        "if len(numbers) != letters:",
    ),
    ("rows may be missing", "rows.require(rows.length() == many,", "rows.require(True,"),
    (
        "letters need not be those of the problem",
        "node.require(setting.width in (None, letters),",
        "node.require(True,",
    ),
    (
        "listed inputs may stand twice",
        "places.require(all(map(lt, listed, listed[1:])),",
        "places.require(True,",
    ),
    ("a level of listed inputs alone", "            if len(self.table) < self.many:\n", "            if False:\n"),
    (
        "listed rows in other places",
        "            rows[place] = list(row)\n",
        "            rows[place - 1] = list(row)\n",
    ),
    ("staircases need not sum to one", "all(base + (r - 1) * w == 1 for w in more.values())", "bool(more)"),
    ("pram may release another column", "node.require(releases, f", "node.require(True, f"),
    ("what is drawn need not be a law", "sum(whole[k] for k in lists[1]) == one", "bool(whole)"),
    ("a stay may exceed 1", "part.require(max(different) <= 1,", "part.require(True,"),
    (
        "given may name what is hidden",
        "given.require(set(agreeing) <= set(",
        "given.require(True or set(agreeing) <= set(",
    ),
    (
        "a promise may stand twice",
        'node.require(len(set(promises)) == len(promises), "a promise',
        'node.require(True, "a promise',
    ),
    (
        "a card may claim what needs the law",
        'item.require(known, "without the law',
        'item.require(True, "without the law',
    ),
    (
        "evidence may be idle",
        'evidence.require(evidence.is_null() or (known and promise.needs_evidence), "this promise',
        'evidence.require(True, "this promise',
    ),
    ("a metric need not be symmetric", "metric.require(symmetric,", "metric.require(True,"),
    (
        "classes may overlap",
        'classes.require(len(set(members)) == len(members), "a letter',
        'classes.require(True, "a letter',
    ),
]

PROMISES = [
    (
        "independence is not compared",
        "apart = joint.get((s, (), y), 0) * total - prior[s, ()] * out[(), y]",
        "apart = 0",
    ),
    (
        "a value that is ruled out is forgotten",
        '"odds_nats": None if ruled_out else nats(Fraction(top, bottom)),',
        '"odds_nats": nats(Fraction(top, bottom)),',
    ),
    ("a limited figure is not compared", "at_most(found.get(self.figure), self.at_most, self.what)", "pass"),
    ("the worst letter is the last", "units[y] += weight * log2(", "units[y] = weight * log2("),
    ("odds grow one way only", "if now > before else (before, now)", "if now > before else (now, before)"),
    ("rows of one world are compared alone with themselves", "for less in lower]", "for less in lower[:1]]"),
    (
        "kept columns are not counted",
        "labels = zip(setting.labels(secret), setting.labels(given), setting.beside, setting.input, strict=True)",
        "labels = zip(setting.labels(secret), setting.labels(given), setting.labels(()), setting.input, strict=True)",
    ),
    (
        "the level of one row for all",
        "level = self.rows * release.level(self.given, self.metric)",
        "level = release.level(self.given, self.metric)",
    ),
    (
        "the delta of one row for all",
        "found = self.rows * release.delta(self.given, self.epsilon_of_one_row)",
        "found = release.delta(self.given, self.epsilon_of_one_row)",
    ),
    (
        "epsilon of all rows for each",
        "release.delta(self.given, self.epsilon_of_one_row)",
        "release.delta(self.given, self.epsilon)",
    ),
    (
        "kept columns have a level",
        "require(not beside, f\"{', '.join(beside)} leaves as it is: records",
        "require(True, f\"{', '.join(beside)} leaves as it is: records",
    ),
    (
        "a level without its least value",
        'require(least > 0, "a letter has',
        'least = least or most\n                require(True, "a letter has',
    ),
    (
        "a level of the worlds together",
        "for members in inputs.values():",
        "for members in [range(len(rows))]:",
    ),
    ("a metric of impossible letters", "require(possible, ", "require(True, "),
    (
        "inputs at distance 0 may differ",
        'require(distance > 0, "inputs',
        'distance = distance or 99\n                require(True, "inputs',
    ),
    (
        "delta of the worlds together",
        "different[world][tuple(row)] = None",
        "different[()][tuple(row)] = None",
    ),
    (
        "e^epsilon from above in delta",
        "top, bottom = exp(epsilon)[0].as_integer_ratio()",
        "top, bottom = (2 * exp(epsilon)[1]).as_integer_ratio()",
    ),
    (
        "the adversary of one row",
        "found = min(release.capacity(self.group, evidence, self.rows), everything)",
        "found = min(release.capacity(self.group, evidence), everything)",
    ),
    (
        "other inputs are forgotten in further rows",
        "reach = group if rows == 1 else len(self.setting.sizes)",
        "reach = group",
    ),
    (
        "the group is always one",
        "combinations(range(len(self.sizes)), group)",
        "combinations(range(len(self.sizes)), 1)",
    ),
    ("a tree may lack leaves", 'require(not stack, "a tree lacks leaves")\n        return worst', "return worst"),
    (
        "only the last leaf counts",
        "worst = max(worst, self.radius(set().union(*allowed), law))",
        "worst = self.radius(set().union(*allowed), law)",
    ),
    ("a leaf of one value", "self.radius(set().union(*allowed), law)", "self.radius(set(allowed[0]), law)"),
    (
        "halves that do not cover",
        "halves = (allowed[value] - set(among), allowed[value] & set(among))",
        "halves = (allowed[value] & set(among), allowed[value] & set(among))",
    ),
    (
        "a centre from above",
        "logs = [log2(v, total)[0] if v else 0 for v in law]",
        "logs = [log2(v, total)[0] + (1 << 158) if v else 0 for v in law]",
    ),
    ("contraction by the middle alone", "return value - -more // (1 << POINT)", "return value // 2"),
    (
        "contraction of the first pair",
        "best = max(best, min(apart, _most_of_pair(both, one)))",
        "best = best or min(apart, _most_of_pair(both, one))",
    ),
    ("a guess before that counts the last", "sum(max(n for _, n in h) for h", "sum(sum(n for _, n in h) for h"),
    ("a claim may be better than proved", 'require(enough, f"the claimed {name}', 'require(True, f"the claimed {name}'),
    (
        "claims from below and above are confused",
        "claim.value <= figure if name in LOWER else claim.value >= figure",
        "claim.value >= figure",
    ),
    ("a limit is not compared", "require(cost <= limit.at_most, f", "require(True, f"),
    ("the claimed limit is not compared", "require(claimed >= cost, f", "require(True, f"),
    ("shapes are not looked at", "    release.keep_shape()\n", "    pass\n"),
    (
        "forbidden letters of the first input",
        "require(not any(row[t] for t in setting.barred(e)), ",
        "require(e > 0 or not any(row[t] for t in setting.barred(e)), ",
    ),
    ("frozen letters may change", "or (move[0] in self.freeze and move[0] != move[1])", ""),
    (
        "combinations may leave",
        "all(after[name] in among for name, among in combination) for combination in self.never",
        "False for combination in self.never",
    ),
    (
        "marginals are not compared",
        'require(after == [n * scale for n in before], "a marginal',
        'require(True, "a marginal',
    ),
    (
        "information rounded for us",
        "bits(max(0, -(-sum(units.values()) // total))),",
        "bits(max(0, -(-sum(units.values()) // total))) - Fraction(1, 10**9),",
    ),
]

GAUGES = [
    (
        "a guess has no limit",
        "if self.at_most is None else self.at_most",
        "if self.at_most is None else 2 * self.at_most",
    ),
    (
        "a multiple is of 1",
        "return (self.times or Fraction(0)) * self.before(setting) if",
        "return (self.times or Fraction(0)) if",
    ),
    ("a gain takes the mean", "best += max(sum(row[s]", "best += min(sum(row[s]"),
    (
        "side information is forgotten",
        "side = [name for name in setting.mechanism.beside if name == setting.mechanism.side]",
        "side: list[str] = []",
    ),
    (
        "a gain may be negative",
        "tuple(tuple(g.number(0) for g in row.pair(values))",
        "tuple(tuple(g.number() for g in row.pair(values))",
    ),
    (
        "kept columns are not maximal",
        "require(not kept, f\"{', '.join(kept)} leaves as it is and",
        "require(True, f\"{', '.join(kept)} leaves as it is and",
    ),
    (
        "strata are not counted",
        "self.by_world(self.setting.worlds(self.setting.mechanism.strata))",
        "self.by_world(self.setting.worlds(()))",
    ),
    ("the largest entry is the first", "total += letters * max(values", "total += letters * min(values"),
    (
        "a maximal leakage is of the law",
        "found[y].append((-(-(n << FINE) // total), Fraction(weight, n)))",
        "found[y].append((-(-(n << FINE) // total), Fraction(weight, total)))",
    ),
    (
        "pairs that never meet are near",
        "for (_, y), m in out.items())\n        return {self.figure: Fraction(apart",
        "for (_, y), m in out.items() if (s, (), y) in joint)\n        return {self.figure: Fraction(apart",
    ),
    ("a variation is halved twice", "Fraction(apart, 2 * total * total)", "Fraction(apart, 4 * total * total)"),
    ("an order may be 1", "order.require(found > 1,", "order.require(found >= 1,"),
    ("an order may be long", "order.require(found.numerator <= MOST_ORDER,", "order.require(True,"),
    ("roots are rounded down", "return found if found**n >= number else found + 1", "return found"),
    (
        "the norm forgets its shares",
        "total += -(-(share * power(units, order)) >> FINE)",
        "total += power(units, order)",
    ),
    ("the dual order is the order", "return self.order / (self.order - 1)", "return Fraction(1)"),
]
BALLS = [
    (
        "one end of each cell",
        "chances = 2 * self.many * ball.sharing / (1 - ball.radius)",
        "chances = self.many * ball.sharing / (1 - ball.radius)",
    ),
    ("one cell for all", "chances = 2 * self.many * ball.sharing", "chances = 2 * ball.sharing"),
    ("promises that share nothing", "sharing=max(1, sharing)", "sharing=1"),
    (
        "an uncounted law has rows",
        "    rows = self.setting.law.rows\n",
        "    rows = self.setting.law.rows or self.setting.total\n",
    ),
    (
        "the upper end alone",
        "return [(1 - known[rows - n, surprise], known[n, surprise]) for n in self.counts]",
        "return [(known[n, surprise], known[n, surprise]) for n in self.counts]",
    ),
    (
        "a cell that holds no mass",
        "return p * score + bits(times_log2(self.eta * p, p / reference)[1]) if p else Fraction(0)",
        "return p * score if p else Fraction(0)",
    ),
    ("half of a total variation", "bound = by.nu + 2 * r * by.m", "bound = by.nu + r * by.m"),
    (
        "the middle of each interval",
        "ends = (max(p - r, Fraction(0)), p, min(p + r, Fraction(1))) if middle",
        "ends = (p,) if middle",
    ),
    ("a divergence without its radius", "+ least + (by.t + cells.eta) * r", "+ least"),
    ("the ball is not compared", 'at_most(found["within_bits"], self.at_most, "the leakage within the ball")', "pass"),
    (
        "no contraction beside kept columns",
        "self.eta = Fraction(1) if setting.mechanism.beside else",
        "self.eta = Fraction(1, 9) if setting.mechanism.beside else",
    ),
    (
        "the tail without its spread",
        "n * apart - (spread + 1) // 2 + log2(",
        "2 * n * apart - (spread + 1) // 2 + log2(",
    ),
]

PLANTED = READERS + PROMISES + GAUGES + BALLS


def planted_into(text, before, after):
    assert text.count(before) == 1, f"{text.count(before)} times in the exported file: {before}"
    return text.replace(before, after)


def seen_by(module):
    """The first text about which a mutated kernel says something false or different; None: nothing sees it."""
    for name, document in honest().items():
        if verdict_changes(module, f"honest: {name}", text_of(document)):
            return f"honest: {name}"
    for name, text in forged(sizes=False).items():
        if verdict_changes(module, f"forged: {name}", text):
            return f"forged: {name}"
    return None


@cache
def _kept(text):
    return verdict_of(text, True)


def verdict_changes(module, name, text):
    """Whether the mutated kernel proves what is forged, refuses what is honest, or proves other figures."""
    try:
        verdict = verdict_of(text, True, module.check, module.Refused)
    except Exception:  # a mutated kernel may raise anything
        return True
    if name.startswith("forged"):
        too_deep = "deep" in _kept(text)  # the parser of JSON must never see such a text, even if it refuses it
        return not isinstance(verdict, str) or (too_deep and "deep" not in verdict)
    return verdict != _kept(text)


def seen(before, after):
    """What sees one planted error."""
    return seen_by(loaded(planted_into(source(), before, after)))
