"""`dalenius completion`: a script for the shell."""

from argparse import Namespace

from dalenius.cli.grammar import parser
from dalenius.cli.helping import completion


def run(arguments: Namespace) -> None:
    """Print the script."""
    print(completion(parser(), arguments.shell), end="")
