"""Text as DuckDB reads it: UTF-8 with one kind of line end. Other text is rewritten in a temporary folder."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.database import compression
from oddhop.tables.read.refused import refuse_signature

PIECE = 1 << 20
LONGEST_NAME = 60  # of a copy, in characters; file systems allow 255 bytes
WESTERN = "cp1252"
# Letters of UTF-8, which no text in Windows-1252 has: a file with other bytes as well is of two encodings.
LETTERS = re.compile(rb"[\xc3-\xc5][\x80-\xbf]|\xe2[\x80-\x82][\x80-\xbf]")


def plain_text(file: Path, folder: Path, label: str) -> tuple[Path, bool]:
    """Return a file that DuckDB can read, or a copy that it can, and whether its encoding is a guess."""
    named = f"{label}, file {file},"
    start = next(_pieces(file), b"")
    refuse_signature(start, named)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        file = _rewritten(file, folder, "utf-16")
    utf8, mixed_ends = _examined(file, named)
    if utf8 and not mixed_ends:
        return file, False
    return _rewritten(file, folder, "utf-8" if utf8 else WESTERN), not utf8


def copy_in(folder: Path, name: str) -> Path:
    """Return where a copy of a file goes: names may be alike, or longer than one can be."""
    return folder / f"{sum(1 for _ in folder.iterdir()):06d}-{name[-LONGEST_NAME:]}"


def unzipped(file: Path, folder: Path, label: str) -> Path:
    """Unpack a zip file of one table; what macOS adds is left out."""
    named, remedy = f"{label}, the zip file {file},", "unpack it and name a CSV or Parquet file of it"
    try:
        with zipfile.ZipFile(file) as archive:
            members = [one for one in archive.infolist() if not one.is_dir() and not _hidden(one.filename)]
            if len(members) != 1:
                names = ", ".join(repr(one.filename) for one in members[:3])
                raise TableError(f"{named} must hold one file, got {len(members)}: {names or 'none'}", remedy)
            size, free = members[0].file_size, shutil.disk_usage(folder).free
            if 2 * size > free:
                raise TableError(
                    f"{named} unpacks to {size:,} bytes, more than half of the {free:,} that are free",
                    "name a temp_folder with room",
                    command="name a folder with room: --set read.temp_folder",
                )
            copy = copy_in(folder, members[0].filename.rpartition("/")[2])
            # It gives no more than that size, whatever it holds.
            with archive.open(members[0]) as packed, copy.open("xb") as out:
                shutil.copyfileobj(packed, out, PIECE)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise TableError(f"{named} cannot be unpacked: {error}", remedy) from None
    _stamp(copy, file)
    return copy


def _hidden(member: str) -> bool:
    return member.startswith("__MACOSX/") or member.rpartition("/")[2].startswith(".")


def _pieces(file: Path) -> Iterator[bytes]:
    """Return a file piece by piece, unpacked; none ends within a line end of two bytes."""
    with pa.input_stream(str(file), compression=compression(str(file))) as stream:
        while piece := stream.read(PIECE):
            yield piece + stream.read(1) if piece.endswith(b"\r") else piece


def _examined(file: Path, named: str) -> tuple[bool, bool]:
    """Return whether a file is UTF-8, and whether some of its lines end in LF and others in CRLF."""
    decoder, utf8, letters, inside = codecs.getincrementaldecoder("utf-8")(), True, False, False
    ends: set[bytes] = set()
    for piece in chain(_pieces(file), (b"",)):
        if b"\0" in piece:
            raise TableError(f"{named} holds NUL bytes, which no text has", "save it as text in UTF-8")
        try:
            decoder.decode(piece if utf8 else b"", final=not piece)
        except UnicodeDecodeError:
            utf8 = False
        letters = letters or (not piece.isascii() and LETTERS.search(piece) is not None)
        parts = piece.split(b'"')
        outside = b'"'.join(parts[inside::2])
        inside ^= len(parts) % 2 == 0
        pairs = outside.count(b"\r\n") if b"\r" in outside else 0
        ends |= {b"\r\n"} if pairs else set()
        ends |= {b"\n"} if (outside.count(b"\n") > pairs if pairs else b"\n" in outside) else set()
    if letters and not utf8:
        raise TableError(f"{named} is UTF-8 in some places and not in others", "save it as UTF-8")
    return utf8, len(ends) > 1


def _rewritten(file: Path, folder: Path, encoding: str) -> Path:
    """Write a file as UTF-8 with lines that end in LF; what stands in quotes keeps its own."""
    copy = copy_in(folder, file.name if compression(str(file)) is None else file.stem)
    decoder, inside = codecs.getincrementaldecoder(encoding)(), False
    with copy.open("xb") as out:
        for piece in chain(_pieces(file), (b"",)):
            parts = decoder.decode(piece, final=not piece).encode().split(b'"')
            parts[inside::2] = [part.replace(b"\r\n", b"\n") for part in parts[inside::2]]
            inside ^= len(parts) % 2 == 0
            out.write(b'"'.join(parts))
    _stamp(copy, file)
    return copy


def _stamp(copy: Path, file: Path) -> None:
    """Give a copy the time of its file, by which an unfinished run knows it again."""
    found = file.stat()
    os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
