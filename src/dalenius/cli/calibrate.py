"""`dalenius calibrate`"""

from argparse import Namespace
from fractions import Fraction

from dalenius.cli.terminal import say
from dalenius.core.numbers import exact
from dalenius.designs.calibration import calibrate
from dalenius.report import calibrated
from dalenius.tables.query_file import read_query


def run(arguments: Namespace) -> None:
    budget = exact(arguments.at_most_bits, "--at-most-bits")
    query = read_query(arguments.query, parameter=Fraction(1, 2))
    found = calibrate(query, budget, resolution=arguments.resolution, rivals=arguments.compare)
    say(arguments, calibrated(found), found.to_json())
