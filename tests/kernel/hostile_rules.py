"""Hostile texts whose work lies in the rules of bounds and in records."""

import itertools
import json

from tests.kernel.directed import leaf, lines
from tests.kernel.documents import (
    dense,
    design,
    distance,
    independent,
    leakage,
    limit,
    local_dp,
    maximal,
)
from tests.kernel.golden import CORPUS
from tests.kernel.hostile_numbers import LONG, chance, letters, long, of, share


def of_long_limits():
    """Weights of limits that have many digits."""
    hard = {"aim": "distortion", "distortion": [distance("hamming", "X")]}
    for many, digits in ((500, LONG), (500, 390)):
        variables, law = of(many)
        proof = lines("letters", [[["leaf", 0]]] * many, [leaf([])], limits=[long(digits)] * 2)
        own = [limit("1", distance("hamming", "X"))] * 2
        yield (
            f"limits of {digits} digits",
            design(
                variables,
                law,
                {"release": ["X"]},
                limits=own,
                channel={"form": "pram", "stay": ["1"] * many},
                objective=hard,
                proof=proof,
            ),
        )


def of_long_transports():
    """Weights of transports that have no common denominator."""
    found = json.loads((CORPUS / "later" / "records_independent.json").read_text(encoding="utf-8"))
    start, end, _, numbers = found["proof"]["transports"][0]
    found["proof"]["transports"] = [[start, end, f"1/{long(380)}", numbers] for _ in range(1_500)]
    yield "transports of long weights", found | {"work": "20000000"}


def of_rules():
    """Proofs of bounds."""
    variables, _ = of(12)
    aim = {"aim": "variance", "about": ["X"]}
    square = [[long() if i == j else "0" for j in range(11)] for i in range(11)]
    full = [[long() for _ in range(11)] for _ in range(11)]
    full = [[full[min(i, j)][max(i, j)] for j in range(11)] for i in range(11)]
    stay = {"form": "pram", "stay": ["1/2"] * 12}
    for name, B, counts in (("long", full, "1"), ("diagonal", square, long()), ("both", full, long())):
        proof = {"rule": "variance", "unit": "1", "matrix": B, "prices": ["1"] * 12, "form": None}
        law = [[k, long() if counts != "1" else "1"] for k in range(12)]
        yield (
            f"variance of {name} matrices",
            design(
                variables, law, {"release": ["X"]}, promises=[local_dp("9")], channel=stay, objective=aim, proof=proof
            ),
        )
    variables, _ = of(120)
    stay = {"form": "pram", "stay": ["1/2"] * 120}
    law = [[k, "1" if k == 7 else long(3_000)] for k in range(120)]
    zeros = [["0"] * 119] * 119
    proof = {"rule": "variance", "unit": "1", "matrix": zeros, "prices": ["0"] * 120, "form": None}
    yield (
        "variance of long counts",
        design(variables, law, {"release": ["X"]}, promises=[local_dp("9")], channel=stay, objective=aim, proof=proof),
    )
    form = {"diagonal": ["1"] * 120, "pairs": [["0"] * 120] * 120, "shift": long()}
    square = [[("9" * 40 if i == j else "0") for j in range(119)] for i in range(119)]
    proof = {"rule": "variance", "unit": "1", "matrix": square, "prices": ["1"] * 120, "form": form}
    law = [[k, "1"] for k in range(120)]
    yield (
        "variance by a form",
        design(variables, law, {"release": ["X"]}, promises=[local_dp("9")], channel=stay, objective=aim, proof=proof),
    )
    metric = [["0" if x == z else str(1 + (x * z) % 5) for z in range(6)] for x in range(6)]
    metric = [[metric[min(x, z)][max(x, z)] for z in range(6)] for x in range(6)]
    for many in (5, 6):
        variables, law = of(many)
        proof = {
            "rule": "variance",
            "unit": "1",
            "matrix": [["1" if i == j else "0" for j in range(many - 1)] for i in range(many - 1)],
            "prices": ["1"] * many,
            "form": None,
        }
        inside = [row[:many] for row in metric[:many]]
        yield (
            f"variance of {many} letters with distances",
            design(
                variables,
                law,
                {"release": ["X"]},
                promises=[local_dp("9", metric=inside)],
                channel={"form": "pram", "stay": ["1/2"] * many},
                objective=aim,
                proof=proof,
            ),
        )
    hard = {"aim": "distortion", "distortion": [distance("hamming", "X")]}
    yield from of_long_limits()
    yield from of_long_transports()
    for many, cases in ((150, 150), (20, 3_000)):
        variables, law = of(many)
        own = [leaf([], [str(3 + (j * k) % 97) for k in range(many)]) for j in range(cases)]
        trees = [[["leaf", k % cases]] for k in range(many)]
        proof = lines("letters", trees, own, promises=["1152921504606846976"])
        yield (
            f"lines of {many} letters in {cases} cases",
            design(
                variables,
                law,
                {"release": ["X"]},
                promises=[leakage("9", "X")],
                objective=hard,
                channel=dense(*[[1] * many] * many),
                proof=proof,
            ),
        )
    for many, deep in ((4, 8_000), (30, 2_000)):
        variables, law = of(many)
        tree = []
        for k in range(deep):
            tree += [["split", *("1/2" if i in (k % many, (k + 1) % many) else "0" for i in range(many))], ["leaf", 0]]
        proof = lines("simplices", [[*tree, ["leaf", 0]]], [leaf(["1"] * many)])
        yield f"{deep} simplices of {many} corners", design(variables, law, channel=dense(*[[1]] * many), proof=proof)
        boxes = []
        for k in range(deep):
            boxes += [["split", k % many, f"{k + 1}/{deep + 2}"], ["leaf", 0]]
        for division, more in (("ranges", {}), ("boxes", {"prices": ["1"] * many})):
            own = [leaf(["1"] * (many if division == "ranges" else 1), [])]
            proof = lines(division, [[*boxes, ["leaf", 0]]], own, promises=["0"], **more)
            yield (
                f"{deep} {division} of {many} letters",
                design(variables, law, channel=dense(*[[1]] * many), proof=proof, promises=[independent("X")]),
            )
    for many, atoms, digits in ((160, 2, 2_000), (40, 3, 1)):
        names = {"S": letters(atoms), "X": letters(many)}
        law = sorted([k % atoms, k, long(digits) if digits > 1 else "1"] for k in range(many))
        trees = [[["split", *(["1/2"] * 2 + ["0"] * (atoms - 2))], *[["leaf", 0]] * 2]] * (
            len(list(itertools.combinations(range(many), atoms)))
        )
        proof = lines("faces", trees, [leaf([], ["1"] * atoms)], promises=["1"], prices=["0"] * many)
        yield (
            f"faces of {atoms} of {many} inputs",
            design(
                names,
                law,
                channel=dense(*[[1]] * many),
                promises=[leakage("9", "S")],
                proof=proof,
                objective={"aim": "information", "about": ["X"], "theta": "1"},
            ),
        )
    for many, slope, digits in ((300, "1/7", 2), (100, share(), 1_000)):
        variables, law = of(many)
        rate = {"aim": "leakage", "about": [], "theta": "0"}
        proof = {"rule": "slope", "weights": [long(digits) for _ in range(many)], "slope": slope}
        costs = [limit("99999999", distance("squared", "X"))]
        rows = dense(*[[1] * many] * many)
        asked = {"release": ["X"]}
        yield (
            f"a slope of {len(slope)} digits",
            design(variables, law, asked, objective=rate, limits=costs, channel=rows, proof=proof),
        )
    variables, law = of(40_000)
    law = [[k, str(1 + k)] for k in range(40_000)]
    stay = {"form": "pram", "stay": ["1/40000"] * 40_000}
    runs = [["1", ["1"]] for _ in range(20_000)]
    tree = [["leaf", "1/2"]]
    variables, law = {"X": letters(20_000)}, law[:20_000]
    stay = {"form": "pram", "stay": ["1/20000"] * 20_000}
    yield (
        "subsets of many runs",
        design(
            variables,
            law,
            {"release": ["X"]},
            promises=[local_dp("1")],
            channel=stay,
            proof={"rule": "subsets", "runs": runs, "tree": tree},
        ),
    )
    variables, law = of(1_000)
    tree = []
    for k in range(15_000):
        tree += [["split", 0, 998 - k % 900], ["leaf", "1/2"]] if k < 900 else [["leaf", "1/3"]]
    for rule in ("subsets", "blocks"):
        whole = [["1000", ["1"]]] if rule == "subsets" else ["1"] * 1_000
        key = {"runs": whole} if rule == "subsets" else {"prices": whole}
        stay = {"form": "pram", "stay": ["1/1000"] * 1_000}
        yield (
            f"{rule} of a deep tree",
            design(
                variables,
                law,
                {"release": ["X"]},
                promises=[local_dp("1"), maximal("9")],
                channel=stay,
                proof={"rule": rule, **key, "tree": tree[:1801]},
            ),
        )
    for many in (8, 10):
        variables, law = of(many)
        stay = {"form": "pram", "stay": [f"1/{many}"] * many}
        tree = [["split", 0, 0, "2"], *[["leaf", *["1"] * many]] * 2]
        deep = []
        for k in range(3_000):
            deep += [["split", k % many, (k // many) % many, f"{(1 << 20) + 1 + k}/1048576"], ["leaf", *["1"] * many]]
        yield (
            f"margins of {many} letters",
            design(
                variables,
                law,
                {"release": ["X"], "preserve_marginals": True},
                promises=[local_dp("1")],
                channel=stay,
                proof={"rule": "invariant", "tree": [*deep, *tree]},
            ),
        )
    names = {f"V{k}": ["0", "1"] for k in range(3)} | {"X": letters(22)}
    law = sorted(
        [chance.randrange(2), chance.randrange(2), chance.randrange(2), k, str(chance.randrange(1, 10**6))]
        for k in range(22)
    )
    for digits in (6, 1_200):
        law = [[*row[:-1], long(digits)] for row in law]
        yield (
            f"corners of {digits} digits",
            design(
                names,
                law,
                channel=dense(*[[1]] * 22),
                promises=[independent(f"V{k}") for k in range(3)],
                proof={"rule": "corners", "prices": ["0"] * 22, "basis": [0, 1, 2, 3]},
            ),
        )
    variables, law = of(300)
    stay = {"form": "pram", "stay": ["1/300"] * 300}
    bases = [[["1", f"1/{k + 2}"] for k in range(300)]] * 60
    tree = [["leaf", *range(60)]]
    yield (
        "marginals of many bases",
        design(
            variables,
            law,
            {"release": ["X"], "form": "pram"},
            promises=[local_dp("1")],
            channel=stay,
            proof={"rule": "marginals", "bases": bases, "trees": [tree] * 9},
        ),
    )


def of_records():
    """Tables of many records."""
    for many, secret in ((9_000, 2), (3_000, 40)):
        names = {"S": letters(secret), "A": letters(100), "B": letters(100)}
        places = sorted({(chance.randrange(100), chance.randrange(100)) for _ in range(many)})
        law = sorted([chance.randrange(secret), a, b, str(chance.randrange(1, 9))] for a, b in places)
        rows = [[[k], ["1"]] for k in range(len(places))]
        asked = {"observe": ["A", "B"], "release": ["A", "B"]}
        for kind in ("hamming", "absolute"):
            aim = {"aim": "distortion", "distortion": [distance(kind, "A"), distance(kind, "B")]}
            own = [str(k % 7) for k in range(len(places))]
            transports = [[0, 1, "1/9", own[: sum(row[0] == 1 for row in law)]]]
            base = {
                "promises": [independent("S"), leakage("9", "S")],
                "objective": aim,
                "channel": {"form": "records", "rows": rows},
            }
            shown = f"of {many} records in {secret} classes, {kind}"
            yield (
                f"transports {shown}",
                design(
                    names,
                    law,
                    asked,
                    **base | {"promises": [leakage("9", "S"), independent("S")]},
                    proof={"rule": "transports", "promise": 1, "transports": transports},
                ),
            )
            lent = [[] if secret > 2 else [["1"] * secret] * len(places), []]
            base["promises"] = [leakage("99", "S"), leakage("9", "A")]
            yield (
                f"multipliers {shown}",
                design(
                    names,
                    law,
                    asked,
                    **base,
                    proof={
                        "rule": "records",
                        "promises": ["1" if secret == 2 else "0", "0"],
                        "limits": [],
                        "records": lent,
                        "law": [],
                    },
                ),
            )
