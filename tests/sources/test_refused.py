"""What is not read is refused by name, with what to do, and is not opened."""

from __future__ import annotations

import pickle  # noqa: TID251 - a hostile one is made here
from pathlib import Path

import pyarrow as pa
import pytest

from oddhop.errors import TableError
from oddhop.tables.read import read_tables

NODES = pa.table({"id": ["a", "b"], "age": [31, 52]})


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://example.org/e.csv", r"http://.*download the file"),
        ("HTTPS://example.org/e.csv", "download the file"),
        ("gs://shop/e.csv", r"gs://.*storage\.googleapis\.com"),
        ("abfss://shop@lake.example/e.csv", "azcopy"),
        ("hdfs://name/e.csv", "hdfs dfs -get"),
        ("s3a://shop/e.csv", "say s3://"),
        ("file:///data/e.csv", "name the path alone"),
        ("mysql://db/shop", "export the table"),
    ],
)
def test_an_address_is_refused_by_its_scheme(address, says):
    with pytest.raises(TableError, match=says):
        read_tables(address, NODES)


def test_a_secret_in_an_address_is_not_shown():
    for address in ("https://ann:s3cret@x.example/e.csv", "https://x.example/e.csv?X-Amz-Signature=s3cret"):
        with pytest.raises(TableError) as caught:
            read_tables(address, NODES)
        assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "says"),
    [
        (".xlsx", "save the sheet as CSV"),
        (".XLS", "save the sheet as CSV"),
        (".feather", "pyarrow"),
        (".h5", "pandas"),
        (".sqlite", "--database sqlite:///"),
        (".duckdb", "--database duckdb:///"),
        (".zip", "unpack"),
        (".csv.bz2", "pack it as .gz"),
        (".json", ".ndjson"),
        ("", "name the file by what it holds"),
    ],
)
def test_a_file_is_refused_by_its_name(tmp_path, suffix, says):
    (tmp_path / f"edges{suffix}").write_bytes(b"whatever")
    with pytest.raises(TableError) as caught:
        read_tables(tmp_path / f"edges{suffix}", NODES)
    assert says in str(caught.value)


class Trap:
    """Writes a file when it is read as a pickle."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_a_pickle_is_not_opened(tmp_path):
    (tmp_path / "edges.pkl").write_bytes(pickle.dumps(Trap(tmp_path / "ran")))
    with pytest.raises(TableError, match="can run any program"):
        read_tables(tmp_path / "edges.pkl", NODES)
    assert not (tmp_path / "ran").exists()
