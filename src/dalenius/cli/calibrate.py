"""`dalenius calibrate`"""

from argparse import Namespace
from fractions import Fraction

from dalenius.cli.interrupts import within
from dalenius.cli.terminal import say
from dalenius.core.numbers import exact
from dalenius.errors import InputError
from dalenius.mechanisms.queries.asking import calibrated_question, records_of
from dalenius.mechanisms.queries.calibration import calibrate
from dalenius.mechanisms.queries.words import asked_words
from dalenius.report.query import calibrated
from dalenius.tables.query_file import read_query
from dalenius.tables.question_file import asks_a_table, read_question


def run(arguments: Namespace) -> None:
    with within(arguments.seconds, "the search for the least noise"):
        _found(arguments)


def _found(arguments: Namespace) -> None:
    budget = exact(arguments.at_most_bits, "--at-most-bits")
    if asks_a_table(arguments.query):
        question = read_question(arguments.query, parameter=Fraction(1, 2))  # any noise may have it
        seen = calibrated_question(question, records_of(question, arguments.records), budget, arguments.against)
        say(arguments, asked_words(seen), seen.to_json())
        return
    if arguments.records is not None:
        raise InputError(
            "--records is for questions to a table; this query file says its records itself", do="Leave out --records."
        )
    query = read_query(arguments.query, parameter=Fraction(1, 2))
    found = calibrate(
        query, budget, against=arguments.against, resolution=arguments.resolution, rivals=arguments.compare
    )
    say(arguments, calibrated(found), found.to_json())
