"""A network on disk: flat arrays that are mapped and not read, and a manifest that says what they are.

Every array is one ``.npy`` file over all nodes. A partition is a range of nodes, and so a slice of every file:
whoever works on one maps that slice and nothing else.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oddhop.base.arrays import Ints, frozen
from oddhop.base.checkpoints import MANIFEST
from oddhop.base.files import file_digest
from oddhop.errors import GraphError
from oddhop.graph.checks import Attributes
from oddhop.graph.events import ARRAYS, EventColumns, Events
from oddhop.graph.kinds import NodeKinds

KIND, FORMAT = "oddhop graph", 1
RESTORE = "restore it from a copy or ingest again"
HEADER = 128
PARTITION_ENTRIES, PARTITION_NODES = 1 << 24, 1 << 20  # at most, where nothing else is said
UNFINISHED = "unfinished"
ENCODING, IDS, ORIGINALS = "encoding.json", "ids.parquet", "originals.parquet"
EVENTS = {name: f"events_{name}" for name in ARRAYS}
DENSE, SPARSE = ("attributes",), ("attributes_indptr", "attributes_indices", "attributes_data")
STRICT = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)
Count = Annotated[int, Field(ge=0)]
FileName = Annotated[str, Field(pattern=r"^[a-z_]+\.[a-z]+$")]


class ArrayEntry(BaseModel):
    """The type and the shape of an array, as NumPy writes them."""

    model_config = STRICT
    dtype: Literal["<i2", "<i4", "<i8", "<f4", "<f8"]
    shape: tuple[Count, ...] = Field(strict=False, min_length=1, max_length=2)

    @property
    def row_bytes(self) -> int:
        """The size of one row."""
        return int(np.dtype(self.dtype).itemsize * int(np.prod(self.shape[1:], dtype=np.int64)))

    @property
    def header(self) -> bytes:
        """What the file begins with."""
        out = io.BytesIO()
        layout = {"descr": self.dtype, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(out, layout)
        return out.getvalue()


class FileEntry(BaseModel):
    """The size and the sha256 of a file."""

    model_config = STRICT
    bytes: Count
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """What is in the folder, and how it came there.

    ``bounds`` are the nodes where partitions begin, and ``entries`` where their rows begin in ``indices``; both
    have one more at the end.
    """

    model_config = STRICT
    kind: Literal["oddhop graph"]
    format: Literal[1]
    oddhop: str
    nodes: Annotated[int, Field(ge=1)]
    edges: Count
    bounds: tuple[Count, ...] = Field(strict=False, min_length=2)
    entries: tuple[Count, ...] = Field(strict=False, min_length=2)
    attribute_names: tuple[str, ...] = Field(strict=False, min_length=1)
    arrays: dict[str, ArrayEntry]
    files: dict[FileName, FileEntry]
    repairs: dict[Literal["loops", "duplicates", "one_way", "weights", "edge_columns", "other_fields"], Count]
    events: EventColumns | None = None
    flow_count: Count = 0
    kinds: NodeKinds | None = None
    roles: dict[str, Any]
    counts: dict[str, Any]
    differences: list[dict[str, Any]]
    tables: dict[str, str]
    settings: dict[str, Any]

    @property
    def node_kinds(self) -> NodeKinds | None:
        """Which nodes and attributes belong to which kind; None where there is one kind."""
        return self.kinds

    @model_validator(mode="after")
    def _consistent(self) -> Manifest:
        shapes = {name: entry.shape for name, entry in self.arrays.items()}
        width = len(self.attribute_names)
        expected: dict[str, tuple[int, ...]] = {"indptr": (self.nodes + 1,), "indices": (2 * self.edges,)}
        if "attributes" in shapes:
            expected["attributes"] = (self.nodes, width)
        else:
            stored = shapes.get("attributes_data", (0,))
            expected |= zip(SPARSE, ((self.nodes + 1,), stored, stored), strict=True)
        if self.events is not None:
            columns, entries = self.events, shapes.get(EVENTS["partners"], (0,))
            expected |= {
                EVENTS["indptr"]: (2 * self.nodes + 1,),
                EVENTS["partners"]: entries,
                EVENTS["times"]: entries if columns.time is not None else (0,),
                EVENTS["amounts"]: (*entries, len(columns.amounts)),
                EVENTS["kinds"]: (*entries, len(columns.kinds)),
            }
        kinds = self.node_kinds
        if kinds is not None and (kinds.bounds[-1] != self.nodes or len(kinds.columns) != width):
            raise ValueError(f"the kinds must match {self.nodes} nodes and {width} attributes")
        if self.flow_count > width:
            raise ValueError(f"{self.flow_count} of {width} attributes cannot be flows")
        if shapes != expected:
            raise ValueError(f"the arrays must have the shapes {expected}, got {shapes}")
        for places, last in ((self.bounds, self.nodes), (self.entries, 2 * self.edges)):
            if places[0] != 0 or places[-1] != last or list(places) != sorted(places):
                raise ValueError(f"the partitions must go from 0 to {last}")
        if len(self.bounds) != len(self.entries):
            raise ValueError("bounds and entries must have equal length")
        lacking = {f"{name}.npy" for name in self.arrays} - self.files.keys()
        if lacking:
            raise ValueError(f"these files are missing: {sorted(lacking)}")
        return self


@dataclass(frozen=True, eq=False)
class Partition:
    """The rows of a range of nodes, mapped from the disk.

    Attributes
    ----------
    start, stop : the nodes.
    indptr : where the row of each begins in ``indices``; it begins with 0.
    indices : their neighbours, by number in the whole network.
    """

    start: int
    stop: int
    indptr: Ints
    indices: Ints

    def __post_init__(self) -> None:
        """Make both arrays read-only: numba compiles a kernel again for arrays that may be written."""
        for name in ("indptr", "indices"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Stored:
    """A folder that ``oddhop ingest`` made; see :func:`open_stored`."""

    folder: Path
    manifest: Manifest

    @property
    def partitions(self) -> int:
        """How many partitions there are."""
        return len(self.manifest.bounds) - 1

    def rows(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Map some rows of an array, read-only; the rest of the file is not touched."""
        entry = self.manifest.arrays[name]
        stop = entry.shape[0] if stop is None else stop
        if not 0 <= start <= stop <= entry.shape[0]:
            raise GraphError(
                f"{self.folder / name}.npy has {entry.shape[0]} rows, got a request for rows {start} to {stop}",
                "ingest again",
            )
        shape = (stop - start, *entry.shape[1:])
        if 0 in shape:  # there is no map of nothing
            return np.empty(shape, entry.dtype)
        offset = HEADER + start * entry.row_bytes
        # A plain array over the map: what was compiled for arrays takes it, and nothing is copied.
        return np.asarray(np.memmap(self.folder / f"{name}.npy", entry.dtype, "r", offset, shape))

    def attributes(self, start: int = 0, stop: int | None = None) -> Attributes:
        """Map the attributes of some nodes."""
        stop = self.manifest.nodes if stop is None else stop
        if "attributes" in self.manifest.arrays:
            return self.rows("attributes", start, stop)
        indptr = self.rows("attributes_indptr", start, stop + 1)
        where = int(indptr[0]), int(indptr[-1])
        parts = self.rows("attributes_data", *where), self.rows("attributes_indices", *where)
        shape = (stop - start, len(self.manifest.attribute_names))
        return sp.csr_array((*parts, indptr if where[0] == 0 else indptr - indptr[0]), shape=shape, copy=False)

    def events(self) -> Events | None:
        """Map the events of all nodes; None where there are none."""
        if self.manifest.events is None:
            return None
        return Events(self.manifest.events, **{name: self.rows(EVENTS[name]) for name in ARRAYS})

    def partition(self, number: int) -> Partition:
        r"""Map one partition, and nothing of the others.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from oddhop.tables.ingest import ingest
        >>> with tempfile.TemporaryDirectory() as home:
        ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
        ...     _ = edges.write_text("from,to\na,b\nb,c\n")
        ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\n")
        ...     stored = ingest(edges, nodes, Path(home, "graph"), partition_entries=2)
        ...     middle = stored.partition(1)
        ...     stored.partitions, middle.start, middle.indices.tolist()
        (3, 1, [0, 2])
        """
        start, stop = self.manifest.bounds[number : number + 2]
        indptr = self.rows("indptr", start, stop + 1)
        indices = self.rows("indices", *self.manifest.entries[number : number + 2])
        return Partition(start, stop, indptr - indptr[0], indices)


def is_stored(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder is one that ``oddhop ingest`` makes, finished or not."""
    folder = Path(path)
    try:
        begun = (folder / UNFINISHED / MANIFEST).is_file()
        return begun or f'"{KIND}"' in (folder / MANIFEST).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return False


def open_stored(path: str | os.PathLike[str]) -> Stored:
    """Open a folder made by ``oddhop ingest``; check its manifest and the size of every file.

    The bytes themselves are not read; :func:`verify_stored` does that.
    """
    folder = Path(path)
    again = "run the same oddhop ingest command again"
    if not (folder / MANIFEST).is_file():
        begun = (folder / UNFINISHED).is_dir()
        if begun:
            raise GraphError(f"{folder} has an ingest that did not end", again)
        raise GraphError(f"{folder} has no network", "give a folder made by oddhop ingest")
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise GraphError(
            f"{folder / MANIFEST} is not a manifest that this oddhop reads: {place}: {first['msg']}", "ingest again"
        ) from None
    for name, entry in manifest.files.items():
        file = folder / name
        if not file.is_file():
            raise GraphError(f"{file} is missing", RESTORE)
        if file.stat().st_size != entry.bytes:
            raise GraphError(f"{file} must have {entry.bytes:,} bytes, got {file.stat().st_size:,}", RESTORE)
    stored = Stored(folder, manifest)
    _check_arrays(stored)
    return stored


def _check_arrays(stored: Stored) -> None:
    for name, entry in stored.manifest.arrays.items():
        file, header = stored.folder / f"{name}.npy", entry.header
        with file.open("rb") as content:
            right = len(header) == HEADER and content.read(HEADER) == header
        if not right or file.stat().st_size != HEADER + entry.shape[0] * entry.row_bytes:
            raise GraphError(f"{file} is not the array of the manifest", RESTORE)
    if "attributes" not in stored.manifest.arrays:
        first, last = stored.rows("attributes_indptr")[[0, -1]].tolist()
        if (first, last) != (0, stored.manifest.arrays["attributes_data"].shape[0]):
            raise GraphError(f"the attributes of {stored.folder} are damaged", RESTORE)
    indptr = stored.rows("indptr")
    if indptr[list(stored.manifest.bounds)].tolist() != list(stored.manifest.entries):
        raise GraphError(f"{stored.folder / 'indptr.npy'} does not match the partitions of the manifest", RESTORE)


def verify_stored(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Check every file against its sha256, and yield each file that is correct."""
    stored = open_stored(path)
    for name, entry in stored.manifest.files.items():
        file = stored.folder / name
        if file_entry(file).sha256 != entry.sha256:
            raise GraphError(f"{file} was changed after it was written", RESTORE)
        yield file


def fingerprint(path: str | os.PathLike[str]) -> str:
    """Return what ``Graph.open(path).fingerprint`` gives, reading piece by piece and mapping nothing."""
    stored = open_stored(path)
    whole = hashlib.sha256()
    names = ["indptr", "indices", *(DENSE if "attributes" in stored.manifest.arrays else SPARSE)]
    events = stored.events()
    if events is not None:
        whole.update(f"{events.columns} {stored.manifest.flow_count}".encode())
        names += EVENTS.values()
    kinds = stored.manifest.node_kinds
    if kinds is not None:
        whole.update(f"{kinds.bounds} {kinds.columns} {kinds.judged}".encode())
    for name in names:
        entry = stored.manifest.arrays[name]
        whole.update(f"{np.dtype(entry.dtype).str}{entry.shape}".encode())
        with (stored.folder / f"{name}.npy").open("rb") as content:
            content.seek(HEADER)
            while piece := content.read(2**22):
                whole.update(piece)
    return whole.hexdigest()


def file_entry(file: Path) -> FileEntry:
    """Return the size and the sha256 of a file, read in pieces."""
    return FileEntry(bytes=file.stat().st_size, sha256=file_digest(file))
