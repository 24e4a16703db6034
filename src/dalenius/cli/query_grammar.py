"""The options of the commands about questions and single numbers: `calibrate`, `gaussian` and `answer`."""

from dalenius.cli.argument_types import positive, whole
from dalenius.cli.init_grammar import dialect_options
from dalenius.cli.options import LIMIT, Command, releases

__all__ = ["query_commands"]

QUESTION = """

query.toml, for a count of the people who are 65 or older:
  query = "count"               # or sum, mean, histogram, quantile
  where = "age >= 65"           # which rows count; column = "age" says what is added up
  noise = "discrete-laplace"    # or discrete-gaussian
  parameter = 10                # its scale, or its variance: more is safer and less exact"""
"""A file with a question, as help shows it below the example of a command."""


def query_commands(command: Command) -> None:
    """Questions: the least noise, answers, and what they reveal."""
    c = command(
        "calibrate",
        "find the least noise under which an answer reveals at most so many bits to anybody",
        "dalenius calibrate query.toml --at-most-bits 0.1 --records 500 --against independent" + QUESTION,
    )
    c.add_argument("query", help="query.toml; its parameter may be left out")
    c.add_argument("--at-most-bits", metavar="BITS", required=True, help="what anybody may learn about any one record")
    c.add_argument(
        "--against",
        default="any",
        metavar="WHOM",
        help="any: whatever they believe; independent: records are independent to them; unknown:BITS: they lack so "
        "many bits about all records together (default: any)",
    )
    c.add_argument("--records", type=whole, metavar="N", help="records of the table, where the query file does not say")
    c.add_argument(
        "--resolution", type=positive, default=1e-9, help="how finely the noise is set (default: a billionth)"
    )
    c.add_argument("--compare", action="store_true", help="compare with Laplace and Gaussian noise")
    c.add_argument("--seconds", **LIMIT)

    c = command(
        "gaussian",
        "see what a noisy Gaussian number reveals about a secret, at a given error, in closed form",
        "dalenius gaussian --correlation 0.7 --error 0.1 --beside 0.9",
    )
    c.add_argument("--correlation", type=float, metavar="R", help="of the number with the secret")
    c.add_argument("--error", type=positive, required=True, metavar="D", help="squared error that is allowed")
    c.add_argument("--variance", type=positive, default=1.0, metavar="V", help="of the number (default: 1)")
    c.add_argument("--beside", type=float, metavar="R", help="correlation with a further number that users have")
    c.add_argument("--vector", metavar="FILE", help="several numbers: JSON with covariance, private and residual")

    c = command(
        "answer",
        "answer a question about a table with exact noise, and prove what the answer reveals",
        "dalenius answer query.toml patients.csv --ledger people.ledger --new-key answer.key -o answer.json" + QUESTION,
    )
    c.add_argument("query", help="query.toml with column or where, and noise that is drawn exactly")
    c.add_argument("table", help="the table: csv, parquet or arrow, also compressed")
    c.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the proof; beside it the answer for machines and a statement to sign",
    )
    c.add_argument("--force", action="store_true", help="replace what exists already")
    dialect_options(c)
    releases(c)
