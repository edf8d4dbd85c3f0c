"""Bytes become numbered lines, whatever is in them; everything odd is counted."""

import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.logs.lines import LONGEST_KEPT, Reading, numbered_lines


def lines(tmp_path: Path, content: bytes, name: str = "x.log") -> tuple[list[tuple[int, str]], Reading]:
    path = tmp_path / name
    path.write_bytes(content)
    reading = Reading()
    return list(numbered_lines(path, reading)), reading


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    found, reading = lines(tmp_path, "a\x0bb\x0c\u2028\u0085c\r\nd\n".encode())
    assert found == [(1, "a\x0bb\x0c\u2028\u0085c"), (2, "d")]
    assert (reading.lines, reading.last_line_incomplete) == (2, False)


def test_nul_runs_and_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    found, reading = lines(tmp_path, b"\0" * 300_000 + b"one\n" + b"t\xff\xfew\n" + b"cut \xe4\xb8")
    assert [t for _, t in found] == ["one", "t��w", "cut �"]
    assert (reading.nul_bytes, reading.invalid_bytes, reading.last_line_incomplete) == (300_000, 4, True)


def test_a_nul_run_longer_than_a_slice(tmp_path: Path) -> None:
    found, reading = lines(tmp_path, b"\0" * (3 << 20) + b"one\ntwo\n")
    assert [t for _, t in found] == ["one", "two"]
    assert reading.nul_bytes == 3 << 20


def test_long_lines_are_cut_and_counted(tmp_path: Path) -> None:
    found, reading = lines(tmp_path, b"x" * (2 << 20) + b"\nnext\n")
    assert [(n, len(t)) for n, t in found] == [(1, LONGEST_KEPT), (2, 4)]
    assert reading.long_lines == 1


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_content_reads_the_same(tmp_path: Path, pack: object) -> None:
    plain = b"".join(b"line %d\n" % n for n in range(50_000))
    assert callable(pack)
    found, reading = lines(tmp_path, pack(plain), "x.log.z")
    assert len(found) == 50_000
    assert (reading.bytes, reading.stopped) == (len(plain), "")


def test_several_zstd_frames(tmp_path: Path) -> None:
    packer = zstandard.ZstdCompressor()
    assert [t for _, t in lines(tmp_path, packer.compress(b"a\n") + packer.compress(b"b\n"))[0]] == ["a", "b"]


def test_a_cut_archive_gives_what_it_has_and_says_so(tmp_path: Path) -> None:
    import random

    noise = random.Random(1).randbytes(200_000).hex().encode()
    packed = gzip.compress(b"\n".join(noise[i : i + 80] for i in range(0, len(noise), 80)))
    found, reading = lines(tmp_path, packed[: len(packed) // 2], "x.gz")
    assert len(found) > 100
    assert "EOFError" in reading.stopped


def test_a_byte_order_mark_is_not_text(tmp_path: Path) -> None:
    assert lines(tmp_path, b"\xef\xbb\xbfa\n")[0] == [(1, "a")]


@given(st.binary(max_size=2_000))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    if content[:2] == b"\x1f\x8b" or content[:4] == b"\x28\xb5\x2f\xfd":
        return
    found, reading = lines(tmp_path_factory.mktemp("any"), content)
    pieces = content.split(b"\n")
    wanted = len(pieces) - (pieces[-1] == b"")
    assert len(found) == reading.lines == wanted
    assert reading.bytes == len(content)
