"""What is not read, by name, and what to do about it."""

from __future__ import annotations

from pathlib import PurePath

from oddhop.base.address import scheme_of
from oddhop.errors import TableError

FETCH = "download the file and name its path"
SCHEMES = {
    "http": FETCH,
    "https": FETCH,
    "ftp": FETCH,
    "sftp": FETCH,
    "file": "name the path alone",
    "gs": "copy it here with gcloud storage cp, or read it as s3:// with AWS_ENDPOINT_URL=https://storage.googleapis.com",
    "s3a": "say s3:// for it",
    "s3n": "say s3:// for it",
    "hdfs": "copy it here with hdfs dfs -get",
    **dict.fromkeys(("abfs", "abfss", "az", "azure", "adl", "wasb", "wasbs"), "copy it here with azcopy copy"),
}
OTHER_SCHEME = "export the table as Parquet or CSV and name the file"

EXCEL = "save the sheet as CSV"
PICKLE = "a pickle can run any program when it is read; write the table as Parquet"
ARROW = "give the frame that pyarrow.feather.read_table returns, or write it as Parquet"
PANDAS = "read it with pandas and give the frame, or write it as Parquet"
DATABASE = "say Query('{0}:///PATH', 'select * from accounts'), or --database {0}:///PATH and the query for the table"
SUFFIXES = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), EXCEL),
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".p"), PICKLE),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), ARROW),
    **dict.fromkeys((".h5", ".hdf", ".hdf5", ".dta", ".sas7bdat", ".sav", ".orc", ".xml"), PANDAS),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), DATABASE.format("sqlite")),
    **dict.fromkeys((".duckdb", ".ddb"), DATABASE.format("duckdb")),
    **dict.fromkeys((".tar", ".tgz", ".7z", ".rar"), "unpack it and name the files in it"),
    **dict.fromkeys((".bz2", ".xz", ".lz4"), "pack it as .gz or .zst, or unpack it"),
    ".json": "write one object a line and call it .ndjson",
    ".avro": "write it as Parquet",
}
# How files begin that are called text, and are something else.
SIGNATURES = (
    (b"PK\x03\x04", "an Excel or zip file", f"{EXCEL}, or call a zip file of one table .zip"),
    (b"\xd0\xcf\x11\xe0", "an Excel file", EXCEL),
    (b"PAR1", "a Parquet file", "call it .parquet"),
    (b"\x1f\x8b", "packed by gzip", "call it .csv.gz"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "call it .csv.zst"),
)


def refuse_scheme(name: str, what: str) -> None:
    """Refuse an address that is not read; of it the scheme alone is shown, for the rest may hold a secret."""
    scheme = scheme_of(name)
    if scheme is not None:
        of = f" {scheme}://" if scheme else ""
        raise TableError(f"{what} is an address{of}, which is not read", SCHEMES.get(scheme, OTHER_SCHEME))


def refuse_signature(start: bytes, named: str) -> None:
    """Refuse a file that is called text, by how it begins."""
    for signature, what, remedy in SIGNATURES:
        if start.startswith(signature):
            raise TableError(f"{named} is {what}, and its name is that of a text", remedy)


def remedy_for(file: str) -> str:
    """Return what to do about a file that is no table by its name."""
    return SUFFIXES.get(PurePath(file.lower()).suffix, "name the file by what it holds")
