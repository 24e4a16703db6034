"""What can go wrong, as one tree; only these cross the border of the package.

DaleniusError                      exit code of the command line
├── InputError (ValueError)        2   bad input, existing output
│   ├── InvalidPmf                     "probabilities sum to 13/12, not 1"
│   ├── InvalidChannel                 "row ('a', '0') sums to 9/10, not 1"
│   ├── ProblemFileError               "problem.toml, line 7: unknown key 'maximise_' in [objective]"
│   ├── TableError                     "t.csv, row 124, column 'sex': 'x' is not in its alphabet"
│   └── MismatchError                  "no variable 'age'; there are 'W', 'X1', 'X2'"
├── Unsupported                    2   a combination that no family solves, with the reason
├── Infeasible                     3   no mechanism can keep the promise; says by how much
├── NotCertified                   4   a proof fails, or the evidence contradicts it
├── SolverFailed                   5   no certified answer; carries the solver's own words
└── LedgerRefused                  6   the budget of the ledger would be exceeded
"""

__all__ = [
    "DaleniusError",
    "Infeasible",
    "InputError",
    "InvalidChannel",
    "InvalidPmf",
    "LedgerRefused",
    "MismatchError",
    "NotCertified",
    "ProblemFileError",
    "SolverFailed",
    "TableError",
    "Unsupported",
]


class DaleniusError(Exception):
    """Root of everything this package raises on purpose."""

    exit_code = 1


class InputError(DaleniusError, ValueError):
    """Bad input: says what is wrong, where, and what to do."""

    exit_code = 2


class InvalidPmf(InputError):
    """A joint pmf with a negative entry, a wrong sum or an outcome outside its alphabets."""


class InvalidChannel(InputError):
    """A channel that is not row-stochastic or does not fit its alphabets."""


class ProblemFileError(InputError):
    """A problem file that breaks the grammar; the message names the key and the line."""


class TableError(InputError):
    """A table that cannot be read, or a value outside its declared alphabet."""


class MismatchError(InputError):
    """Names or alphabets that do not fit together."""


class Unsupported(DaleniusError):
    """A well-formed combination that no mechanism family solves."""

    exit_code = 2


class Infeasible(DaleniusError):
    """No mechanism meets the promise; the message carries the nearest feasible figure."""

    exit_code = 3


class NotCertified(DaleniusError):
    """A claim that its proof does not support."""

    exit_code = 4


class SolverFailed(DaleniusError):
    """The search ended without a certified answer."""

    exit_code = 5


class LedgerRefused(DaleniusError):
    """The release would exceed the budget of the ledger."""

    exit_code = 6
