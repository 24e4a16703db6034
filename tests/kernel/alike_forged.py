"""False and idle claims about noise, orbits and samples that are alike, and where each is refused."""

import copy
from itertools import product

from dalenius.kernel.numbers import canonical
from tests.kernel.alike_documents import (
    ACROSS,
    ALIKE,
    CAPACITY,
    CLIPPED,
    COLUMNS,
    EVEN,
    FILLED,
    FOLDER,
    HONEST,
    LAPLACE,
    MADE,
    NOISE,
    ODD,
    ORBITS,
    PAIR,
    RATE,
    of_pairs,
    real,
)
from tests.kernel.documents import (
    claims_of,
    distance,
    independent,
    law_of,
    limit,
)


# --- forged -----------------------------------------------------------------------------------------------------------
def put(document, *path_and_value):
    """A copy with one value changed; a function changes what stands there."""
    *path, last, value = path_and_value
    found = copy.deepcopy(document)
    node = found
    for key in path:
        node = node[key]
    if value is DROP:
        del node[last]
    else:
        node[last] = value(node[last]) if callable(value) else value
    return found


DROP = object()


def more(by):
    return lambda text: str(int(text) + by)


def longer(value):
    return lambda found: [*found, value]


def after(found):
    return {**found, "more": "1"}


def _axis(key, value, document=NOISE):
    return put(document, "channel", "axes", 0, key, value)


def moved(document, steps):
    """Noise that is added to every record and so many steps, with room for that."""
    found = copy.deepcopy(document)
    axis = found["channel"]["axes"][0]
    axis["move"], axis["high"] = str(steps), str(int(axis["high"]) + steps)
    axis["prior"] = [[str(int(place) + steps), weight] for place, weight in axis["prior"]]
    found["channel"]["letters"][0] += steps
    return found


def _word(columns):
    return put(of_pairs(), "channel", "columns", columns)


def _pairs_law(*counts):
    outcomes = [[*x, str(n)] for x, n in zip(product((0, 1), repeat=2), counts, strict=True) if n]
    return of_pairs(law=law_of(PAIR, outcomes))


NORM = {"distance": "norm", "of": ["x"], "p": "2"}

FORGED = {
    # the law of samples that are alike
    "another key in the law": (put(ALIKE, "law", after), "the keys must be|the keys"),
    "samples as a text": (put(ALIKE, "law", "samples", "4"), "an integer from 1"),
    "samples that are true": (put(ALIKE, "law", "samples", True), "an integer from 1"),
    "no samples": (put(ALIKE, "law", "samples", 0), "an integer from 1"),
    "more samples than the channel has types for": (put(ALIKE, "law", "samples", 5), "the law has 5 samples"),
    "a million samples": (put(ALIKE, "law", "samples", 1_000_000), "more than 200,000 types"),
    "a million samples of one letter": (
        put(
            put(ALIKE, "law", "samples", 1_000_000),
            "variables",
            lambda v: [v[0], *({**x, "letters": ["0"]} for x in v[1:])],
        ),
        "a row has not a number for each letter",
    ),
    "a prior as a text": (put(ALIKE, "law", "prior", "21"), "a list is expected"),
    "a prior of three": (put(ALIKE, "law", "prior", longer("1")), "not a law of the hidden variable"),
    "a prior of nothing": (put(ALIKE, "law", "prior", ["0", "0"]), "not a law of the hidden variable"),
    "a negative prior": (put(ALIKE, "law", "prior", 0, "-2"), "an integer from 0"),
    "a kernel without a row": (put(ALIKE, "law", "kernel", 1, DROP), "a list of 2"),
    "a kernel row without a letter": (put(ALIKE, "law", "kernel", 1, 1, DROP), "a number for each letter"),
    "kernel rows of two sums": (put(ALIKE, "law", "kernel", 1, 1, more(1)), "do not have one positive sum"),
    "a kernel of nothing": (put(ALIKE, "law", "kernel", [["0", "0"], ["0", "0"]]), "do not have one positive sum"),
    "another sample of other letters": (put(ALIKE, "variables", 2, "letters", ["0", "2"]), "other letters"),
    "variables in another order": (put(ALIKE, "law", "variables", lambda v: v[::-1]), "these are not the variables"),
    "without another sample": (
        put(put(ALIKE, "variables", 2, DROP), "law", "variables", 2, DROP),
        "the hidden one and 2 of the samples",
    ),
    "a variable called as all samples": (
        put(put(ALIKE, "variables", 0, "name", "all of X"), "law", "variables", 0, "all of X"),
        "no variable may be called|there is no such variable",
    ),
    "a sample is released": (put(ALIKE, "mechanism", "release", ["X"]), "observed as X alone"),
    "the hidden variable is observed": (put(ALIKE, "mechanism", "observe", ["W"]), "observed as X alone"),
    "another law of the samples": (put(ALIKE, "law", "kernel", [["8", "2"], ["1", "9"]]), "is not independent of X"),
    # channels that read types
    "a row of types is missing": (put(ALIKE, "channel", "rows", 4, DROP), "one row for each of the 5 types"),
    "letters of a row do not rise": (put(ALIKE, "channel", "rows", 0, 1, lambda r: r[::-1]), "do not rise"),
    "a letter beyond the last": (put(ALIKE, "channel", "rows", 0, 1, 0, 0, 9), "an integer from 0 to 3"),
    "a letter that is true": (put(ALIKE, "channel", "rows", 0, 1, 1, 0, True), "an integer from 0"),
    "a row beyond its scale": (put(ALIKE, "channel", "rows", 1, 0, more(1)), "do not sum to the scale"),
    "a weight of nothing": (put(ALIKE, "channel", "rows", 0, 1, 0, 1, "0"), "an integer from 1"),
    "a little more of one letter": (
        put(put(ALIKE, "channel", "rows", 1, 1, 0, 1, more(1)), "channel", "rows", 1, 1, 1, 1, more(-1)),
        "is not independent of X",
    ),
    "columns of another number": (put(COLUMNS, "channel", "samples", 2), "3 columns are read|one row for each"),
    "a column of other letters": (
        put(COLUMNS, "variables", 0, "letters", ["0", "2"]),
        "different letters",
    ),
    "other letters than are fresh": (put(ALIKE, "mechanism", "fresh", ["0", "1"]), "not those of the problem"),
    "a better value by types": (put(ALIKE, "claims", "value", "1/20"), "the claimed value is not reached"),
    "a better bound by types": (put(ALIKE, "claims", "bound", "0.0447"), "the claimed bound is not proved"),
    "a better figure given another": (
        put(ALIKE, "claims", "promises", 0, lambda c: [x | ({"value": "1/4"} if x["given"] else {}) for x in c]),
        "is not proved",
    ),
    # the rule of types
    "columns that are not exchangeable": (
        put(
            COLUMNS, "law", "outcomes", lambda o: [[*x[:-1], str(int(x[-1]) * (1 + (k == 2)))] for k, x in enumerate(o)]
        ),
        "is not independent|not exchangeable",
    ),
    "an inner rule that is none": (put(COLUMNS, "proof", "proof", "rule", "circles"), "is not one of"),
    "another key beside the inner rule": (put(COLUMNS, "proof", after), "the keys"),
    "a promise for each column but one": (
        put(put(put(COLUMNS, "promises", 2, DROP), "evidence", 2, DROP), "claims", "promises", 2, DROP),
        "not every single column",
    ),
    # orbits
    "orbits with another key": (put(ORBITS, "channel", after), "the keys"),
    "a word too short": (_word([["1/2", [["1/2", [0]], ["1/2", [1, 1]]]], ["1/2", ODD]]), "one letter for each sample"),
    "a word twice": (_word([["1/2", [["1/2", [0, 0]], ["1/2", [0, 0]]]], ["1/2", ODD]]), "stands twice"),
    "a word of true": (_word([["1/2", [["1/2", [True, 1]], ["1/2", [0, 0]]]], ["1/2", ODD]]), "an integer from 0"),
    "a word as a text": (_word([["1/2", [["1/2", "00"], ["1/2", [1, 1]]]], ["1/2", ODD]]), "a list is expected"),
    "masses beyond one": (_word([["1/2", [["1/2", [0, 0]], ["2/3", [1, 1]]]], ["1/2", ODD]]), "do not sum to one"),
    "weights beyond one": (_word([["1/2", EVEN], ["2/3", ODD]]), "weights do not sum"),
    "a mass of nothing": (_word([["1/2", [*EVEN, ["0", [0, 1]]]], ["1/2", ODD]]), "is not positive"),
    "a weight of nothing in orbits": (_word([["0", EVEN], ["1/2", EVEN], ["1/2", ODD]]), "is not positive"),
    "columns that are not the law": (_word([["1/3", EVEN], ["2/3", ODD]]), "do not have the masses"),
    "samples that are not alike": (_pairs_law(2, 1, 2, 3), "do not have the masses"),
    "an outcome that is impossible": (_pairs_law(1, 0, 0, 1), "is impossible"),
    "a column that tells a sample": (
        _word([["1/2", [["1/2", [0, 0]], ["1/2", [0, 1]]]], ["1/2", [["1/2", [1, 0]], ["1/2", [1, 1]]]]]),
        "not independent of X1",
    ),
    "a column that tells the second sample": (
        _word([["1/2", [["1/2", [0, 0]], ["1/2", [1, 0]]]], ["1/2", [["1/2", [0, 1]], ["1/2", [1, 1]]]]]),
        "not independent of X2",
    ),
    "a single sample in orbits": (
        put(put(of_pairs(), "mechanism", "observe", ["X1"]), "promises", 1, DROP)
        | {"evidence": [None], "claims": claims_of(promises=[[]])},
        "too few",
    ),
    "orbits that release a sample": (put(of_pairs(), "mechanism", "release", ["X1"]), "letters of their own"),
    "a price too many": (put(ORBITS, "proof", "prices", longer("0")), "one price for each type"),
    "a leaf without a multiplier": (put(ORBITS, "proof", "tree", -1, -1, DROP), "a multiplier for each value"),
    "a leaf without numbers": (put(ORBITS, "proof", "tree", -1, ["leaf"]), "a multiplier for each value"),
    "a split of an atom that is none": (put(ORBITS, "proof", "tree", 0, 1, 99), "an integer from 0 to 7"),
    "a split below nothing": (put(ORBITS, "proof", "tree", 0, 2, "-1/2"), "from 0 on"),
    "a tree without its last leaf": (put(ORBITS, "proof", "tree", -1, DROP), "lacks leaves"),
    "a tree with a leaf too many": (put(ORBITS, "proof", "tree", lambda t: [*t, t[-1]]), "goes on after"),
    "a better bound of orbits": (put(ORBITS, "claims", "bound", "1.04"), "the claimed bound is not proved"),
    "orbits for something else": (put(ORBITS, "objective", "about", ["X1"]), "about all of the input|does not prove"),
    "orbits of one view": (
        of_pairs(proof={"rule": "orbits", "prices": [], "tree": []}, promises=[independent("X1")], evidence=[None])
        | {"claims": claims_of("1", "1", "0", [[]])},
        "at least two independent views",
    ),
    # noise
    "noise with another key": (put(NOISE, "channel", after), "the keys"),
    "an axis with another key": (put(NOISE, "channel", "axes", 0, after), "the keys"),
    "noise of form any": (put(NOISE, "mechanism", "form", "any"), "under a mechanism of form noise"),
    "noise beside a kept column": (
        put(
            put(put(NOISE, "variables", longer({"name": "K", "letters": ["0"]})), "law", "variables", longer("K")),
            "law",
            "outcomes",
            lambda o: [[x[0], 0, x[1]] for x in o],
        )
        | {"mechanism": NOISE["mechanism"] | {"keep": ["K"]}},
        "noise keeps|this rule is for noise|releases the columns",
    ),
    "another form under noise": (
        put(NOISE, "channel", {"form": "dense", "letters": 10, "scale": "1", "rows": [["1"] + ["0"] * 9] * 10}),
        "not of form noise|needs to know the letters",
    ),
    "letters that are no numbers": (put(NOISE, "variables", 0, "letters", 3, "three"), "is not a number"),
    "numbers that are no grid": (put(NOISE, "variables", 0, "letters", 9, "10"), "points of a grid"),
    "numbers that fall": (put(NOISE, "variables", 0, "letters", lambda a: a[::-1]), "points of a grid"),
    "a first letter too few": (put(NOISE, "channel", "first", []), "a first letter for each column"),
    "another first letter": (put(NOISE, "channel", "first", ["-12"]), "more than the allowed"),
    "another first letter of collected noise": (put(CLIPPED, "channel", "first", ["1"]), "cut off within the range"),
    "letters that are cut off": (put(NOISE, "channel", "letters", [9]), "cut off within the range"),
    "no letters": (put(NOISE, "channel", "letters", [0]), "an integer from 1"),
    "no axis": (put(NOISE, "channel", "axes", []) | {}, "there is no axis"),
    "a give too many": (put(NOISE, "channel", "give", [["1", "0"]]), "a list of 1"),
    "a shift too many": (put(NOISE, "channel", "shift", ["13", "0"]), "a list of 1"),
    "half a step of shift": (put(NOISE, "channel", "shift", ["27/2"]), "claimed|more than the allowed"),
    "an axis that takes two columns": (_axis("take", ["1", "1"]), "a list of 1"),
    "an axis that ends before it begins": (_axis("high", "-14"), "an integer from -13"),
    "an axis of a million million values": (_axis("high", "1000000000000"), "more than 2,097,152 values"),
    "weights of nothing": (_axis("weights", ["0", "0"]), "are not a law"),
    "a negative weight": (_axis("weights", lambda w: [*w[:-1], "-1"]), "an integer from 0"),
    "weights as numbers": (_axis("weights", [3, 2, 1]), "an integer is expected, as a text"),
    "no weights": (_axis("weights", []), "are not a law"),
    "a prior off the shifts": (_axis("prior", [["-1", "1"], ["9", "1"]]), "out of range"),
    "a prior that does not rise": (_axis("prior", [["3", "1"], ["3", "1"]]), "do not rise"),
    "a prior without weight": (_axis("prior", [["3", "0"]]), "an integer from 1"),
    "no prior": (_axis("prior", []), "no weight is given"),
    "a prior that leaves out a value": (_axis("prior", [["0", "1"]]), "leaves out a released value"),
    "a variance that the records exceed": (_axis("variance", "8.24"), "a larger variance"),
    "a sharper noise": (_axis("weights", lambda w: [str(2 * int(w[0]) + 1), *w[1:]]), "the claimed value|claimed"),
    "less noise than was promised": (
        _axis("weights", lambda w: [str(int(v) >> (4 * k)) for k, v in enumerate(w)], LAPLACE),
        "more than the promised",
    ),
    "another key of a norm": (put(CAPACITY, "limits", 0, "distortion", 0, after), "the keys"),
    "a norm below one": (put(CAPACITY, "limits", 0, "distortion", 0, "p", "1/2"), "from 1 on"),
    "a norm of a hundred": (put(CAPACITY, "limits", 0, "distortion", 0, "p", "100"), "between 1 and 64"),
    "a norm of nothing": (put(CAPACITY, "limits", 0, "distortion", 0, "p", "infinity"), "is not an integer"),
    "a norm without noise": (
        put(FILLED, "limits", [limit("1", {"distance": "norm", "of": ["X"], "p": "2"})])
        | {"claims": FILLED["claims"] | {"limits": ["9"]}},
        "a norm is that of noise",
    ),
    "a norm of another column": (put(CAPACITY, "limits", 0, "distortion", 0, "of", []), "of all released columns"),
    "a norm beyond its limit": (put(CAPACITY, "limits", 0, "at_most", "2.99"), "more than the allowed"),
    "a norm of noise that moves every record": (moved(real("noise_norm_3_2"), 7), "noise which is added"),
    "a norm of noise that moves every record by a step": (moved(CAPACITY, 1), "noise which is added"),
    "a sum of norms": (put(CAPACITY, "limits", 0, "distortion", lambda d: d + d), "a norm stands alone"),
    "another distance of noise": (
        put(NOISE, "limits", 0, "distortion", [distance("absolute", "X")]),
        "a squared distortion or a norm",
    ),
    "less error than there is": (put(NOISE, "limits", 0, "at_most", "1.99"), "more than the allowed"),
    "noise that reaches further": (put(CAPACITY, "objective", "reach", 0, lambda r: r - 1), "reaches further"),
    "noise of a larger reach competes": (
        put(CAPACITY, "objective", "reach", 0, lambda r: r + 1),
        "larger reach competes",
    ),
    "a reach for two columns": (put(CAPACITY, "objective", "reach", longer(3)), "a list of 1"),
    "a capacity without noise": (put(FILLED, "objective", {"aim": "capacity", "reach": [1]}), "is that of noise"),
    "a better capacity": (put(CAPACITY, "claims", "value", "3.17"), "the claimed value is not reached"),
    "a better bound of the capacity": (put(CAPACITY, "claims", "bound", "3.1748"), "the claimed bound is not proved"),
    "a capacity within the norm of three": (
        put(CAPACITY, "limits", 0, "distortion", 0, "p", "3"),
        "more than the allowed|p = 1, 2 or inf",
    ),
    "a line of no slope": (put(NOISE, "proof", "line", "slope", "0"), "has no slope"),
    "a line without a weight": (put(NOISE, "proof", "line", "weights", 0, DROP), "has no weight"),
    "a line of a weight too many": (put(NOISE, "proof", "line", "weights", longer(["10", "1"])), "out of range"),
    "a line beside the capacity": (
        put(CAPACITY, "proof", "line", {"slope": "1", "weights": [["0", "1"]]}),
        "needs no line",
    ),
    "least capacities beside a leakage": (
        put(NOISE, "proof", "least", [{"slope": "0", "prior": [["0", "1"]], "weights": ["1"]}]),
        "for the least capacity",
    ),
    "a line across columns": (put(ACROSS, "proof", "line", NOISE["proof"]["line"]), "for one column"),
    "any three records as if they were one": (
        put(real("noise_dalenius"), "promises", 0, "group", 3),
        "what an adversary may learn is 1.4",
    ),
    "evidence for a capacity of noise": (put(real("noise_dalenius"), "evidence", 0, []), "all that proves"),
    # filled columns
    "filled with another key": (put(FILLED, "channel", after), "the keys"),
    "a negative level": (put(FILLED, "channel", "level", "-1/100"), "from 0 on"),
    "a lower level": (put(FILLED, "channel", "level", "0.05"), "more than the promised"),
    "filled with letters of its own": (put(FILLED, "mechanism", "release", []), "releases the columns|is not released"),
    "a slope below one": (put(FILLED, "proof", "slope", "1/2"), "from 1 on"),
    "water with another key": (put(FILLED, "proof", after), "the keys"),
    "a better bound by water": (put(FILLED, "claims", "bound", "1/3"), "the claimed bound is not proved"),
    "a better rate": (put(RATE, "claims", "value", "1.37"), "the claimed value is not reached"),
    "water for another objective": (
        put(ALIKE, "proof", {"rule": "water", "level": "1/10", "slope": "2"}),
        "for the least information",
    ),
    "water for another distortion": (
        put(FILLED, "objective", "distortion", 0, "classes", [["c0", "c1"]]),
        "leakage about all of the input",
    ),
    "noise as a rule for something else": (
        put(FILLED, "proof", {"rule": "noise", "line": None, "least": []}),
        "this rule is for noise",
    ),
    "orbits as a rule for something else": (
        put(FILLED, "proof", {"rule": "orbits", "prices": [], "tree": []}),
        "for all of the input alone",
    ),
    "alike as a rule for something else": (
        put(FILLED, "proof", {"rule": "alike", "proof": {}}),
        "information that is maximised",
    ),
}


def forged_texts():
    return {name: canonical(document) for name, (document, _) in FORGED.items()}


if __name__ == "__main__":  # python -m tests.kernel.alike_forged && python -m tests.kernel.golden alike
    from tests.kernel.golden import file_name

    for old in FOLDER.glob("forged_*.json"):
        old.unlink()
    for name, text in forged_texts().items():
        (FOLDER / f"forged_{file_name(name)}").write_bytes(text.encode())
    for name in MADE:
        (FOLDER / f"honest_{file_name(name)}").write_bytes(canonical(HONEST[name]).encode())
