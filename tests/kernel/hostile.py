"""Texts of up to a megabyte that want to keep the checker busy: {name: text}. It must answer each of them soon.

python -m tests.kernel.hostile [WORD]          prints how long each takes, of those whose name has the word
"""

import itertools
import json
import sys
import time

from dalenius.kernel import Refused, check
from dalenius.kernel.document import allowed_work
from tests.kernel.directed import leaf, lines
from tests.kernel.documents import (
    claims_of,
    contraction,
    dalenius,
    dense,
    design,
    distance,
    guess,
    independent,
    law_of,
    leakage,
    limit,
    local_dp,
    maximal,
    sibson,
    text_of,
    variation,
    worst_case,
)
from tests.kernel.golden import CORPUS
from tests.kernel.hostile_counts import of_counts
from tests.kernel.hostile_numbers import MOST, alone, chance, letters, long, matrix, of, share
from tests.kernel.hostile_rules import of_records, of_rules


def of_long_groups():
    """Independent columns with counts of many digits."""
    about = {"aim": "information", "about": ["C0"], "theta": "1"}
    for many, digits in ((240, 1_950), (1_000, 450)):
        names = {f"C{k}": ["a", "b"] for k in range(many)}
        counts = [[[0, long(digits)], [1, long(digits)]] for _ in names]
        parts = [
            {"law": "known", "variables": [name], "outcomes": own} for name, own in zip(names, counts, strict=True)
        ]
        law = {"law": "independent", "groups": parts}
        yield f"{many} groups of long counts", design(names, law=law, mechanism={"observe": ["C0"]}, objective=about)


def of_columns():
    """Many columns, many names."""
    many = 15_000
    names = {f"C{k}": ["a", "b"] for k in range(many)}
    first = {"aim": "information", "about": ["C0"], "theta": "1"}
    only = [[0] * many + ["1"]]
    read = {"observe": list(names)}
    yield "more inputs than can be written", design(names, only, read, objective=first)
    few = dict(itertools.islice(names.items(), 9_000))
    few_read = {"observe": list(few), "release": list(few)}
    for form in ({"form": "pram", "stay": ["1"]}, {"form": "staircase", "ratio": "2", "classes": [], "columns": []}):
        yield f"a {form['form']} of them", design(few, [[0] * 9_000 + ["1"]], few_read, objective=first, channel=form)
    single = {f"C{k}": ["a"] for k in range(6_000)} | {"C0": ["a", "b"]}
    two = [[k] + [0] * 5_999 + ["1"] for k in range(2)]
    yield (
        "groups of thousands of columns",
        design(single, two, {"observe": list(single)}, objective=first, promises=[dalenius("1")]),
    )
    third = {f"C{k}": ["a", "b"] for k in range(9_000)}
    law = [[0] * 9_000 + ["1"], [1] * 9_000 + ["1"]]
    told = [{"information": ["C0"], "at_least_bits": "0"} for _ in range(12_000)]
    yield (
        "thousands of limits of thousands of columns",
        design(third, law, {"observe": ["C0"]}, limits=told, objective=first),
    )
    costs = [limit("9", distance("hamming", "C0")) for _ in range(5_000)]
    yield (
        "thousands of distances of thousands of columns",
        design(third, law, {"observe": ["C0"], "release": ["C0"]}, limits=costs, objective=first),
    )
    promises = [independent(f"C{k}") for k in range(1_000)]
    yield (
        "a thousand promises of thousands of columns",
        design(third, law, {"observe": ["C0"]}, promises=promises, objective=first),
    )
    given = [{"figure": "leakage_bits", "given": f"C{k}", "value": None} for k in range(9_000)]
    few = dict(itertools.islice(third.items(), 6_000))
    yield (
        "thousands of figures given a column",
        design(
            few,
            [row[:6_000] + row[-1:] for row in law],
            {"observe": ["C0"]},
            promises=[leakage("1", "C0")],
            objective=first,
            claims=claims_of(promises=[given[:6_000]]),
        ),
    )
    chain = {f"C{k}": ["a", "b"] for k in range(20_000)}
    steps = {"law": "markov", "start": ["1", "1"], "steps": [[long(), "1"], ["1", long()]]}
    steps["steps"][1][1] = steps["steps"][0][0]
    yield from of_long_groups()
    yield "a long chain of long numbers", design(chain, law=steps, mechanism={"observe": ["C0"]}, objective=first)
    windows = [{"reads": [k], "channel": dense([2, 1], [1, 2])} for k in range(4_000)]
    small = {f"C{k}": ["a", "b"] for k in range(4_000)}
    groups = {"law": "independent", "groups": [law_of([name], [[0, "1"], [1, "2"]]) for name in small]}
    form = {"form": "windows", "windows": windows}
    for promise in (independent("C0"), local_dp("9999"), leakage("1", "C1")):
        yield (
            f"thousands of windows, {promise['promise']}",
            design(
                small,
                law=groups,
                mechanism={"observe": list(small)},
                channel=form,
                promises=[promise],
                objective={"aim": "information", "about": list(small), "theta": "1"},
                proof={"rule": "groups"},
            ),
        )


def of_numbers():
    """Long numbers where they are added up."""
    variables, outcomes = of(120, "1")
    pay = [[share() for _ in range(120)]]
    yield (
        "a gain of long fractions",
        design(variables, outcomes, promises=[guess("1", "X", gain=pay)], channel=matrix(120, 3)),
    )
    variables, outcomes = of(3)
    parts = [distance("hamming", "X", weight=share()) for _ in range(240)]
    yield (
        "distances of long weights",
        design(variables, outcomes, {"release": ["X"]}, limits=[limit(long(), *parts)], channel=matrix(3, 3)),
    )
    variables, outcomes = of(110)
    split = ["split", *(share() for _ in range(110))]
    proof = lines("simplices", [[split]], [leaf(["0"] * 110)])
    yield "a point of long weights", design(variables, outcomes, channel=matrix(110, 2), proof=proof)
    variables, outcomes = of(2)
    cut = {"promise": 0, "first": 0, "second": 1, "at": "1/2", "weight": "1", "slopes": [share() for _ in range(230)]}
    for name, promise in (("contraction", contraction("1")), ("delta", local_dp("1", delta="1"))):
        own = [leaf([], []) for _ in range(230)]
        tree = [[["leaf", 0]] for _ in range(2)]
        proof = lines("letters", tree, own, promises=["0"], cuts=[cut])
        yield (
            f"long slopes of cuts, {name}",
            design(
                variables,
                outcomes,
                {"release": ["X"]},
                promises=[promise],
                proof=proof,
                channel=matrix(2, 2),
                objective={"aim": "distortion", "distortion": [distance("hamming", "X")]},
            ),
        )
    many = [design(*of(2), promises=[leakage(share(), "X") for _ in range(240)])]
    yield "promises of long limits", many[0]
    huge = distance("matrix", "X", weight=long(), matrix=[["0", long()], [long(), "0"]])
    yield (
        "a distance of eight thousand digits",
        design(*of(2), {"release": ["X"]}, limits=[limit("1", huge)], channel=dense([2, 1], [1, 2])),
    )
    metric = [["0" if x == z else long() for z in range(15)] for x in range(15)]
    metric = [[metric[min(x, z)][max(x, z)] for z in range(15)] for x in range(15)]
    yield "long distances", alone(local_dp("1", metric=metric), 15, 15)


def of_matrices():
    """Every promise about a large matrix."""
    for name, promise in (
        ("leakage", leakage("1", "X")),
        ("worst case", worst_case("1", "X")),
        ("local dp", local_dp("9")),
        ("delta", local_dp("1", delta="1/2")),
        ("dalenius", dalenius("9")),
        ("contraction", contraction("1")),
        ("guess", guess("1", "X")),
        ("gain", guess("1", "X", gain=[["1", *["0"] * 299]] * 100)),
        ("maximal", maximal("9")),
        ("maximal about", maximal("9", "X")),
        ("variation", variation("1", "X")),
        ("sibson", sibson("32/31", "9", "X")),
        ("sibson of two", sibson("2", "9", "X")),
        ("total variation", leakage("9", "X", ball="total_variation", radius="1/10")),
        ("divergence", leakage("9", "X", ball="kl_bits", radius="1/10")),
    ):
        more = {"evidence": [{"nu": "0", "m": "0", "t": "1"}]} if name in ("total variation", "divergence") else {}
        for many, wide, digits in ((300, 300, 1), (300, 20, 100), (40, 40, 500), (12_000, 4, 1), (20, 3_000, 4)):
            if name == "gain" and many != 300:
                continue
            yield f"{name} of {many} by {wide} of {digits} digits", alone(promise, many, wide, digits, **more)
    metric = [["0" if x == z else "1" for z in range(250)] for x in range(250)]
    yield "distances of all pairs", alone(local_dp("9", metric=metric), 250, 100)
    variables, outcomes = of(100)
    rows = matrix(100, 100)
    tree = [{"node": "choice", "value": k % 100, "rows": [k % 100]} for k in range(5_000)]
    tree += [{"node": "centre", "law": ["1"] * 100} for _ in range(2_000)]
    yield "trees of choices", design(variables, outcomes, promises=[dalenius("9")], channel=rows, evidence=[[tree]])
    for kind in ("total_variation", "confidence"):
        law = law_of(["X"], [[k, str(3 + k)] for k in range(12_000)], "table")
        variables = {"X": letters(12_000)}
        yield (
            f"a ball of many cells, {kind}",
            design(
                variables,
                law=law,
                promises=[leakage("99", "X", ball=kind, radius="1/10")],
                channel=matrix(12_000, 3),
                evidence=[{"nu": "1/3", "m": "1/7", "t": "1"}],
            ),
        )


def of_forms():
    """Forms that write fewer numbers."""
    variables, outcomes = of(25_000)
    released = {"release": ["X"]}
    for name, stay in (("alike", ["1/2"] * 25_000), ("different", [f"1/{k + 2}" for k in range(25_000)])):
        for promise in (local_dp("99"), leakage("99", "X"), maximal("99"), local_dp("1", delta="1")):
            form = {"form": "pram", "stay": stay}
            yield (
                f"pram of {name} letters, {promise['promise']} {promise.get('delta')}",
                design(variables, outcomes, released, promises=[promise], channel=form),
            )
    for many in (20, 22):
        names = {f"C{k}": ["a", "b"] for k in range(many)}
        about = {"aim": "information", "about": list(names), "theta": "1"}
        two = [[k] * many + ["1"] for k in range(2)]
        rows = [["3", "1"], ["2", "2"], ["1", "3"]]
        form = {"form": "listed", "letters": 2, "scale": "4", "places": [0, 5], "rows": rows}
        for promise in (local_dp("2"), leakage("9", "C0"), maximal("9"), contraction("1"), dalenius("9")):
            yield (
                f"listed of 2^{many} inputs, {promise['promise']}",
                design(names, two, {"observe": list(names)}, promises=[promise], channel=form, objective=about),
            )
    for many in (2_000, 3_000):
        variables, outcomes = of(many)
        form = {
            "form": "staircase",
            "ratio": "2",
            "classes": list(range(many)),
            "columns": [[f"1/{many + 60}", [k + i for i in range(60) if k + i < many]] for k in range(many)],
        }
        yield f"a staircase of {many} letters", design(variables, outcomes, promises=[local_dp("9")], channel=form)
    rows = [["2", [[k % 2, "2"]]] for k in range(60_001)]
    law = {
        "law": "alike",
        "variables": ["W", "X", "Z"],
        "samples": 60_000,
        "prior": ["1", "1"],
        "kernel": [["1", "2"], ["2", "1"]],
    }
    names = {"W": ["0", "1"], "X": ["0", "1"], "Z": ["0", "1"]}
    form = {"form": "types", "samples": 60_000, "letters": 2, "rows": rows}
    about = {"aim": "information", "about": ["W"], "theta": "1"}
    yield "types of many samples", design(names, law=law, promises=[independent("X")], channel=form, objective=about)
    law = law | {"samples": 3_000}
    form = form | {"samples": 3_000, "rows": rows[:3_001]}
    yield (
        "types of thousands of samples",
        design(names, law=law, promises=[independent("X")], channel=form, objective=about),
    )
    law = law | {"samples": 200_000, "kernel": [["1"], ["1"]]}
    names = {"W": ["0", "1"], "X": ["0"], "Z": ["0"]}
    form = form | {"samples": 200_000, "rows": rows[:1]}
    yield "samples of one letter", design(names, law=law, promises=[independent("X")], channel=form, objective=about)
    bits = {f"C{k}": ["0", "1"] for k in range(13)}
    words = [["1/8192", list(word)] for word in itertools.product(range(2), repeat=13)]
    law = [[*word, "1"] for _, word in words]
    form = {"form": "orbits", "columns": [["1", words]]}
    yield (
        "orbits of many words",
        design(
            bits,
            law,
            {"observe": list(bits)},
            promises=[independent("C0")],
            channel=form,
            objective={"aim": "information", "about": list(bits), "theta": "1"},
        ),
    )
    for modulus, many in ((1_000, 60), (2, 5_700)):
        names = {f"C{k}": ["0", "1"] for k in range(many)}
        groups = {"law": "independent", "groups": [law_of([name], [[0, "1"], [1, "1"]]) for name in names]}
        states = [{"scale": str(modulus), "rows": [["1"] * modulus] * 2} for _ in names]
        form = {"form": "sums", "modulus": modulus, "states": states, "sums": [[k, k + 1] for k in range(many - 1)]}
        yield (
            f"sums modulo {modulus}",
            design(
                names,
                law=groups,
                mechanism={"observe": list(names)},
                channel=form,
                promises=[independent("C0")],
                objective={"aim": "information", "about": list(names), "theta": "1"},
                proof={"rule": "groups"},
            ),
        )
    strata = {"X": ["0", "1"], "K": letters(12_000)}
    law = [[0, k, "1"] for k in range(12_000)] + [[1, k, "1"] for k in range(12_000)]
    form = {"form": "strata", "channels": [{"form": "pram", "stay": ["1", "1"]}] * 12_000}
    yield (
        "thousands of strata",
        design(
            strata,
            law,
            {"strata": ["K"], "release": ["X"]},
            channel=form,
            promises=[local_dp("1", "K")],
            proof={"rule": "parts", "proofs": [{"rule": "closed"}] * 12_000},
        ),
    )
    law = [[x, k, str(1 + (7 * k + x) % 97)] for x in (0, 1) for k in range(12_000)]
    form = {"form": "strata", "channels": [{"form": "pram", "stay": [f"{51 + k % 48}/100"] * 2} for k in range(12_000)]}
    yield (
        "variances of thousands of strata",
        design(
            strata,
            law,
            {"strata": ["K"], "release": ["X"]},
            channel=form,
            objective={"aim": "variance", "about": ["X"]},
            proof={"rule": "parts", "proofs": []},
        ),
    )
    for level in ("1/2000", share()):
        variables, outcomes = of(40_000, "3")
        outcomes = [[k, str(3 + k)] for k in range(40_000)]
        form = {"form": "filled", "level": level}
        yield (
            f"filled to a level of {len(level)} digits",
            design(
                variables,
                outcomes,
                {"release": ["X"]},
                promises=[leakage("99", "X")],
                channel=form,
                objective={"aim": "distortion", "distortion": [distance("hamming", "X")]},
                proof={"rule": "water", "level": level, "slope": "2"},
            ),
        )


def of_noise():
    """Axes with many values."""
    honest = json.loads((CORPUS / "alike" / "honest_noise_norm_3_2.json").read_text())
    axis = honest["channel"]["axes"][0]
    for reach in (20_000, 90_000):
        found = json.loads(json.dumps(honest))
        wide = found["channel"]["axes"][0]
        wide["weights"] = ["1"] * (reach + 1)
        wide["low"], wide["high"] = str(int(axis["low"]) - reach), str(int(axis["high"]) + reach)
        found["channel"]["first"] = [wide["low"]]
        found["channel"]["letters"] = [int(wide["high"]) - int(wide["low"]) + 1]
        found["channel"]["shift"] = [str(-int(wide["low"]))]
        yield f"noise that reaches {reach}", found
    found = json.loads(json.dumps(honest))
    wide = found["channel"]["axes"][0]
    wide["weights"] = [long(3_000) for _ in range(60)]
    wide["prior"] = [[place, long(3_000)] for place, _ in wide["prior"]]
    yield "noise of long weights", found
    found = json.loads(json.dumps(honest))
    found["limits"][0]["distortion"] *= 10_000
    yield "a distance of many parts", found
    for name in ("capacity_1", "capacity_2", "dice_leakage", "dice_gaussian"):
        found = json.loads((CORPUS / "alike" / f"honest_noise_{name}.json").read_text())
        for part in found["proof"]["least"]:
            part["slope"] = share()
            part["weights"] = ["1"] * 90_000
        if found["proof"]["line"] is not None:
            found["proof"]["line"]["slope"] = share()
        if found["objective"].get("reach"):
            found["objective"]["reach"] = [80_000]
        yield f"a steep bound of noise, {name}", found


def of_answers():
    """Sums with noise."""

    def answer(**more):
        found = {
            "format": "dalenius-answer/1",
            "work": "0",
            "records": "100",
            "letters": ["a", "b"],
            "moves": [["0"], ["1"]],
            "every": "1",
        }
        found |= {"noise": {"noise": "gaussian", "variance": "4"}, "error": {"steps": "9" * 30, "level": "0.9"}}
        return found | {"promises": [{"promise": "dalenius", "at_most_bits": "999999", "group": 1}]} | more

    private = {"promise": "differential_privacy", "epsilon": "1", "delta": "1", "group": 1}
    apart = {"promise": "independent_records", "at_most_bits": "9999999", "group": 1, "weights": None}
    for size in (long(), "9" * 300):
        yield (
            f"gaussian noise of {len(size)} digits",
            answer(noise={"noise": "gaussian", "variance": size}, error={"steps": "1", "level": "1/9"}),
        )
        yield (
            f"gaussian noise of {len(size)} digits that reaches far",
            answer(noise={"noise": "gaussian", "variance": size}, error={"steps": long(), "level": "1/9"}),
        )
        yield (
            f"laplace noise of {len(size)} digits",
            answer(noise={"noise": "laplace", "scale": size}, error={"steps": long(), "level": "1/9"}),
        )
    for many, numbers in ((64, 1_500), (3_000, 60)):
        moves = [[str(chance.randrange(1000)) for _ in range(numbers)] for _ in range(many)]
        for noise in ({"noise": "gaussian", "variance": "9999"}, {"noise": "laplace", "scale": "99"}):
            for promise in (private, apart):
                yield (
                    f"{numbers} numbers of {many} letters, {noise['noise']}, {promise['promise']}",
                    answer(letters=letters(many), moves=moves, noise=noise, promises=[promise]),
                )

    parameter = f"59{long(1_900)}/1{long(1_900)}"
    wide = [["0"] * 60, [str(100 * k) for k in range(60)]]
    for noise in ({"noise": "laplace", "scale": parameter}, {"noise": "gaussian", "variance": f"599{parameter}"}):
        for promises in ([private | {"epsilon": "1/9"}], [apart], answer()["promises"] * 2_000):
            name = f"{noise['noise']} noise of a long fraction, {len(promises)} times {promises[0]['promise']}"
            yield name, answer(moves=wide, noise=noise, promises=promises)
    heavy = [apart | {"weights": [long(), long()]}]
    yield "weights of many digits", answer(noise={"noise": "gaussian", "variance": "600000"}, promises=heavy)
    table = {"noise": {"noise": "table", "values": [], "scale": "1", "rows": [], "centre": []}, "error": None}
    moves = [[str(chance.randrange(10)) for _ in range(900)] for _ in range(256)]
    yield "a table of sums of many numbers", answer(records="2", letters=letters(256), moves=moves, **table)
    moves = [[str(k % 2)] for k in range(55_000)]
    yield "a table of sums of many letters", answer(records="250", letters=letters(55_000), moves=moves, **table)


def of_balls():
    """Evidence for balls of laws, with long numbers in many parts."""
    for name in ("ball_by_received_of_two_values", "ball_by_received_of_three_values"):
        found = json.loads((CORPUS / "later" / f"{name}.json").read_text())
        received = found["evidence"][0]["received"]
        received["weights"] = [long() for _ in received["weights"]]
        for k, tree in enumerate(received["trees"]):
            part = next(part for part in tree if "slopes" in part)
            cuts = [{"cell": 0, "at": str((i + 1) << 16)} for i in range(500)]
            received["trees"][k] = [*(item for cut in cuts for item in (cut, part)), part]
        yield f"long weights of many parts, {name}", found
    ball = leakage("5", "S", ball="confidence", radius="9/10")
    part = {"nu": "1/20", "m": "0", "t": "0"}
    cuts = [[k % 40, f"0.02{chance.randrange(2, 5)}{long(3_800)}"] for k in range(240)]
    evidence = {"cuts": [item for cut in cuts for item in (cut, None)] + [None], "parts": [part] * 241}
    outcomes = [[s, x, str(50 + 7 * s + x)] for s in range(2) for x in range(20)]
    variables = {"S": letters(2), "X": letters(20)}
    own = {"observe": ["X"], "release": [], "fresh": ["a", "b"]}
    found = design(variables, outcomes, own, promises=[ball], channel=matrix(20, 2), evidence=[evidence])
    found["law"]["law"] = "table"
    yield "long cuts of a confidence", found


def hostile():
    """{name: text}; every text declares as much work as it may."""
    found = {}
    parts = (
        of_columns,
        of_numbers,
        of_matrices,
        of_forms,
        of_noise,
        of_rules,
        of_records,
        of_answers,
        of_balls,
        of_counts,
    )
    for part in parts:
        for name, document in part():
            document["work"] = str(allowed_work("x" * min(MOST, len(text_of(document)))))
            if document["format"] == "dalenius-answer/1":
                document["work"] = "20000000"
            found[name] = text_of(document)
    return found


def answered(text):
    """Seconds of the processor until the checker answers, and what it says; anything but a refusal goes through."""
    start = time.process_time()
    try:
        verdict = check(text)
    except Refused as refusal:
        return time.process_time() - start, str(refusal)
    return time.process_time() - start, f"proved with {verdict.work:,} operations"


if __name__ == "__main__":
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, text in hostile().items():
        if word in name:
            try:
                seconds, said = answered(text)
            except Exception as error:
                seconds, said = -1, f"RAISED {error!r}"
            print(f"{seconds:6.2f} s {len(text):9,}  {name}: {said[:110]}", flush=True)
