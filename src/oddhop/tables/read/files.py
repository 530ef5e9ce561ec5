"""Which files a name stands for: a file, a pattern or a folder, on this machine or in a store; and their form."""

from __future__ import annotations

import glob
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from pyarrow import fs

from oddhop.base.address import shown
from oddhop.errors import TableError
from oddhop.tables.read.database import reading, temporary_folder
from oddhop.tables.read.delimited import Delimited
from oddhop.tables.read.delta import LOG, delta_table
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.hive import Entries, Partitions, is_partitioned, partitioned_files, partitions_of
from oddhop.tables.read.ndjson import NDJSON
from oddhop.tables.read.parquet import Parquet
from oddhop.tables.read.plain_text import copy_in, plain_text, unzipped
from oddhop.tables.read.refused import refuse_scheme, remedy_for
from oddhop.tables.read.s3 import Place, is_s3, place_named
from oddhop.tables.settings import ReadSettings

SUFFIXES = {
    ".csv": "CSV",
    ".txt": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".ndjson": "NDJSON",
    ".jsonl": "NDJSON",
    ".zip": "zip",
}
PACKED = (".gz", ".zst")
BESIDE = (".txt", ".txt.gz", ".txt.zst", ".zip")
WANTED = (
    "CSV, TSV, Parquet or NDJSON (.csv, .txt, .tsv, .parquet, .pq, .ndjson, .jsonl; text also as .gz or .zst; a table "
    "also as .zip)"
)


Form: TypeAlias = Delimited | Parquet | NDJSON | Frame
"""A table that was named: it gives the names of its columns, and makes a table of those that are picked."""


@contextmanager
def named_files(name: str, what: str, settings: ReadSettings) -> Iterator[Form]:
    """Find the files of a table; those of a store are copied to a temporary folder meanwhile."""
    if not is_s3(name):
        refuse_scheme(name, what)
    if not name or "\0" in name:
        raise TableError(f"{what} must be the path of a file, got {shown(name)}")
    label = f"{what} {name!r}"
    with temporary_folder(settings) as folder:
        if is_s3(name):
            place = place_named(name, what)
            if place.is_folder(LOG):
                place.fetch_folder(LOG, folder)
                yield delta_table(folder, place.root(), label)
            else:
                chosen = _in_store(place, name, what)
                yield as_form(chosen, label, _copied(place, chosen.files, folder), folder)
        elif Path(name, LOG).is_dir():
            # deltalake takes %20 in a path for a blank, and would read the log of another folder.
            with reading(label):
                shutil.copytree(Path(name, LOG), folder / LOG)
            yield delta_table(folder, fs.SubTreeFileSystem(str(Path(name).absolute()), fs.LocalFileSystem()), label)
        else:
            chosen = _on_this_machine(name, what)
            yield as_form(chosen, label, [Path(file).absolute() for file in chosen.files], folder)


@dataclass(frozen=True)
class Chosen:
    """The files of a table, their one form, and what the names of their folders say."""

    files: tuple[str, ...]
    form: str
    partitions: Partitions | None = None


def _on_this_machine(name: str, what: str) -> Chosen:
    path = Path(name)
    if path.is_dir():

        def entries(inner: str) -> list[tuple[str, bool]]:
            with reading(f"{what} {name!r}"):
                return [(one.name, one.is_dir()) for one in (path / inner).iterdir() if one.is_dir() or one.is_file()]

        return _of_folder(entries, name, name, what)
    if path.is_file():
        return _of_one_form([name], name, what)
    if glob.has_magic(name):
        files = sorted(file for file in glob.glob(name, recursive=True) if Path(file).is_file())  # noqa: PTH207 - any pattern
        if not files:
            raise TableError(
                f"{what} is the pattern {shown(name)}, which no file matches", f"mind where it starts: {Path.cwd()}"
            )
        return _of_one_form(files, name, what)
    raise _missing(path, what, name)


def _in_store(place: Place, name: str, what: str) -> Chosen:
    if not name.endswith("/") and place.is_object():
        return _of_one_form([place.path], name, what)
    if place.is_folder():
        return _of_folder(lambda inner: place.entries(f"{place.path}/{inner}".rstrip("/")), place.path, name, what)
    files = place.matching() if glob.has_magic(place.path) else []
    if not files:
        raise TableError(f"{what} is {name!r}, which does not exist", "check the bucket, the key and AWS_ENDPOINT_URL")
    return _of_one_form(files, name, what)


def _of_folder(entries: Entries, root: str, name: str, what: str) -> Chosen:
    """Return the table files directly in a folder, or those in its folders key=value."""
    label, top = f"{what} {name!r}", entries("")
    if is_partitioned(top):
        found = dict(partitioned_files(entries, label))
    else:
        found = {file: {} for file, is_folder in sorted(top) if not is_folder and file[0] not in "._"}
    # A text or an archive beside tables is more often about them than one of them.
    tables = {file: keys for file, keys in found.items() if form_of(file) and not file.lower().endswith(BESIDE)}
    if not tables:
        plain = [inner for inner, is_folder in sorted(top) if is_folder and inner[0] not in "._"]
        raise TableError(
            f"{what} is the folder {name!r}, which holds no table"
            + (f"; the subfolder {plain[0]!r} is not called key=value and is not read" if plain else ""),
            f"it must hold files of {WANTED}, in no subfolders but key=value",
        )
    chosen = _of_one_form([f"{root.rstrip('/')}/{file}" for file in tables], name, what)
    if not any(tables.values()):
        return chosen
    if chosen.form == "NDJSON":
        raise TableError(f"{label} is NDJSON in folders key=value, which is not read", "write it as Parquet or CSV")
    return replace(chosen, partitions=partitions_of(tables, label))


def _copied(place: Place, objects: Sequence[str], folder: Path) -> list[Path]:
    copies = []
    for path in objects:
        copies.append(copy_in(folder, path.rpartition("/")[2]))
        place.fetch(path, copies[-1])
    return copies


def _of_one_form(files: Sequence[str], name: str, what: str) -> Chosen:
    forms = {file: form_of(file) for file in files}
    unknown = [file for file, form in forms.items() if form is None]
    if unknown:
        raise TableError(f"{what} must be {WANTED}, got {unknown[0]!r}", remedy_for(unknown[0]))
    if len(set(forms.values())) > 1:
        raise TableError(
            f"{what} must be of one form, got {', '.join(sorted(map(str, set(forms.values()))))} in {name!r}",
            "name them by a pattern such as '*.csv'",
        )
    return Chosen(tuple(files), str(forms[files[0]]))


def form_of(file: str) -> str | None:
    """Return the form of a file by its name; None where it is no table."""
    path = Path(file.lower())
    packed = path.suffix in PACKED
    form = SUFFIXES.get(path.with_suffix("").suffix if packed else path.suffix)
    return None if packed and form == "Parquet" else form


def as_form(chosen: Chosen, label: str, files: Sequence[Path], folder: Path) -> Form:
    """Return a table of the files that were chosen, or of copies of them in the same order.

    Text that DuckDB cannot read as it is, and what a zip file holds, is written to ``folder``.
    """
    with reading(label):
        if chosen.form == "zip":
            files = [unzipped(file, folder, label) for file in files]
            form = _of_one_form(list(map(str, files)), label, f"what {label} holds").form
            if form == "zip":
                raise TableError(f"{label} is a zip file in a zip file", "unpack it and name the table")
            chosen = replace(chosen, form=form)
        if chosen.form == "Parquet":
            return Parquet(label, tuple(map(str, files)), chosen.partitions)
        plain = [plain_text(file, folder, label) for file in files]
    paths = tuple(str(path) for path, _ in plain)
    guesses = [name for name, (_, guessed) in zip(chosen.files, plain, strict=True) if guessed]
    notes = [
        f"{name!r} is not UTF-8 and was read as Windows-1252: if letters are wrong, save it as UTF-8"
        for name in guesses
    ]
    if chosen.form == "NDJSON":
        return NDJSON(label, paths, tuple(notes))
    return Delimited(label, paths, chosen.partitions, tuple(notes), chosen.form == "TSV")


def _missing(path: Path, what: str, name: str) -> TableError:
    if path.exists():
        return TableError(f"{what} is {name!r}, which is neither a file nor a folder", "name a file or a folder")
    near = (
        get_close_matches(path.name, [file.name for file in path.parent.iterdir()], 1) if path.parent.is_dir() else []
    )
    remedy = f"did you mean {near[0]!r}?" if near else f"check the working folder: {Path.cwd()}"
    return TableError(f"{what} is {shown(name)}, which does not exist", remedy)
