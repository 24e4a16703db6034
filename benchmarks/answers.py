"""Answers to questions about the RAND table: how often their intervals hold the truth, and what a ledger charges.

For counts, sums and histograms under coarse and fine noise the share of draws whose 95 % interval holds the true number
(with 1,000 draws the standard error of a share is 0.7 %); then one question a thousand times with one key, which is
charged once; then a question that the budget does not allow, by the command.

    python benchmarks/answers.py [--draws 1000]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
from reporting import save

from dalenius.answering import answer
from dalenius.core.condition import condition
from dalenius.core.query import Interval
from dalenius.core.question import Question
from dalenius.core.source import Column
from dalenius.ledger import Ledger
from dalenius.mechanisms.queries.draw import answered
from dalenius.mechanisms.queries.evaluation import evaluate
from dalenius.mechanisms.queries.proof import proved_answer_text
from dalenius.sampling import Key

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from rand import rand_health

MOST_VISITS = 20
NOISES = [
    ("discrete-laplace", Fraction(1)),
    ("discrete-laplace", Fraction(10)),
    ("discrete-gaussian", Fraction(4)),
    ("discrete-gaussian", Fraction(400)),
    ("geometric", Fraction(7, 10)),
]
HEALTH = {"health": Column(values=("excellent", "good", "fair or poor"))}


def questions() -> list[Question]:
    """A count, a sum and a histogram under each noise; a sum has noise in proportion to its largest number."""
    found = []
    for noise, parameter in NOISES:
        where = "health == 'fair or poor'"
        found.append(Question("count", (), noise, parameter, where=condition(where), where_text=where))
        found.append(Question("histogram", ("health",), noise, parameter, declared=HEALTH))
        if noise != "geometric":
            wider = MOST_VISITS ** (2 if noise == "discrete-gaussian" else 1)
            ends = Interval(Fraction(0), Fraction(MOST_VISITS))
            found.append(Question("sum", ("visits",), noise, parameter * wider, between=ends, grid=Fraction(5)))
    return found


def covered(question: Question, table: pa.Table, draws: int) -> dict[str, Any]:
    """One line of the table: the lowest and the highest share of draws over the numbers of an answer."""
    seen = evaluate(question, table)
    proved = proved_answer_text(question, seen.records)
    held: Counter[int] = Counter()
    start = time.process_time()
    for k in range(draws):
        for j, number in enumerate(answered(question, seen, proved, Key.unsafe(k)).numbers):
            held[j] += number.low <= seen.numbers[j] <= number.high  # type: ignore[operator]
    shares = [held[j] / draws for j in range(len(seen.numbers))]
    return {
        "question": question.kind,
        "noise": question.noise,
        "parameter": str(question.parameter),
        "draws": draws,
        "lowest": min(shares),
        "highest": max(shares),
        "seconds": round(time.process_time() - start, 2),
    }


def repeated(table: pa.Table, times: int, place: Path) -> dict[str, Any]:
    """One question again and again with one key."""
    ledger = Ledger.create(place / "people.ledger", ["differential_privacy=3/2"])
    question = replace(questions()[0], parameter=Fraction(1))
    start = time.process_time()
    drawn = {answer(question, table, key=Key.unsafe(1), ledger=ledger).answer.drawn for _ in range(times)}
    status = ledger.status()
    return {
        "asked": times,
        "different answers": len(drawn),
        "releases": len(status["releases"]),
        "spent": status["spent"]["differential_privacy"],
        "seconds": round(time.process_time() - start, 1),
    }


def refused(table: pa.Table, place: Path) -> dict[str, Any]:
    """The exit code of the command when the same ledger has too little left, and whether it made a key."""
    pyarrow.csv.write_csv(table, place / "rand.csv")
    query = 'query = "count"\nwhere = "visits > 2"\nnoise = "discrete-laplace"\nparameter = 1\n'
    (place / "query.toml").write_text(query)
    ledger, key = place / "people.ledger", place / "new.key"
    command = ["-m", "dalenius", "answer", place / "query.toml", place / "rand.csv", "--ledger", ledger]
    done = subprocess.run([sys.executable, *command, "--new-key", key], capture_output=True, text=True, check=False)
    after = len(Ledger(ledger).status()["releases"])
    return {"exit": done.returncode, "key made": key.exists(), "releases": after, "said": done.stderr.strip()}


def main() -> None:
    reader = argparse.ArgumentParser(description="How often do intervals of answers hold the truth?")
    reader.add_argument("--draws", type=int, default=1000)
    asked = reader.parse_args()
    table = rand_health()
    rows = []
    for question in questions():
        rows.append(covered(question, table, asked.draws))
        print(" ".join(f"{key} {value};" for key, value in rows[-1].items()))
    with tempfile.TemporaryDirectory() as made:
        for found in (repeated(table, asked.draws, Path(made)), refused(table, Path(made))):
            rows.append(found)
            print(" ".join(f"{key} {value};" for key, value in found.items()))
    save("answers", "How often do 95 % intervals of answers hold the truth?", rows)


if __name__ == "__main__":
    main()
