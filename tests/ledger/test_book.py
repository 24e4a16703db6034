"""The life of an entry, what is refused, and files that are not what they should be."""

import os
import sqlite3
import stat
from dataclasses import replace

import pytest

from dalenius import Ledger
from dalenius.documents import filed, unfiled
from dalenius.errors import InputError, LedgerRefused, NotCertified
from dalenius.ledger import book, store
from dalenius.ledger.words import words
from tests.ledger.documents import card, coin, document, fair, flip

ONE = 1.09862  # a little above ln 3, the level of BSC(1/4)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.ledger"


@pytest.fixture
def ledger(path):
    return Ledger.create(path, [f"local_dp={2 * ONE}"], people="the people of the test")


def reserve(ledger, draw="key", text=None):
    return ledger.reserve(text or coin(), dataset="t.csv", identity=("design", "table", draw), key_fingerprint=draw)


def states(ledger):
    return [e.state for e in ledger.entries()]


# --- the life of an entry -------------------------------------------------------------------------------------------
def test_a_release_is_charged_drawn_and_settled(ledger):
    entry = reserve(ledger)
    assert (entry.id, entry.state) == (1, "reserved")
    assert float(ledger.status()["spent"]["local_dp"]) == pytest.approx(1.0986122886681098)
    ledger.begin(entry)
    assert states(ledger) == ["drawing"]
    settled = ledger.settle(1, card(coin()))
    assert (settled.state, len(settled.card_digest)) == ("released", 64)
    assert ledger.settle(1).card_digest == settled.card_digest
    assert ledger.status()["open"] == []


def test_the_same_release_is_charged_once_at_every_stage(ledger):
    entry = reserve(ledger)
    assert reserve(ledger).id == entry.id
    ledger.begin(entry)
    ledger.begin(entry)
    assert reserve(ledger).id == entry.id
    ledger.settle(entry.id)
    assert reserve(ledger).id == entry.id
    ledger.begin(entry)
    assert states(ledger) == ["released"]


def test_what_would_exceed_the_budget_is_refused_with_the_figures_and_leaves_no_trace(ledger):
    reserve(ledger, "a")
    reserve(ledger, "b")
    with pytest.raises(LedgerRefused, match=r"local_dp is 2.19724 nats, 2.197225 is spent, .* make it 3.295837"):
        reserve(ledger, "c")
    assert states(ledger) == ["reserved", "reserved"]
    assert reserve(ledger, "b").id == 2  # what is charged already goes on
    noiseless = document(fair("X"), (("X",), flip(0)))
    with pytest.raises(LedgerRefused, match=r"cannot charge local_dp: release \(new\) has no finite level"):
        reserve(ledger, "d", noiseless)


def test_void_frees_the_charge_only_before_the_draw(ledger):
    entry = reserve(ledger)
    assert ledger.void(1).state == "void"
    assert ledger.status()["spent"]["local_dp"] == "0"
    with pytest.raises(LedgerRefused, match="was declared void meanwhile; nothing was drawn"):
        ledger.begin(entry)
    again = reserve(ledger)
    assert again.id == 2  # charged anew
    ledger.begin(again)
    with pytest.raises(LedgerRefused, match="its draw had begun"):
        ledger.void(2)
    ledger.settle(2)
    with pytest.raises(LedgerRefused, match="it was released"):
        ledger.void(2)
    with pytest.raises(InputError, match="release 1 is void"):
        ledger.settle(1)
    with pytest.raises(InputError, match="has no release 7"):
        ledger.void(7)


def test_a_card_of_another_design_settles_nothing(ledger):
    reserve(ledger)
    with pytest.raises(InputError, match="not the card of release 1"):
        ledger.settle(1, card(coin(p="1/3")))
    assert states(ledger) == ["reserved"]


# --- releases from elsewhere ----------------------------------------------------------------------------------------
def test_a_document_is_added_once_unless_it_was_drawn_again(ledger):
    assert ledger.add(coin()).dataset == "t.csv"
    assert ledger.add(coin()).id == 1
    assert ledger.add(card(coin()), dataset="t.csv").id == 1  # the card of the same design
    assert ledger.add(coin(), again=True).id == 2
    with pytest.raises(LedgerRefused):
        ledger.add(coin(), again=True)
    over = ledger.add(coin(), again=True, already_released=True)
    assert over.id == 3
    assert ledger.status()["within_budget"] is False
    assert any("OVER BUDGET" in line for line in words(ledger.status()))


def test_the_card_of_a_release_is_not_charged_beside_it(ledger):
    ledger.settle(reserve(ledger).id)
    assert ledger.add(card(coin()), dataset="t.csv").id == 1
    assert ledger.add(card(coin()), dataset="another table").id == 2


def test_a_card_that_steals_the_digest_of_another_design_is_charged(ledger):
    ledger.add(coin())
    (text, about), (_, stolen) = unfiled(card(coin(p="1/3"))), unfiled(card(coin()))
    assert ledger.add(filed(text, about | {"design": stolen["design"]}), dataset="t.csv").id == 2


def test_what_is_added_is_proved_and_named(ledger):
    with pytest.raises(NotCertified, match="not a distribution of the values"):
        ledger.add(unfiled(coin())[0].replace('"3"', '"4"', 1))
    lying = unfiled(coin())[0].replace('"value":"1.09', '"value":"0.09')
    with pytest.raises(NotCertified, match="the claimed epsilon_nats is not proved"):
        ledger.add(lying)
    with pytest.raises(InputError, match="belongs to another one"):
        ledger.add(filed(lying, unfiled(coin())[1]))
    with pytest.raises(InputError, match="--dataset"):
        ledger.add(card(coin()))
    with pytest.raises(InputError, match="max_rows is at least 1"):
        ledger.add(coin(), max_rows=0)
    assert ledger.entries() == []


def test_rows_of_a_person_come_from_the_file(ledger):
    assert ledger.add(coin(max_rows=2)).max_rows == 2
    assert float(ledger.status()["spent"]["local_dp"]) == pytest.approx(2.1972245773362196)


# --- status and check -----------------------------------------------------------------------------------------------
def test_status_says_what_when_how_much_and_what_is_not_covered(ledger):
    parity = document(fair("X"), (("X",), flip("1/4")), [{"leakage": ["X"], "at_most_bits": "1"}])
    entry = reserve(ledger, text=parity)
    status = ledger.status()
    assert {"spent", "budget", "rule", "left", "releases", "open"} <= set(status)
    assert status["rule"] == "joint"
    text = "\n".join(words(status))
    for part in ("the people of the test", "local_dp  2.19724  1.098613  1.098627", "reserved", "--void", "t.csv"):
        assert part in text
    assert "Promises about X: single releases make them, and no line adds them up" in text
    ledger.begin(entry)
    assert "Its charge cannot be taken back" in "\n".join(words(ledger.status()))


def test_check_proves_again_what_is_stored(ledger, path):
    reserve(ledger)
    assert ledger.check()["proved"] is True
    with sqlite3.connect(path) as c:
        c.execute("DROP TRIGGER forward_only")
        c.execute("UPDATE releases SET document = replace(document, '1.09', '0.09')")
    with pytest.raises(NotCertified, match="the document of release 1 was changed"):
        Ledger(path).check()
    with sqlite3.connect(path) as c:
        text = c.execute("SELECT document FROM releases").fetchone()[0]
        c.execute("UPDATE releases SET document_digest = ?", (book._digest(text),))
    with pytest.raises(NotCertified, match="the proof of release 1 does not hold"):
        Ledger(path).check()


# --- the file -------------------------------------------------------------------------------------------------------
def test_the_file_is_private_and_never_replaced(ledger, path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="exists already; a ledger is never replaced"):
        Ledger.create(path, ["local_dp=1"])
    assert os.listdir(path.parent) == [path.name]
    path.chmod(0o644)
    with pytest.raises(InputError, match=r"open to others \(mode 0644\); run `chmod 600"):
        Ledger(path)


def test_what_is_no_ledger_is_refused_in_one_sentence(tmp_path, ledger, path):
    with pytest.raises(InputError, match=r"there is no ledger .*nothing; make one with"):
        Ledger(tmp_path / "nothing")
    for name, content in {"text": b"hello", "empty": b"", "half": b"SQLite format 3\0" + b"\1" * 200}.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o600)
        with pytest.raises(InputError, match="not a ledger of dalenius"):
            Ledger(tmp_path / name)
    with sqlite3.connect(tmp_path / "foreign") as c:
        c.execute("CREATE TABLE t (x)")
    (tmp_path / "foreign").chmod(0o600)
    with pytest.raises(InputError, match="not a ledger of dalenius"):
        Ledger(tmp_path / "foreign")
    with pytest.raises(InputError, match="not a ledger of dalenius"):
        Ledger(tmp_path)
    with sqlite3.connect(path) as c:
        c.execute("PRAGMA user_version = 2")
    with pytest.raises(InputError, match="a ledger of format 2; this version of dalenius reads 1"):
        Ledger(path)


def test_a_damaged_page_is_refused(ledger, path):
    for k in range(2):
        reserve(ledger, str(k))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        Ledger(path).check()


def test_damage_is_told_in_one_sentence(ledger, path):
    sound = path.read_bytes()
    header = bytearray(sound)
    header[36:40] = (3801088).to_bytes(4, "big")  # pages of the list of free ones
    schema = sound.replace(b"CREATE TABLE", b"CREATE T\xedBLE", 1)  # quoted by the message about it
    lines = sound.replace(b"document_digest", b"`ocument_digest", 1)  # with the lines after it
    for damaged in (bytes(header), schema, lines):
        assert damaged != sound
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="damaged") as caught:
            Ledger(path).check()
        assert "\n" not in str(caught.value)


def test_names_in_another_case_are_the_same_to_sqlite_and_to_us(ledger, path):
    reserve(ledger)
    before = ledger.entries()
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b"key_fingerprint", b"kEy_fingerprint", 1))
    assert path.read_bytes() != sound
    assert Ledger(path).entries() == before


def test_the_database_itself_keeps_what_must_never_break(ledger, path):
    ledger.begin(reserve(ledger))
    with sqlite3.connect(path) as c:
        for statement in (
            "DELETE FROM releases",
            "UPDATE releases SET state = 'void'",
            "UPDATE releases SET identity = 'x'",
            "UPDATE releases SET max_rows = 9",
            "INSERT INTO releases SELECT 2, identity, state, dataset, document, '', rows, 1, '', '', '', '', '', '{}' "
            "FROM releases",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                c.execute(statement)


def test_a_lock_that_is_held_too_long_is_said(path, ledger):
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InputError, match="another process is changing it and did not finish in time"):
        Ledger(path, wait=0.05)
    holder.execute("ROLLBACK")
    waiting = Ledger(path, wait=0.05)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="did not finish in time"):
        reserve(waiting)
    holder.close()
    assert reserve(waiting).id == 1


def test_a_read_only_ledger_can_be_read_and_not_charged(path, ledger, monkeypatch):
    reserve(ledger)
    monkeypatch.setattr(store.os, "access", lambda *_: False)
    assert Ledger(path).status()["open"] == [1]
    with pytest.raises(InputError, match="read-only for you; nothing was changed"):
        reserve(Ledger(path), "another")


def test_rules_and_places_are_checked_when_a_ledger_is_made(tmp_path):
    with pytest.raises(InputError, match="no rule 'magic'; there are joint and prior-free"):
        Ledger.create(tmp_path / "l", ["local_dp=1"], rule="magic")
    with pytest.raises(InputError, match="there is no folder"):
        Ledger.create(tmp_path / "no" / "l", ["local_dp=1"])
    assert not list(tmp_path.iterdir())


def test_an_entry_knows_the_same_data_by_name_and_counts(ledger):
    first = ledger.add(coin())
    skewed = {None: ("X",), ("0",): "9/10", ("1",): "1/10"}
    other = replace(first, document=document(skewed, (("X",), flip("1/4"))))
    assert first.same_data(first)
    assert not first.same_data(other)
    assert not first.same_data(replace(first, dataset="another"))
    assert first.same_data(replace(first, document=card(coin())))


def test_point_07f_fewer_rows_than_a_person_may_have_are_refused(tmp_path):
    ledger = Ledger.create(tmp_path / "l", ["dalenius=9"])
    with pytest.raises(InputError, match="a person has up to 2 rows, and only 1 were drawn for"):
        ledger.add(coin(), dataset="t", rows=1, max_rows=2)
    assert ledger.entries() == []


def test_point_07f_the_line_dalenius_says_that_it_is_about_the_columns_that_were_read(tmp_path):
    ledger = Ledger.create(tmp_path / "l", ["dalenius=9"])
    ledger.add(coin(), dataset="t", rows=100)
    told = "\n".join(words(ledger.status()))
    assert "`dalenius` is about the columns that were read, of any one person." in told
    assert "all that the columns that were read can hold about one person" in told
