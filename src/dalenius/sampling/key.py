r"""The secret of a release, and the subkeys that grow from it.

Whoever knows the key can redo every draw and so undo the mechanism: it is as confidential as the table
itself. It is never printed, pickled, copied or written anywhere but into a file that only its owner reads.

    derive(p_1, ..., p_n) = HKDF-SHA256(secret, info = tag_1 |p_1| p_1 ... tag_n |p_n| p_n)

The tag (bytes or text) and the 8-byte length before every part make `info` decodable in one way only, so
different parts never share a subkey: ("ab", "c") is not ("a", "bc").

References: RFC 5869 (HKDF).
>>> key = Key.unsafe(7)
>>> key
Key(…)
>>> key.derive("ab", "c") == key.derive("a", "bc")
False
"""

import hashlib
import hmac
import os
import re
import stat
from pathlib import Path
from secrets import token_bytes
from typing import NoReturn, Self

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from dalenius.errors import InputError

__all__ = ["Key"]

_BYTES = 32
_SALT = b"dalenius release key, version 1"
_FILE = re.compile(rb"([0-9a-fA-F]{64})\r?\n?")


class Key:
    """32 secret bytes; equality takes the same time wherever two keys differ, and there is no hash to print.

    Parameters
    ----------
    secret : bytes
        32 of them.

    Examples
    --------
    >>> Key.fresh() == Key.fresh()
    False
    """

    __slots__ = ("__secret",)
    __secret: bytes

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != _BYTES:
            raise InputError(f"a key is {_BYTES} bytes of type bytes")
        object.__setattr__(self, "_Key__secret", secret)

    @classmethod
    def fresh(cls) -> Self:
        """A key from the random source of the operating system."""
        return cls(token_bytes(_BYTES))

    @classmethod
    def unsafe(cls, seed: int) -> Self:
        """FOR TESTS ONLY: everybody can compute this key, so a release made with it hides NOTHING.

        Parameters
        ----------
        seed : int
            Any whole number.

        Returns
        -------
        Self

        >>> Key.unsafe(7) == Key.unsafe(7)
        True
        """
        return cls(hashlib.sha256(f"dalenius unsafe key {int(seed)}".encode()).digest())

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """The key in a file of 64 hexadecimal digits that only its owner may read.

        Parameters
        ----------
        path : str | os.PathLike[str]
            Of the file.

        Returns
        -------
        Self
        """
        try:
            with Path(path).open("rb") as file:
                # Mode and content of the same open file: it cannot be exchanged between the two looks.
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                text = file.read(2 * _BYTES + 3)
        except OSError as error:
            raise InputError(
                f"cannot read the key file {path}: {error.strerror}", do="Check the name and your rights to the file."
            ) from error
        if os.name == "posix" and mode & 0o077:
            raise InputError(f"key file {path} is open to others (mode {mode:04o}); run `chmod 600 {path}`")
        digits = _FILE.fullmatch(text)
        if digits is None:
            raise InputError(
                f"key file {path} does not hold {2 * _BYTES} hexadecimal digits and nothing else",
                do="Give the file that --new-key wrote, unchanged.",
            )
        return cls(bytes.fromhex(digits[1].decode("ascii")))

    @classmethod
    def write_new(cls, path: str | os.PathLike[str]) -> Self:
        """A fresh key, written to a new file of mode 0600; an existing file is never overwritten.

        Parameters
        ----------
        path : str | os.PathLike[str]
            Of the file that is made.

        Returns
        -------
        Self
        """
        secret = token_bytes(_BYTES)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secret.hex().encode("ascii") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError as error:
            raise InputError(
                f"key file {path} exists and is not overwritten", do="Choose another name for the new key."
            ) from error
        except OSError as error:
            raise InputError(
                f"cannot write the key file {path}: {error.strerror}", do="Choose a folder that you may write to."
            ) from error
        return cls(secret)

    def derive(self, *parts: bytes | str) -> bytes:
        """The 32-byte subkey that belongs to these parts, in this order.

        >>> len(Key.unsafe(7).derive("column", b"digest"))
        32
        """
        info = b"".join(_encoded(part) for part in parts)
        return HKDF(algorithm=SHA256(), length=_BYTES, salt=_SALT, info=info).derive(self.__secret)

    def fingerprint(self) -> str:
        """Names the key for a ledger: a subkey that nothing is drawn with, so it tells nothing about the others.

        >>> Key.unsafe(7).fingerprint() == Key.unsafe(7).fingerprint() != Key.unsafe(8).fingerprint()
        True
        """
        return self.derive("fingerprint").hex()

    def __repr__(self) -> str:
        return "Key(…)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return NotImplemented
        return hmac.compare_digest(self.__secret, other.__secret)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a key is frozen")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a key is frozen")

    def __reduce__(self) -> NoReturn:
        raise InputError("a key is neither pickled nor copied; pass the path of its file")


def _encoded(part: bytes | str) -> bytes:
    if isinstance(part, str):
        # surrogatepass: file names that are not UTF-8 stay distinct too.
        tag = b"t"
        content = part.encode("utf-8", "surrogatepass")
    elif isinstance(part, bytes):
        tag = b"b"
        content = part
    else:
        raise InputError(f"a subkey derives from bytes and text, not from {type(part).__name__}")
    return tag + len(content).to_bytes(8, "big") + content
