"""Kernels: compiled by numba, kept on the disk, and safe to be compiled by many processes at once.

numba's own cache is not. Two processes that compile one function for different types at the same moment may both take
the same file name for it; a third is then handed a kernel for other types than it asked for, and computes nonsense. So
do processes on both sides of a change of the source. A lock on the folder keeps writers apart, and readers from them.

Nor does numba's own notice that a kernel calls another that was changed in another file. Here a kernel is known by what
it and all the kernels under it are made of, and by the versions of the compilers; numba adds the processor.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType
from typing import Any, ParamSpec, TypeVar

import llvmlite
import numba
import numpy as np
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

from oddhop.base.compiling import compiling
from oddhop.base.locks import lock

Given = ParamSpec("Given")
Result = TypeVar("Result")
LOCK = "oddhop.lock"
# At DEBUG numba writes thousands of lines a kernel: who wants them asks for them by name.
if logging.getLogger("numba").level == logging.NOTSET:
    logging.getLogger("numba").setLevel(logging.WARNING)


def compiled(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Compile a function when it is first called, without the interpreter's lock, and keep what was compiled."""
    return _kept(_jit()(function), function)


def compiled_unordered(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Compile a function whose sums may be taken in any order, so that they are taken several at a time.

    The order is that of the processor: the same on any number of threads, and another on another kind of processor.
    """
    return _kept(_jit(fastmath={"reassoc"})(function), function)


def _jit(**options: Any) -> Any:
    # Nothing in C calls a kernel, and the wrapper for that takes long to compile.
    return njit(nogil=True, no_cfunc_wrapper=True, **options)  # type: ignore[call-overload]


def _kept(kernel: Any, function: Callable[Given, Result]) -> Callable[Given, Result]:
    if isinstance(kernel, CPUDispatcher):  # not where compiling is switched off
        with suppress(RuntimeError):  # a function of no file has no place for its cache
            # What njit(cache=True) does with numba's own.
            kernel._cache = SharedCache(function)  # type: ignore[attr-defined]
    return kernel  # type: ignore[no-any-return]


class SharedCache(FunctionCache):
    """numba's cache, one process at a time; what is read is what was asked for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._function = function
        self._stamped = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for these types; or None, and it is compiled next."""
        with self._alone(shared=True):
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is not None and tuple(found.signature.args) == tuple(sig):
            return found
        compiling()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the kernel for these types."""
        with self._alone(shared=False):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    @contextmanager
    def _alone(self, *, shared: bool) -> Iterator[None]:
        if not self._stamped:  # not before it is looked up, for a kernel may call one that stands below it
            base, stamp = self._impl.filename_base, kernel_digest(self._function)
            self._cache_file = IndexDataCacheFile(self.cache_path, base, stamp)  # type: ignore[no-untyped-call]
            self._stamped = True
        try:
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            file = os.open(Path(self.cache_path) / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:  # a folder that cannot be written is not changed by others either
            yield
            return
        try:
            lock(file, shared=shared)
            yield
        finally:
            os.close(file)


def kernel_digest(function: Callable[..., Any]) -> str:
    """Return a digest of what a kernel is compiled from: its code, its constants, the kernels that it calls, numba."""
    digest = hashlib.blake2b(f"{numba.__version__} {llvmlite.__version__}".encode(), digest_size=16)
    seen: list[Any] = [function]
    for one in seen:  # which grows meanwhile
        codes = [one.__code__]
        for code in codes:
            digest.update(repr((code.co_code, code.co_names, code.co_varnames)).encode())
            codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            plain = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
            digest.update(repr(plain).encode())
            for name in code.co_names:
                value = one.__globals__.get(name)
                inner = getattr(value, "py_func", None)
                if isinstance(value, int | float | tuple | np.generic | np.ndarray):
                    digest.update(f"{name} {np.asarray(value).dtype}".encode() + np.asarray(value).tobytes())
                elif inner is not None and inner not in seen:
                    seen.append(inner)
    return digest.hexdigest()


@compiled
def sort_ascending(values: Any) -> None:
    """Sort an array in place, by Shell's method with gaps that grow by 9 / 4.

    numba's own sort takes a second to compile for every type, and every kernel that uses it takes it in.
    """
    gap = 1
    while 9 * gap < 4 * values.size:
        gap = (9 * gap) // 4 + 1
    while gap > 0:
        for k in range(gap, values.size):
            value, place = values[k], k
            while place >= gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value
        gap = 4 * gap // 9
