"""Reading ahead: rows of an array that a kernel needs soon are fetched into the cache while it does other work.

Neighbours are scattered over the memory. In a large network a kernel that reads their rows waits for the memory most of
the time, unless it asks for rows some entries before it needs them. No result depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import intrinsic, overload

LINE = 64  # bytes that are fetched at once
AHEAD = 8  # entries; enough to cover the wait, few enough to be in the cache still


def prefetch(array: Any, row: int) -> None:
    """Fetch a row of a contiguous array, or an element of one with one dimension.

    Outside compiled kernels it does nothing.
    """


@overload(prefetch)
def _compiled(array: Any, row: Any) -> Callable[[Any, Any], None]:  # noqa: ARG001 - types, whose names are matched
    def fetch(array: Any, row: Any) -> None:
        for first in range(0, array.strides[0], LINE):
            _fetch(array, row, first)  # type: ignore[call-arg]

    return fetch


@intrinsic
def _fetch(_context: Any, array: Any, _row: Any, _first: Any) -> Any:
    """Ask for the line of the cache that holds a byte of a row; a line that cannot be read is no error."""
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils
        from numba.np.arrayobj import make_array

        held = make_array(signature.args[0])(context, builder, given[0])  # type: ignore[no-untyped-call]
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        start = builder.mul(given[1], builder.extract_value(held.strides, 0))
        place = builder.gep(builder.bitcast(held.data, byte), [builder.add(start, given[2])])
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        name = "llvm.prefetch.p0i8"
        ask = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
        # To read, to keep in all caches, of data.
        builder.call(ask, [place, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate
