"""Awkward files are read with every row, or refused with the file and the way out."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from oddhop import read_network
from oddhop.errors import TableError
from oddhop.tables.read import read_tables
from oddhop.tables.settings import ReadSettings

PLAIN = ReadSettings(flows=False)
IDS = ["Jürgen", "Zoë", "c"]
NODES = pa.table({"id": IDS, "size": [1.0, 5.0, 2.0]})
PAIRS = [("Jürgen", "Zoë"), ("Zoë", "c"), ("c", "Jürgen")]
TEXT = "source,target,note\nJürgen,Zoë,1\nZoë,c,2\nc,Jürgen,3\n"
EURO = TEXT.replace("1\n", "3 €\n")


def zipped(*members: tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return packed.getvalue()


def by(separator: str, text: str = TEXT) -> str:
    return text.replace(",", separator)


def ended(text: str, end: str) -> bytes:
    return text.replace("\n", end).encode()


def zstd(content: bytes) -> bytes:
    return pa.compress(content, "zstd", asbytes=True)


QUOTED = '"source","target","note"\n"Jürgen","Zoë","1"\n"Zoë","c","2"\n"c","Jürgen","3"\n'
BOM = b"\xef\xbb\xbf"

READ: dict[str, tuple[str, bytes]] = {
    "UTF-8": ("e.csv", TEXT.encode()),
    "UTF-8 with a mark": ("e.csv", TEXT.encode("utf-8-sig")),
    "UTF-16, little end first": ("e.csv", b"\xff\xfe" + TEXT.encode("utf-16-le")),
    "UTF-16, big end first": ("e.csv", b"\xfe\xff" + TEXT.encode("utf-16-be")),
    "UTF-16 with tabs and CRLF, as Excel writes Unicode text": (
        "e.txt",
        b"\xff\xfe" + by("\t").replace("\n", "\r\n").encode("utf-16-le"),
    ),
    "Windows-1252": ("e.csv", EURO.encode("cp1252")),
    "Latin-1": ("e.csv", TEXT.encode("latin-1")),
    "Windows-1252 with semicolons and CRLF": ("e.csv", by(";", EURO).replace("\n", "\r\n").encode("cp1252")),
    "Windows-1252, packed": ("e.csv.gz", gzip.compress(EURO.encode("cp1252"))),
    "CRLF": ("e.csv", ended(TEXT, "\r\n")),
    "CR": ("e.csv", ended(TEXT, "\r")),
    "CR without a last one": ("e.csv", ended(TEXT.rstrip("\n"), "\r")),
    "LF and CRLF mixed": ("e.csv", TEXT.replace("\n", "\r\n", 2).encode()),
    "no last line end": ("e.csv", TEXT.rstrip("\n").encode()),
    "semicolons": ("e.csv", by(";").encode()),
    "tabs": ("e.tsv", by("\t").encode()),
    "tabs in a CSV": ("e.csv", by("\t").encode()),
    "pipes": ("e.csv", by("|").encode()),
    "sep=; of Excel": ("e.csv", b"sep=;\r\n" + ended(by(";"), "\r\n")),
    "sep=, after a mark": ("e.csv", BOM + b"sep=,\n" + TEXT.encode()),
    "sep=; in quotes": ("e.csv", b'"sep=;"\n' + by(";").encode()),
    "sep=\\t in UTF-16": ("e.csv", b"\xff\xfe" + ("sep=\t\n" + by("\t")).encode("utf-16-le")),
    "everything in quotes": ("e.csv", QUOTED.encode()),
    "a mark, then quotes": ("e.csv", BOM + QUOTED.encode()),
    "a delimiter in quotes": ("e.csv", TEXT.replace("1\n", '"1,5"\n').encode()),
    "quotes in quotes": ("e.csv", TEXT.replace("1\n", '"say ""hi"""\n').encode()),
    "a line end in quotes": ("e.csv", TEXT.replace("1\n", '"1\n2"\n').encode()),
    "a line end in quotes, Windows-1252": ("e.csv", EURO.replace("2\n", '"1\r\n2"\n').encode("cp1252")),
    "separators at the end of every line": ("e.csv", TEXT.replace("\n", ",\n").encode()),
    "two separators at the end of every line": ("e.csv", by(";").replace("\n", ";;\r\n").encode()),
    "a separator at the end of rows alone": (
        "e.csv",
        TEXT.replace("\n", ",\n").replace("note,", "note").encode(),
    ),
    "blank lines at the end": ("e.csv", (TEXT + "\n\n\n").encode()),
    "blank lines at the end, CRLF": ("e.csv", ended(TEXT + "\n\n", "\r\n")),
    "a blank line within": ("e.csv", TEXT.replace("1\n", "1\n\n").encode()),
    "empty cells": ("e.csv", TEXT.replace("2\n", "\n").encode()),
    "gzip": ("e.csv.gz", gzip.compress(TEXT.encode())),
    "zstd": ("e.csv.zst", zstd(TEXT.encode())),
    "a zip of one table": ("e.zip", zipped(("edges.csv", TEXT.encode()))),
    "a zip that is called CSV, too": ("e.csv.zip", zipped(("out/edges.tsv", by("\t").encode()))),
    "a zip of one table and what macOS adds": (
        "e.zip",
        zipped(("edges.csv", TEXT.encode()), ("__MACOSX/._edges.csv", b"\0\1")),
    ),
    "a zip of Windows-1252": ("e.zip", zipped(("edges.txt", by(";", EURO).encode("cp1252")))),
    "txt with semicolons": ("e.txt", by(";").encode()),
    "txt with tabs": ("e.txt", by("\t").encode()),
    "a suffix in capitals": ("E.CSV", TEXT.encode()),
    "names of columns in capitals and with blanks": (
        "e.csv",
        TEXT.replace("source,target", "SOURCE, Target ").encode(),
    ),
    "German names of columns": ("e.csv", TEXT.replace("source,target", "Auftraggeber,Empfänger").encode("cp1252")),
    "many columns": (
        "e.csv",
        "\n".join(f"{line},{','.join(f'{k}{n}' for k in range(300))}" for n, line in enumerate(TEXT.split())).encode(),
    ),
    "a long cell": ("e.csv", TEXT.replace("3\n", "z" * 1_000_000 + "\n").encode()),
}


@pytest.mark.parametrize("name", list(READ))
def test_an_awkward_file_is_read_whole(tmp_path, name):
    file, content = READ[name]
    (tmp_path / file).write_bytes(content)
    network = read_tables(tmp_path / file, NODES, PLAIN)
    ids = network.ids.to_pylist()
    assert ids == IDS
    assert sorted((ids[s], ids[t]) for s, t in network.edge_index.T) == sorted(PAIRS)
    assert (network.counts.edge_rows, network.counts.unknown_edges, network.counts.null_ends) == (3, 0, 0)
    assert (tmp_path / file).read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == [file]


def a_sheet() -> bytes:
    pytest.importorskip("openpyxl")
    written = io.BytesIO()
    pd.DataFrame({"source": ["a"], "target": ["b"]}).to_excel(written)
    return written.getvalue()


NUL = bytes(1 << 16)
# The file, what it holds, and a word of the way out.
REFUSED: dict[str, tuple[str, bytes, str]] = {
    "Excel": ("e.xlsx", b"PK\3\4", "CSV"),
    "old Excel": ("e.xls", b"\xd0\xcf\x11\xe0", "CSV"),
    "OpenDocument": ("e.ods", b"PK\3\4", "CSV"),
    "Excel that is called CSV": ("e.csv", zipped(("xl/workbook.xml", b"<x/>"), ("[Content_Types].xml", b"")), "CSV"),
    "old Excel that is called CSV": ("e.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + NUL, "CSV"),
    "Parquet that is called CSV": ("e.csv", b"PAR1" + NUL + b"PAR1", "parquet"),
    "nothing": ("e.csv", b"", "columns"),
    "blank lines alone": ("e.csv", b"\n\n\n", "columns"),
    "a mark alone": ("e.csv", BOM, "columns"),
    "NUL bytes after the header": ("e.csv", b"source,target\n" + NUL, "text"),
    "NUL bytes alone": ("e.csv", NUL, "text"),
    "NUL bytes, packed": ("e.csv.gz", gzip.compress(b"source,target\n" + NUL), "text"),
    "one NUL byte in a row": ("e.csv", TEXT.replace("1\n", "1\0\n").encode(), "text"),
    "UTF-16 without a mark": ("e.csv", TEXT.encode("utf-16-le"), "UTF-8"),
    "half UTF-8, half Windows-1252": ("e.csv", TEXT.encode() + "c,Zoë,4\n".encode("cp1252"), "UTF-8"),
    "a line that is too long": ("e.csv", TEXT.encode() + b"c,c,1,2\n", "line 5"),
    "a line that is too short": ("e.csv", TEXT.encode() + b"c\n", "line 5"),
    "values beyond the header": ("e.csv", by(";").replace("\n", ";x\n").replace("note;x", "note;").encode(), "header"),
    "a title as wide as the table": ("e.csv", ("Payments;;\n" + by(";")).encode(), "header"),
    "a quote that is not closed": ("e.csv", TEXT.replace("2\n", '"2\n').encode(), "quote"),
    "lines of a bank before the header": (
        "e.csv",
        ("Kontoumsätze;\n\nZeitraum:;01.01.2024\n\n" + by(";")).encode("cp1252"),
        "header",
    ),
    "a title before the header": ("e.csv", ("Payments of May\n" + TEXT).encode(), "header"),
    "no header": ("e.csv", b"1,2\n3,4\n", "first line"),
    "a header of one name twice": ("e.csv", b"source,target,target\na,b,c\n", "own name"),
    "a zip of two tables": ("e.zip", zipped(("a.csv", TEXT.encode()), ("b.csv", TEXT.encode())), "unpack"),
    "a zip of no table": ("e.zip", zipped(("readme.md", b"hello")), "CSV"),
    "a zip of Excel": ("e.zip", zipped(("sheet.xlsx", b"PK\3\4")), "CSV"),
    "an empty zip": ("e.zip", zipped(), "CSV"),
    "a zip that is none": ("e.zip", b"no zip at all", "zip"),
    "a gzip that is none": ("e.csv.gz", TEXT.encode(), "e.csv.gz"),
    "a gzip that is cut": ("e.csv.gz", gzip.compress(TEXT.encode() * 9)[:-20], "e.csv.gz"),
    "a tar": ("e.tar", b"", "unpack"),
    "JSON": ("e.json", b"[]", "ndjson"),
    "a JSON list that is called NDJSON": ("e.ndjson", b'[{"source": 1, "target": 2}]', "line"),
    "NUL bytes that are called NDJSON": ("e.ndjson", NUL, "e.ndjson"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_is_refused_has_its_name_and_the_way_out(tmp_path, name):
    file, content, remedy = REFUSED[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_tables(tmp_path / file, NODES, PLAIN)
    said = str(caught.value)
    assert file in said
    assert remedy.lower() in said.lower()


def test_a_true_sheet_of_excel_is_refused_whatever_its_name(tmp_path):
    (tmp_path / "e.csv").write_bytes(a_sheet())
    with pytest.raises(TableError, match=r"e\.csv.*CSV"):
        read_tables(tmp_path / "e.csv", NODES, PLAIN)


def test_a_title_above_a_table_of_nodes_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "n.csv").write_bytes(b"Accounts of May\nid,size\na,1\n")
    with pytest.raises(TableError, match=r"n\.csv.*line 2.*header"):
        read_tables(pa.table({"source": ["a"], "target": ["b"]}), tmp_path / "n.csv", PLAIN)


@pytest.mark.parametrize("form", ["e.csv", "e.csv.gz", "e.zip"])
def test_a_gibibyte_of_nul_bytes_is_refused_and_not_no_rows(tmp_path, form):
    many = b"source,target\n" + bytes(64 << 20)
    content = {
        "e.csv": lambda: many,
        "e.csv.gz": lambda: gzip.compress(many, 1),
        "e.zip": lambda: zipped(("e.csv", many)),
    }
    (tmp_path / form).write_bytes(content[form]())
    with pytest.raises(TableError, match=r"e\.(csv|zip)"):
        read_tables(tmp_path / form, NODES, PLAIN)


def test_a_zip_that_unpacks_to_more_than_there_is_room_for_is_refused(tmp_path, monkeypatch):
    import shutil

    (tmp_path / "e.zip").write_bytes(zipped(("e.csv", TEXT.encode() + b"c,c,1\n" * 1_000_000)))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 1_000_000))
    with pytest.raises(TableError, match=r"e\.zip.*(temp_folder|unpack)"):
        read_tables(tmp_path / "e.zip", NODES, PLAIN)


def test_a_zip_may_not_understate_what_it_holds(tmp_path):
    content = zipped(("e.csv", TEXT.encode() + b"c,c,1\n" * 10_000))
    size = (len(TEXT.encode()) + 60_000).to_bytes(4, "little")
    assert content.count(size) == 2
    (tmp_path / "e.zip").write_bytes(content.replace(size, (100).to_bytes(4, "little")))
    with pytest.raises(TableError, match=r"e\.zip"):
        read_tables(tmp_path / "e.zip", NODES, PLAIN)


@pytest.mark.parametrize("name", ["Windows-1252", "UTF-16, big end first", "CR", "sep=; of Excel"])
def test_standard_input_is_read_as_a_file_is(tmp_path, name):
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id;size\nJürgen;1\nZoë;5\nc;2\n", encoding="cp1252")
    program = (
        "from oddhop.tables.read import read_tables; from oddhop.tables.settings import ReadSettings;"
        f"n = read_tables('-', {str(nodes)!r}, ReadSettings(flows=False));"
        "print(ascii([n.ids.to_pylist(), n.edge_index.tolist(), n.counts.edge_rows]))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=READ[name][1], capture_output=True, check=True)
    assert done.stdout.decode().strip() == ascii([IDS, [[0, 1, 2], [1, 2, 0]], 3])


def test_a_pattern_takes_files_of_several_encodings_and_a_folder_leaves_out_texts_and_archives(tmp_path):
    (tmp_path / "a.csv").write_bytes("source,target\nJürgen,Zoë\n".encode("cp1252"))
    (tmp_path / "b.csv").write_bytes("source,target\nZoë,c\n".encode())
    (tmp_path / "c.csv").write_bytes("source,target\r\nc,Jürgen\r\n".encode("utf-16"))
    (tmp_path / "README.txt").write_text("three files")
    (tmp_path / "before.zip").write_bytes(zipped(("a.csv", b"source,target")))
    for named in (tmp_path, tmp_path / "*.csv"):
        network = read_tables(named, NODES, PLAIN)
        assert (network.edge_index.tolist(), network.counts.edge_rows) == ([[0, 1, 2], [1, 2, 0]], 3)


@pytest.mark.parametrize(
    ("content", "noted"), [(EURO.encode("cp1252"), True), (EURO.encode(), False), (EURO.encode("utf-16"), False)]
)
def test_a_guessed_encoding_is_in_the_sentences_of_the_network(tmp_path, content, noted):
    (tmp_path / "e.csv").write_bytes(content)
    network = read_network(tmp_path / "e.csv", NODES)
    assert network.roles is not None
    sentences = [one for one in network.roles.sentences(network.graph.events) if "1252" in one]
    assert [("e.csv" in one) for one in sentences] == [True] * noted


WRITERS: dict[str, Callable[[Path], None]] = {
    "tables of nodes": lambda path: path.write_bytes(
        "id;size;Ort\nJürgen;1;Köln\nZoë;5;Ulm\nc;2;Köln\n".encode("cp1252")
    ),
    "the same in UTF-16": lambda path: path.write_bytes(
        "id;size;Ort\nJürgen;1;Köln\nZoë;5;Ulm\nc;2;Köln\n".encode("utf-16")
    ),
}


@pytest.mark.parametrize("name", list(WRITERS))
def test_cells_keep_their_letters(tmp_path, name):
    WRITERS[name](tmp_path / "n.csv")
    network = read_tables(pa.table({"source": ["c"], "target": ["Zoë"]}), tmp_path / "n.csv", PLAIN)
    assert network.columns.column("Ort").to_pylist() == ["Köln", "Ulm", "Köln"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_large_file_of_mixed_line_ends_keeps_its_rows_and_the_line_ends_in_quotes(tmp_path, encoding):
    rows = [f'{k},{IDS[k % 2]},"{k}\r\n""{"x" * (k % 7)}"""' for k in range(200_000)]
    text = "id,town,note\n" + "".join(row + ("\r\n" if k % 3 else "\n") for k, row in enumerate(rows))
    (tmp_path / "n.csv").write_bytes(text.encode(encoding))
    network = read_tables(pa.table({"source": [1], "target": [2]}), tmp_path / "n.csv", PLAIN)
    assert network.ids.to_pylist() == list(range(200_000))

    assert set(network.columns.column("note").to_pylist()) == {f'{k}\r\n"{"x" * (k % 7)}"' for k in range(200_000)}
    assert set(network.columns.column("town").to_pylist()) == set(IDS[:2])
