"""The problem file as text: every section with the comment that a person needs to check it."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dalenius.core.source import Dialect
from dalenius.starting.grouping import Groups
from dalenius.starting.wishes import DENSE, EACH, RECORDS, Wish
from dalenius.tables.suggesting import key_of, names_of, text_of

__all__ = ["column_lines", "disclosure_text", "groups_line", "preserves", "problem_text"]

HEAD = "# What is released, what stays secret and what is promised. Written by `dalenius init`; check the groups."


def problem_text(
    wish: Wish,
    form: str,
    because: str,
    released: Sequence[Groups],
    secrets: Sequence[Groups],
    kept: Sequence[Groups],
    *,
    path: str,
    dialect: Dialect | None = None,
    max_rows: int = 1,
) -> str:
    """The problem file of a draft.

    Parameters
    ----------
    wish : Wish
        What was asked for.
    form, because : str
        The form of the mechanism, and why.
    released, secrets, kept : sequence of Groups
        The columns with their groups.
    path : str
        The table as the file should name it.
    dialect : Dialect, optional
        How a text file is written, where somebody said so.
    max_rows : int
        Rows of one person at most.

    Returns
    -------
    str
        Valid TOML that ends with a line feed.
    """
    lines = _source(wish, path, dialect, max_rows)
    for title, columns in (("secret", secrets), ("released", released), ("released as it is", kept)):
        for groups in columns:
            lines += ["", *column_lines(groups, title)]
    lines += ["", *_mechanism(wish, form, because, released, secrets)]
    lines += ["", *_objective(form, [g.look.name for g in released])]
    for guarantee in wish.guarantees():
        lines += ["", "[[guarantee]]", *guarantee]
    if preserves(wish, form) and form == DENSE:
        lines += ["", "# [[limit]]                       # instead of preserve_marginals: less change, and"]
        lines.append('# keep_rows = "3/4"               # each value keeps three quarters of its rows, on average')
    if form != EACH and 0 < wish.keep_rows < 1:
        lines += ["", "[[limit]]                         # every value keeps this share of its rows, on average"]
        lines.append(f"keep_rows = {text_of(str(wish.keep_rows))}")
    return "\n".join(lines) + "\n"


def _source(wish: Wish, path: str, dialect: Dialect | None, max_rows: int = 1) -> list[str]:
    """The head of the file, and which table it is about."""
    lines = [HEAD, "", "[source]", f"table = {text_of(path)}"]
    for key in ("title", "owner"):
        lines += [f"{key} = {text_of(said)}"] if (said := getattr(wish, key)) else []
    for key, said in (dialect or Dialect()).to_json().items():
        lines.append(f"{key} = {names_of(said) if isinstance(said, list) else text_of(said)}")
    if wish.person:
        lines.append(f"unit = {text_of(wish.person)}                # the promise is about all rows of one person")
        lines += [f"max_rows = {max_rows}"] if max_rows > 1 else []
    else:
        lines.append('unit = "row"                      # the promise is about one row')
    return [*lines, f"min_cell = {wish.min_rows}".ljust(34) + "# a combination with fewer rows is small"]


def column_lines(groups: Groups, title: str) -> list[str]:
    """The section of one column.

    Parameters
    ----------
    groups : Groups
        Of the column.
    title : str
        What happens to it, for the comment.

    Returns
    -------
    list of str
    """
    lines = [f"[columns.{key_of(groups.look.name)}]".ljust(34) + f"# {title}"]
    if groups.look.dates:
        lines.append(f'dates = "{groups.look.dates}"'.ljust(34) + "# what the dates are cut by")
    if groups.cuts:
        lines += [f"cuts = [{', '.join(groups.cuts)}]", f"labels = {names_of(groups.labels)}"]
    elif groups.untouched:
        lines.append(f"values = {names_of(groups.labels)}")
    else:
        lines.append(groups_line(dict(zip(groups.labels, groups.members, strict=True))))
    if groups.look.gaps:
        lines.append('missing = "category"              # a gap is a value of its own')
    return lines


def groups_line(members: Mapping[str, Sequence[str]]) -> str:
    """The line that says which values belong together.

    >>> groups_line({"a or b": ["a", "b"], "c": ["c"]})
    'groups = { "a or b" = ["a", "b"], "c" = ["c"] }'
    """
    return f"groups = {{ {', '.join(f'{text_of(label)} = {names_of(values)}' for label, values in members.items())} }}"


def _mechanism(wish: Wish, form: str, because: str, released: Sequence[Groups], secrets: Sequence[Groups]) -> list[str]:
    names = [g.look.name for g in released]
    observed = names + ([secret.look.name for secret in secrets] if form == RECORDS else [])
    lines = ["[mechanism]", f"# {because}", f"observe = {names_of(observed)}", f"release = {names_of(names)}"]
    if wish.keep:
        lines.append(f"keep = {names_of(wish.keep)}")
    if form == RECORDS:
        lines.append('form = "records"                  # every released row is a row of the table')
    if form == EACH:
        lines += [
            'form = "randomised-response"',
            "each = true                       # a recipe for each column by itself",
        ]
    if preserves(wish, form):
        lines.append("preserve_marginals = true         # every combination keeps its number of rows, on average")
    return lines


def preserves(wish: Wish, form: str) -> bool:
    """Whether every combination keeps its rows on average."""
    return wish.keep_rows == Fraction(1) and form != EACH


def _objective(form: str, names: Sequence[str]) -> list[str]:
    if form == EACH:
        return [
            "[objective]                       # each column says as much as it may",
            f"maximize = {{ information_of_each = {names_of(list(names))} }}",
        ]
    parts = [f'    {{ distortion = "hamming", of = {names_of([name])} }},' for name in names]
    return [
        "[objective]                       # change as few entries as possible",
        "minimize = { sum = [",
        *parts,
        "] }",
    ]


def disclosure_text(
    wish: Wish,
    columns: Sequence[Groups],
    observe: Sequence[str],
    useful: Sequence[str],
    *,
    path: str,
    dialect: Dialect | None = None,
) -> str:
    """The problem file of the other job: one new column that says the most about a useful one, and little secret.

    Parameters
    ----------
    wish : Wish
        What is protected and promised; what it releases is the new column.
    columns : sequence of Groups
        Every column that is used, with its groups.
    observe : sequence of str
        Columns that decide the new one.
    useful : sequence of str
        Columns that the new one should say as much as possible about.
    path : str
        The table as the file should name it.
    dialect : Dialect, optional
        How a text file is written, where somebody said so.

    Returns
    -------
    str
        Valid TOML that ends with a line feed.
    """
    lines = _source(wish, path, dialect)
    for groups in columns:
        lines += ["", *column_lines(groups, "secret" if groups.look.name in wish.secrets else "looked at")]
    (name,) = wish.release
    lines += ["", "[mechanism]", f"observe = {names_of(observe)}"]
    lines.append(f"output = {text_of(name)}".ljust(34) + "# a new column; nothing else is released")
    lines += ["", "[objective]", f"maximize = {{ information = {names_of(useful)} }}"]
    for guarantee in wish.guarantees():
        lines += ["", "[[guarantee]]", *guarantee]
    return "\n".join(lines) + "\n"
