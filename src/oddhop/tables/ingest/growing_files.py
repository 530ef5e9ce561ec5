"""Arrays and tables written piece by piece; a file takes its name when all of it is on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.base.files import atomic_file
from oddhop.graph.disk import DENSE, HEADER, SPARSE, ArrayEntry

VALUES_AT_ONCE = 1 << 22


@dataclass
class GrowingArray:
    """An array file that rows are appended to."""

    file: BinaryIO
    dtype: Any
    tail: tuple[int, ...] = ()
    rows: int = 0

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Write some rows after those that are there."""
        self.file.write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.rows += rows.shape[0]

    @property
    def entry(self) -> ArrayEntry:
        """Its entry in the manifest."""
        return ArrayEntry(dtype=np.dtype(self.dtype).str, shape=(self.rows, *self.tail))


@contextmanager
def growing_array(file: Path, dtype: Any, tail: tuple[int, ...] = ()) -> Iterator[GrowingArray]:
    """Open an array file for appending; its length need not be known before."""
    with atomic_file(file) as content:
        content.write(bytes(HEADER))
        array = GrowingArray(content, dtype, tail)
        yield array
        content.seek(0)
        content.write(array.entry.header)


@contextmanager
def growing_table(file: Path) -> Iterator[Callable[[pa.Table], None]]:
    """Open a Parquet file for appending; give the function that appends a table."""
    writer = None

    def append(table: pa.Table) -> None:
        nonlocal writer
        if writer is None:
            writer = pq.ParquetWriter(content, table.schema)
        writer.write_table(table)

    with atomic_file(file) as content:
        try:
            yield append
        finally:
            if writer is not None:
                writer.close()


def write_dense(folder: Path, blocks: Iterable[Any], width: int) -> dict[str, ArrayEntry]:
    """Write attributes as one array."""
    [name] = DENSE
    with growing_array(folder / f"{name}.npy", np.float32, (width,)) as array:
        for block in blocks:
            array.append(block)
    return {name: array.entry}


def write_sparse(folder: Path, blocks: Iterable[Any], width: int) -> dict[str, ArrayEntry]:
    """Write attributes as compressed rows, with numbers as wide as SciPy has them."""
    indptr_name, indices_name, data_name = SPARSE
    sizes: list[npt.NDArray[np.int64]] = []
    narrow = folder / "columns.bin"
    with growing_array(folder / f"{data_name}.npy", np.float32) as data, narrow.open("wb") as columns:
        for block in blocks:
            data.append(block.data)
            columns.write(block.indices.astype(np.int32).data)
            sizes.append(np.diff(block.indptr).astype(np.int64))
    ends = np.cumsum(np.concatenate([[0], *sizes]))
    # How wide they are is known only now.
    wide = np.int32 if max(int(ends[-1]), ends.size - 1, width) < 2**31 else np.int64
    with growing_array(folder / f"{indices_name}.npy", wide) as indices, narrow.open("rb") as columns:
        while (some := np.fromfile(columns, np.int32, VALUES_AT_ONCE)).size:
            indices.append(some)
    narrow.unlink()
    with growing_array(folder / f"{indptr_name}.npy", wide) as indptr:
        indptr.append(ends)
    return {indptr_name: indptr.entry, indices_name: indices.entry, data_name: data.entry}
