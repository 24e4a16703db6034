"""What can be said about a release, as it stands on the page."""

from dalenius.starting import Spoken

__all__ = ["PAGE"]

PAGE = Spoken(
    promises={"reveal": "at most {} bits", "deny": "“Every person can deny” with {}"},
    deny="“Every person can deny”",
    apart="“Every person can deny”, columns that are released as they are, or a column that names persons",
    columns="Choose other columns to release.",
    changed="Choose “release” for {} instead of “release as it is”",
    not_kept="Choose another role for {} than “release as it is”",
    no_person="Choose “(none)” as the column that names persons",
    no_form="choose no form",
    grouped="Release fewer columns.",
    by_hand="by hand",
    by_group="by hand",
    ranges="groups by hand release it in ranges all the same",
    together="groups by hand say which belong together",
)
"""Buttons and fields of the studio."""
