"""One folder for each mechanism: how it is asked for, designed, proved, drawn, examined and put into words.

A folder has, as far as its mechanism needs them,

    takes.py       what it takes, as declarations; `registry` lists them in the order in which they are asked
    design.py      from a problem to a proved design; where a folder has several mechanisms, a module for each of them
    proof.py       what the search found, as the terms of a rule of the kernel
    form.py        what is done with its channels where they are no plain matrices (`forms` lists them)
    draw.py        exact draws from such a channel
    evidence.py    what a release shows: tests of the draws, audits
    charge.py      what a ledger charges
    words.py       sentences

Beside the folders stands what all of them share:

    solving, registry, declared    who takes a problem; `leaving_out` says what would help where nobody does
    proving, proof_terms           from a channel and its proof to a `Design`
    best_so_far, without_search    designs for whoever runs out of time
    applying, drawing              draws for tables; `one_value` for a single value, `side_by_side` beside the original
    row_evidence                   what a release by a channel in rows shows
    auditing, charging, estimable  what a channel tells, what it is charged, what can be estimated from it
    charging_together              what several channels on one law are charged
    column_bounds, value_names     promises that a column keeps exactly, and which value a released letter is called
    persons, levels                several rows of a person, and what each level of a promise costs
"""

from dalenius.mechanisms.declared import GAP, SECONDS, Condition, Mechanism, Promised
from dalenius.mechanisms.records.takes import by_records
from dalenius.mechanisms.registry import mechanisms, register, takers
from dalenius.mechanisms.solving import refuse_untaken, solve

__all__ = [
    "GAP",
    "SECONDS",
    "Condition",
    "Mechanism",
    "Promised",
    "by_records",
    "mechanisms",
    "refuse_untaken",
    "register",
    "solve",
    "takers",
]
