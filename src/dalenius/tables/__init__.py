"""Tables in, tables out: the only room that opens files of records. Everything else sees letters, codes and counts."""

from typing import TYPE_CHECKING

from dalenius import rooms

if TYPE_CHECKING:
    from dalenius.core.source import is_address
    from dalenius.tables.binding import base_of, bind, opened_table, stated_law, table_of, with_files
    from dalenius.tables.coding import encode
    from dalenius.tables.counting import Coded
    from dalenius.tables.database import refuse_existing_table, write_files_to_database, write_to_database
    from dalenius.tables.documents import (
        conditionally_iid,
        read_channel,
        read_design,
        read_json,
        read_letters,
        read_pmf,
        read_text,
        read_told,
        sound,
    )
    from dalenius.tables.opening import open_table
    from dalenius.tables.persons import per_person
    from dalenius.tables.source import Progress, Table
    from dalenius.tables.weighing import weights_of
    from dalenius.tables.writing import released_name, write_table

__all__ = [
    "Coded",
    "Progress",
    "Table",
    "base_of",
    "bind",
    "conditionally_iid",
    "encode",
    "is_address",
    "open_table",
    "opened_table",
    "per_person",
    "read_channel",
    "read_design",
    "read_json",
    "read_letters",
    "read_pmf",
    "read_text",
    "read_told",
    "refuse_existing_table",
    "released_name",
    "sound",
    "stated_law",
    "table_of",
    "weights_of",
    "with_files",
    "write_files_to_database",
    "write_table",
    "write_to_database",
]

if not TYPE_CHECKING:
    __getattr__ = rooms.opened_when_asked(__name__)
