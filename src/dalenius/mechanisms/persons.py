"""From the design of one row to that of a person with several: levels of local_dp add up over rows drawn one by one."""

from dataclasses import replace

from dalenius.core import Design, LocalDP, Problem, TableSource
from dalenius.core.digits import figure
from dalenius.mechanisms.proving import proved

__all__ = ["of_persons"]


def of_persons(single: Design, problem: Problem) -> Design:
    """The same mechanism with the promises of the problem, about a person with all of its rows.

    Parameters
    ----------
    single
        The design for `problem.of_one_row`.
    problem
        The problem with the promises about a person.

    Returns
    -------
    Design
        Proved again for the person: figures are times the rows.
    """
    levels = [promise for promise in problem.guarantees if isinstance(promise, LocalDP) and promise.rows > 1]
    if not levels:
        return single
    asked = replace(single.problem, source=problem.source, each=problem.each, guarantees=problem.guarantees)
    who = problem.source.unit if isinstance(problem.source, TableSource) else "person"
    sentences = [
        f"the rows of one {who} are drawn one by one: each keeps to level {figure(level.of_one_row.epsilon, 'up', 6)}, "
        f"and up to {level.rows} of them together to level {figure(level.epsilon, 'up', 6)}; other figures are those "
        "of one row"
        for level in levels
    ]
    remarks = (*single.remarks, *sentences)
    proof = single.certificate
    return proved(
        asked,
        single.channel,
        [proof],
        method=single.method,
        remarks=remarks,
        decoder=single.decoder,
        proofs=single.proofs,
    )
