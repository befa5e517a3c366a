"""Arrays of a run: bounds, undefined elements, tangents, pointers into them, and (tracked) the race detector."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from kraise.verify.duals import Dual, plain
from kraise.verify.errors import InterpreterError, OutOfRange, UndefinedRead
from kraise.verify.races import KEPT, Cell, RaceLog, same
from kraise.verify.scalars import storer

Subscripts = tuple[Any, ...]


class Storage:
    """The memory behind an array and all pointers into it.

    ``flat`` is 1-D; ``tangents``, where the run carries them, (size, k); ``defined`` marks the elements that hold a
    value (None: all do); ``cells`` is the race detector's, None for what only one thread sees or nothing writes.
    """

    __slots__ = ("cells", "convert", "defined", "flat", "from_end", "log", "narrow", "tangents")

    def __init__(self, data: np.ndarray, directions: int, log: RaceLog | None = None, undefined: bool = False):
        self.flat = data.reshape(-1)
        inexact = data.dtype.kind in "fcV"
        shape = (self.flat.size, directions)
        self.tangents = np.zeros(shape, _tangent_dtype(data.dtype)) if directions and inexact else None
        self.defined = np.zeros(self.flat.size, bool) if undefined else None
        self.log = log
        self.cells: dict[int, Cell] | None = {} if log is not None else None
        self.convert: Callable[[Any], Any] = storer(data.dtype)
        self.narrow = False  # integers that are loaded in full width
        self.from_end = False  # subscripts below zero are counted from the end


def _tangent_dtype(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


class Array:
    """A name's view of a storage: from ``offset`` on, with ``shape``. A pointer may go back before its own offset."""

    __slots__ = ("name", "offset", "shape", "storage")

    def __init__(self, name: str, storage: Storage, shape: tuple[int, ...], offset: int = 0):
        self.name, self.storage, self.shape, self.offset = name, storage, shape, offset

    # --- places

    def at(self, subscripts: Subscripts) -> int:
        """The flat place of the element; OutOfRange if it is none of this array's."""
        k = 0
        if len(subscripts) != len(self.shape):
            raise InterpreterError(f"{self.name} has {len(self.shape)} axes, not {len(subscripts)}")
        for axis, (i, extent) in enumerate(zip(subscripts, self.shape, strict=True)):
            i = index(i)
            if i < 0 and self.storage.from_end:
                i += extent
            if not 0 <= i < extent and (axis or not self.offset):
                raise OutOfRange(
                    self.name, tuple(map(int, subscripts)), self.shape, axis, i + 1 if i >= 0 and not self.offset else 0
                )
            k = k * extent + i
        k += self.offset
        if not 0 <= k < self.storage.flat.size:
            raise OutOfRange(self.name, tuple(map(int, subscripts)), self.shape, 0, 0)
        return k

    def unflatten(self, k: int) -> tuple[int, ...]:
        """The subscripts of a flat place."""
        k -= self.offset
        subscripts: list[int] = []
        for extent in reversed(self.shape[1:]):
            k, i = divmod(k, extent)
            subscripts.append(i)
        return (k, *reversed(subscripts))

    def pointer(self, name: str, ndim: int, offset: Any) -> Array:
        """What a function gets that is passed this array, or (with ``offset``) a pointer into it, as ``ndim`` axes."""
        steps = index(offset) if offset is not None else 0
        if ndim == len(self.shape):
            row = int(np.prod(self.shape[1:], dtype=int))
            shape = (self.shape[0] - steps, *self.shape[1:])
            return Array(name, self.storage, shape, self.offset + steps * row)
        if ndim == 1:
            return Array(name, self.storage, (self.storage.flat.size - self.offset - steps,), self.offset + steps)
        raise InterpreterError(f"{self.name} of {len(self.shape)} axes is passed where {ndim} are expected")

    # --- accesses

    def load(self, *subscripts: Any) -> Any:
        """The element's value, with its tangents where it has any."""
        storage = self.storage
        if len(subscripts) == 1 and not self.offset and len(self.shape) == 1:
            k = index(subscripts[0])
            if not 0 <= k < storage.flat.size:
                k = self.at(subscripts)
        else:
            k = self.at(subscripts)
        if storage.defined is not None and not storage.defined[k]:
            raise UndefinedRead(f"{self.name}[{', '.join(map(str, subscripts))}] is read before it is written")
        if storage.cells is not None and storage.log is not None:
            storage.log.read(storage.cells, k, self)
        if storage.tangents is not None:
            tangents = storage.tangents[k]
            if np.count_nonzero(tangents):
                return Dual(storage.flat[k], tangents.copy())
        return int(storage.flat[k]) if storage.narrow else storage.flat[k]

    def glance(self, *subscripts: Any) -> Any:
        """The element's value, where it does not matter which of the values that it has over time it is."""
        cells, self.storage.cells = self.storage.cells, None
        try:
            return self.load(*subscripts)
        finally:
            self.storage.cells = cells

    def store(self, value: Any, *subscripts: Any) -> None:
        """Assign to the element, converted to its type."""
        self._put(self.at(subscripts), value, "")

    def _put(self, k: int, value: Any, kind: str) -> None:
        storage = self.storage
        number = storage.convert(plain(value))
        if storage.cells is not None and storage.log is not None:
            known = storage.defined is None or bool(storage.defined[k])
            idle = not kind and known and same(storage.flat[k], number)
            storage.log.write(storage.cells, k, self, KEPT if idle else kind, number)
        storage.flat[k] = number
        if storage.tangents is not None:
            storage.tangents[k] = value.tangents if type(value) is Dual else 0
        if storage.defined is not None:
            storage.defined[k] = True

    def atomic(self, kind: str, update: Callable[..., Any], values: tuple[Any, ...], *subscripts: Any) -> Any:
        """Read, update, write; returns the old value."""
        k = self.at(subscripts)
        storage = self.storage
        if storage.defined is not None and not storage.defined[k]:
            raise UndefinedRead(f"{self.name}[{', '.join(map(str, subscripts))}] is read before it is written")
        old = storage.flat[k]
        if storage.tangents is not None and storage.tangents[k].any():
            old = Dual(old, storage.tangents[k].copy())
        self._put(k, update(old, *values), kind)
        return old

    def extent(self, axis: int) -> int:
        """``shape[axis]``."""
        if not 0 <= axis < len(self.shape):
            raise InterpreterError(f"{self.name} has {len(self.shape)} axes: there is no shape[{axis}]")
        return self.shape[axis]


def new_array(
    name: str,
    shape: tuple[Any, ...],
    dtype: np.dtype,
    fill: Any,
    values: tuple[Any, ...],
    directions: int,
    log: RaceLog | None,
) -> Array:
    """An array that the program makes: filled, initialised row by row (the rest zero), or undefined."""
    extents = tuple(index(n) for n in shape)
    if any(n < 0 for n in extents):
        raise InterpreterError(f"{name}: a negative extent in {extents}")
    data = np.zeros(extents, dtype)
    storage = Storage(data, directions, log, undefined=fill is None and not values)
    array = Array(name, storage, extents)
    given = values if values else (fill,) * data.size if fill is not None else ()
    if len(given) > data.size:
        raise InterpreterError(f"{name}: {len(given)} initial values for {data.size} elements")
    for k, value in enumerate(given):
        storage.flat[k] = storage.convert(plain(value))
        if storage.tangents is not None and type(value) is Dual:
            storage.tangents[k] = value.tangents
    return array
