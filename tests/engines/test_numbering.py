"""Where Spark finds a table, before Spark is asked."""

import pytest

from dalenius.engines.spark.numbering import opened
from dalenius.errors import TableError


def test_an_address_with_a_password_is_refused_and_not_shown() -> None:
    with pytest.raises(TableError, match="must not hold a password") as caught:
        opened(None, "s3a://me:secret@bucket/t")
    assert "secret" not in str(caught.value)
