"""From the design of one row to that of a person with several: levels of local_dp add up over rows drawn one by one."""

from dataclasses import replace

from dalenius.core import Design, LocalDP, Problem, TableSource
from dalenius.core.digits import figure
from dalenius.core.rows import times_rows

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
        With figures times the rows of a person, as the checker proves them.
    """
    levels = [g for g in problem.guarantees if isinstance(g, LocalDP) and g.rows > 1]
    if not levels:
        return single
    asked = replace(single.problem, source=problem.source, each=problem.each, guarantees=problem.guarantees)
    proved = tuple(
        times_rows(figures, g.rows) if isinstance(g, LocalDP) else figures
        for figures, g in zip(single.proved, problem.guarantees, strict=True)
    )
    who = problem.source.unit if isinstance(problem.source, TableSource) else "person"
    told = [
        f"the rows of one {who} are drawn one by one: each keeps to level {figure(g.of_one_row.epsilon, 'up', 6)}, and "
        f"up to {g.rows} of them together to level {figure(g.epsilon, 'up', 6)}; other figures are those of one row"
        for g in levels
    ]
    return replace(single, problem=asked, proved=proved, remarks=(*single.remarks, *told))
