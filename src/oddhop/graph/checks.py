"""What a network must be: checks at the boundary, made once, each with an error that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from oddhop.base.arrays import Floats, Ints, frozen
from oddhop.base.kernels import compiled
from oddhop.errors import GraphError

ROWS_AT_ONCE = 1 << 20
Attributes: TypeAlias = "Floats | sp.csr_array"


def is_sparse(values: object) -> TypeGuard[Any]:
    """Return whether values are a SciPy sparse array."""
    return bool(sp.issparse(values))


def checked_edges(edge_index: npt.ArrayLike, nodes: int) -> tuple[Ints, Ints]:
    """Return both ends of the edges as int64 row positions."""
    edges = _array(edge_index, "edge_index")
    if edges.size == 0:
        edges = np.empty((2, 0), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise GraphError(
            f"edge_index must be integers of shape (2, edges), got {edges.dtype} of shape {edges.shape}",
            "for a list of pairs use np.array(pairs).T",
        )
    low, high = (int(edges.min()), int(edges.max())) if edges.size else (0, -1)
    if low < 0 or high >= nodes:
        raise GraphError(
            f"edge_index must have row numbers from 0 to {nodes - 1}, got {low if low < 0 else high}",
            "number the nodes by their attribute rows, and pass their ids as node_ids",
        )
    return edges[0].astype(np.int64, copy=False), edges[1].astype(np.int64, copy=False)


def checked_attributes(attributes: Any) -> Attributes:
    """Return a finite copy with one row a node, dense or CSR."""
    given = attributes if sp.issparse(attributes) else numbers(attributes, "the attributes")
    if given.ndim != 2:
        raise GraphError(
            f"the attributes must have one row for each node, got shape {given.shape}",
            "for a single column use x.reshape(-1, 1)",
        )
    matrix: Any = given if isinstance(given, np.ndarray) else _checked_csr(given)
    values = matrix.data if is_sparse(matrix) else matrix
    if matrix.shape[0] == 0:
        raise GraphError("the network has no nodes", "give at least one attribute row")
    if matrix.shape[1] == 0:
        raise GraphError(
            "the nodes have no attributes",
            "give at least one column, for example the degree or the clustering coefficient",
        )
    bad = int(np.count_nonzero(~np.isfinite(values)))
    if bad:
        rows, columns = (matrix.tocoo().coords) if sp.issparse(matrix) else np.indices(matrix.shape)
        first = np.flatnonzero(~np.isfinite(values.ravel()))[0]
        raise GraphError(
            f"the attributes have {bad} value(s) that are NaN or infinite, the first is "
            f"{values.ravel()[first]} at row {rows.ravel()[first]}, column {columns.ravel()[first]}",
            "fill them in, or remove these rows or columns",
        )
    return matrix


def _checked_csr(attributes: Any) -> Any:
    """Copy to one form, so that the same values give the same fingerprint however they were stored."""
    matrix = sp.csr_array(attributes, copy=True)
    matrix.sum_duplicates()
    matrix.data = numbers(matrix.data, "the attributes")
    matrix.eliminate_zeros()
    wide = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
    matrix.indices, matrix.indptr = matrix.indices.astype(wide), matrix.indptr.astype(wide)
    return matrix


def check_rows(indptr: Ints, indices: Ints, attributes: Attributes, what: str) -> None:
    """Read a network that lies on the disk once from end to end: no kernel asks again whether a number is in range."""
    matrix: Any = attributes
    sparse = is_sparse(matrix)
    values = matrix.data if sparse else matrix
    right = (
        rows_are_whole(indptr, indices, indptr.size - 1)
        and rows_are_mirrored(indptr, indices)
        and (not sparse or rows_are_whole(matrix.indptr, matrix.indices, matrix.shape[1]))
        and all(np.isfinite(values[k : k + ROWS_AT_ONCE]).all() for k in range(0, values.shape[0], ROWS_AT_ONCE))
    )
    if not right:
        raise GraphError(f"the arrays of {what} are damaged", "restore them from a copy or ingest again")


@compiled
def rows_are_whole(indptr: Ints, indices: Ints, columns: int) -> bool:
    """Return whether compressed rows follow one another, each with ascending numbers from 0 to ``columns`` - 1."""
    if indptr[0] != 0 or indptr[-1] != indices.size:
        return False
    for i in range(indptr.size - 1):
        if indptr[i] > indptr[i + 1]:
            return False
    for i in range(indptr.size - 1):
        last = -1
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] <= last or indices[k] >= columns:
                return False
            last = indices[k]
    return True


@compiled
def rows_are_mirrored(indptr: Ints, indices: Ints) -> bool:
    """Return whether every edge of whole rows stands in both rows, and none is a loop; kernels trust in it blindly."""
    cursor = indptr[:-1].copy()
    for u in range(indptr.size - 1):
        # By its turn all lower neighbours of u have named it; those that are left are higher.
        if cursor[u] < indptr[u + 1] and indices[cursor[u]] <= u:
            return False
        for k in range(cursor[u], indptr[u + 1]):
            v = indices[k]
            if cursor[v] >= indptr[v + 1] or indices[cursor[v]] != u:  # as u ascends, so do the lower ones of v
                return False
            cursor[v] += 1
    return True


def _array(values: Any, what: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise GraphError(f"{what} must be rows of equal length", f"NumPy reports: {error}") from None


def numbers(values: Any, what: str) -> Floats:
    """Copy as float32 where it came so, else float64."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64) if array.dtype.kind == "O" else array
        if array.dtype.kind not in "biuf":
            raise TypeError(f"got {array.dtype}")
        return np.array(array, dtype=np.float32 if array.dtype in (np.float32, np.float16) else np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(
            f"{what} must be real numbers, one vector of equal length for each node (NumPy reports: {error})",
            "give numbers, or give tables to read_network, which also encodes categories, text and dates",
        ) from None


def sorted_ids(node_ids: npt.ArrayLike, nodes: int) -> tuple[npt.NDArray[Any], Ints]:
    """Return the ids sorted, and the order that sorts them."""
    ids = _array(node_ids, "node ids")
    if ids.dtype.kind == "O" and ids.ndim == 1 and all(type(i) is str for i in ids):
        ids = ids.astype("U")  # as pandas gives them
    # NumPy makes texts of numbers that stand among texts: look at what was given.
    mixed = ids.dtype.kind == "U" and not all(isinstance(i, str) for i in np.asarray(node_ids, dtype=object).ravel())
    if ids.ndim != 1 or ids.dtype.kind not in "iuU" or mixed:
        raise GraphError(
            f"node ids must be all integers or all strings in one row, got {ids.dtype} of shape {ids.shape}",
            "pass other ids as text",
        )
    if ids.size != nodes:
        raise GraphError(f"there are {nodes} attribute rows and {ids.size} node ids", "give one id for each row")
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    # One width, however they came: the same ids must give the same fingerprint.
    longest = int(np.strings.str_len(ids).max()) if ids.dtype.kind == "U" else 0
    ids = ids.astype(f"U{max(longest, 1)}" if ids.dtype.kind == "U" else f"{ids.dtype.kind}8", copy=False)
    repeated = np.flatnonzero(ids[1:] == ids[:-1])
    if repeated.size:
        raise GraphError(
            f"{repeated.size} node id(s) are repeated, first {ids[repeated[0]]!r}", "give every node a different id"
        )
    return ids, order


def checked_names(names: Sequence[str] | None, columns: int) -> tuple[str, ...] | None:
    """Return one name a column, or None."""
    if names is None:
        return None
    if len(names) != columns:
        raise GraphError(
            f"there are {columns} attribute columns and {len(names)} names", "give one name for each column"
        )
    return tuple(str(name) for name in names)


def frozen_attributes(matrix: Attributes) -> Attributes:
    """Make the attributes refuse to be written to."""
    if is_sparse(matrix):
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        return matrix
    return frozen(matrix)
