"""From a table and a few wishes to a problem file that can be released as it is.

The command `init`, the studio and `dalenius.protect` all start here, so that the same wishes always give the same file.
"""

from dalenius.starting.choosing import few_columns
from dalenius.starting.columns import Look, as_written, look_at, roles
from dalenius.starting.drafting import Draft, disclosure, draft, suggested_groups
from dalenius.starting.grouping import Groups
from dalenius.starting.spoken import PYTHON, Spoken
from dalenius.starting.wishes import DENSE, FLAGS, PARTS, PROMISES, RECORDS, Wish, flags_of, level_of
from dalenius.starting.writing import column_lines

__all__ = [
    "DENSE",
    "FLAGS",
    "PARTS",
    "PROMISES",
    "PYTHON",
    "RECORDS",
    "Draft",
    "Groups",
    "Look",
    "Spoken",
    "Wish",
    "as_written",
    "column_lines",
    "disclosure",
    "draft",
    "few_columns",
    "flags_of",
    "level_of",
    "look_at",
    "roles",
    "suggested_groups",
]
