"""Bytes made small with what every Python has: a node may lack the libraries that this package likes to use."""

import zlib

from codex_skyrl.remote.columns import Broken

_LEVEL = 9


def pack(data: bytes) -> bytes:
    return zlib.compress(data, _LEVEL)


def unpack(data: bytes, most: int) -> bytes:
    """What `pack` was given, when it is no longer than `most` bytes. Raises Broken."""
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, most)
    except zlib.error as error:
        raise Broken(f"it cannot be unpacked: {error}") from error
    if not unpacker.eof:
        raise Broken("it is cut, or larger than anything of ours")
    return found
