"""The key: hidden, frozen, refused from files that others can read, and never the same subkey twice."""

import copy
import os
import pickle
import secrets
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from hypothesis import given
from hypothesis import strategies as st

from dalenius.errors import InputError
from dalenius.sampling.key import Key

PARTS = st.lists(st.one_of(st.text("ab\u00e9\u20ac\x00\U0001f511", max_size=4), st.binary(max_size=4)), max_size=4)
posix = pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")


def test_key_never_shows_its_secret() -> None:
    secret = bytes(range(65, 97))
    key = Key(secret)
    for shown in (repr(key), str(key), f"{key}", f"{key!r}", repr([key]), repr({"k": key})):
        assert "Key(…)" in shown
        assert secret.hex() not in shown
        assert secret.decode() not in shown


def test_key_is_frozen_unhashable_and_neither_pickled_nor_copied() -> None:
    key = Key.unsafe(1)
    with pytest.raises(AttributeError, match="frozen"):
        key.other = 1
    with pytest.raises(AttributeError, match="frozen"):
        del key.derive
    with pytest.raises(TypeError, match="unhashable"):
        hash(key)
    for carry in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(InputError, match="neither pickled nor copied"):
            carry(key)


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(33), "0" * 32, bytearray(32), None])
def test_key_refuses_anything_but_32_bytes(secret: object) -> None:
    with pytest.raises(InputError, match="32 bytes"):
        Key(secret)  # type: ignore[arg-type]


def test_fresh_keys_differ_and_unsafe_keys_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    # Not those that follow from the name of this test.
    monkeypatch.setattr("dalenius.sampling.key.token_bytes", secrets.token_bytes)
    assert Key.fresh() != Key.fresh()
    assert Key.unsafe(7) == Key.unsafe(7)
    assert Key.unsafe(7) != Key.unsafe(8)
    assert Key.unsafe(7) != "Key(…)"


def test_written_key_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "release.key"
    assert Key.write_new(path) == Key.from_file(path)
    assert len(path.read_bytes()) == 65


@posix
def test_written_file_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Key.write_new(tmp_path / "release.key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "release.key").stat().st_mode) == 0o600


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "release.key"
    path.write_text("mine")
    with pytest.raises(InputError, match="exists and is not overwritten"):
        Key.write_new(path)
    assert path.read_text() == "mine"
    with pytest.raises(InputError, match="cannot write the key file"):
        Key.write_new(tmp_path / "absent" / "release.key")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("digits", ["0123456789abcdef" * 4, "0123456789ABCDEF" * 4])
def test_64_digits_and_an_optional_newline_are_a_key(tmp_path: Path, digits: str, end: str) -> None:
    path = tmp_path / "release.key"
    path.write_bytes((digits + end).encode())
    path.chmod(0o600)
    assert Key.from_file(path) == Key(bytes.fromhex(digits))


@pytest.mark.parametrize(
    "text",
    ["", "ab" * 31, "ab" * 33, "zz" * 32, "ab" * 32 + "\n\n", " " + "ab" * 32, "ab" * 32 + " ", "a b" * 21 + "a"],
)
def test_malformed_file_is_refused_without_quoting_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "release.key"
    path.write_bytes(text.encode())
    path.chmod(0o600)
    with pytest.raises(InputError, match="does not hold 64 hexadecimal digits") as refusal:
        Key.from_file(path)
    assert not text.strip() or text not in str(refusal.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the key file"):
        Key.from_file(tmp_path / "absent.key")
    with pytest.raises(InputError, match="cannot read the key file"):
        Key.from_file(tmp_path)


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o620])
def test_file_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "release.key"
    Key.write_new(path)
    path.chmod(mode)
    with pytest.raises(InputError, match=f"mode {mode:04o}.*chmod 600"):
        Key.from_file(path)


def test_derive_matches_rfc_5869_by_hand() -> None:
    def hmac(key: bytes, text: bytes) -> bytes:
        code = HMAC(key, SHA256())
        code.update(text)
        return code.finalize()

    secret = bytes(range(32))
    info = b"t" + (3).to_bytes(8, "big") + "né".encode() + b"b" + (2).to_bytes(8, "big") + b"\x00\xff"
    extracted = hmac(b"dalenius release key, version 1", secret)
    assert Key(secret).derive("né", b"\x00\xff") == hmac(extracted, info + b"\x01")


def test_shifted_and_retyped_parts_have_their_own_subkeys() -> None:
    key = Key.unsafe(7)
    parts: list[tuple[bytes | str, ...]] = [
        (), ("",), ("", ""), (b"",), ("ab", "c"), ("a", "bc"), ("abc",), (b"abc",), ("c", "ab"), ("a", "b", "c"),
    ]  # fmt: skip
    assert len({key.derive(*part) for part in parts}) == len(parts)
    assert key.derive("a") != Key.unsafe(8).derive("a")


@given(PARTS, PARTS)
def test_subkeys_are_equal_exactly_when_the_parts_are(one: list[str | bytes], two: list[str | bytes]) -> None:
    key = Key.unsafe(7)
    assert (key.derive(*one) == key.derive(*two)) == (one == two)


def test_derive_refuses_other_types_and_accepts_odd_file_names() -> None:
    with pytest.raises(InputError, match="not from int"):
        Key.unsafe(7).derive(3)  # type: ignore[arg-type]
    assert Key.unsafe(7).derive("\udcff") != Key.unsafe(7).derive("\udcfe")
