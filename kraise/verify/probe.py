"""A run that asks how large the arrays must be: accesses outside are noted, not refused, and stores are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np

from kraise.verify.memory import Array, Storage, Subscripts


@dataclass
class Probe:
    """What a probing run found: extents ``needed`` by (array, axis), accesses before the start, stores made, and
    rounds of loops."""

    needed: dict[tuple[str, int], int] = field(default_factory=dict)
    negative: list[str] = field(default_factory=list)
    stores: int = 0
    rounds: int = 0

    def array(self, name: str, storage: Storage, shape: tuple[int, ...]) -> Array:
        """An argument's array under this probe."""
        return ProbeArray(name, storage, shape, 0, self, name, shape)


class ProbeArray(Array):
    """An argument, or a pointer into one, whose accesses outside are noted."""

    __slots__ = ("probe", "root", "root_shape")

    def __init__(
        self,
        name: str,
        storage: Storage,
        shape: tuple[int, ...],
        offset: int,
        probe: Probe,
        root: str,
        root_shape: tuple[int, ...],
    ):
        super().__init__(name, storage, shape, offset)
        self.probe, self.root, self.root_shape = probe, root, root_shape

    def inside(self, subscripts: Subscripts) -> bool:
        """Is the element there? If not, note what it would take."""
        places = [index(i) for i in subscripts]
        if self.storage.from_end and not self.offset and self.shape == self.root_shape:
            places = [i + n if -n <= i < 0 else i for i, n in zip(places, self.shape, strict=True)]
        if self.offset or self.shape != self.root_shape:
            strides = np.cumprod([1, *reversed(self.shape[1:])])[::-1]
            flat = self.offset + sum(int(i * s) for i, s in zip(places, strides, strict=True))
            places = [flat] if len(self.root_shape) == 1 else list(self.unroot(flat))
        good = True
        for axis, (i, extent) in enumerate(zip(places, self.root_shape, strict=True)):
            if i < 0 and self.storage.from_end:
                key = (self.root, axis)
                self.probe.needed[key] = max(self.probe.needed.get(key, 0), -i)
                good = False
            elif i < 0:
                self.probe.negative.append(f"{self.root}[{', '.join(map(str, places))}]")
                good = False
            elif i >= extent:
                key = (self.root, axis)
                self.probe.needed[key] = max(self.probe.needed.get(key, 0), i + 1)
                good = False
        return good

    def unroot(self, flat: int) -> tuple[int, ...]:
        """The root's subscripts of a flat place (the first one may lie outside)."""
        places: list[int] = []
        for extent in reversed(self.root_shape[1:]):
            flat, i = divmod(flat, extent)
            places.append(i)
        return (flat, *reversed(places))

    def pointer(self, name: str, ndim: int, offset: Any) -> Array:
        steps = index(offset) if offset is not None else 0
        if ndim == len(self.shape):
            row = int(np.prod(self.shape[1:], dtype=int))
            shape = (max(self.shape[0] - steps, 0), *self.shape[1:])
            start = self.offset + steps * row
        else:
            shape, start = (max(self.storage.flat.size - self.offset - steps, 0),), self.offset + steps
        return ProbeArray(name, self.storage, shape, start, self.probe, self.root, self.root_shape)

    def load(self, *subscripts: Any) -> Any:
        if self.inside(subscripts):
            return super().load(*subscripts)
        return self.storage.flat.dtype.type(0 if self.storage.flat.dtype.kind in "iub" else 1)

    def store(self, value: Any, *subscripts: Any) -> None:
        self.probe.stores += 1
        if self.inside(subscripts):
            super().store(value, *subscripts)

    def atomic(self, kind: str, update: Callable[..., Any], values: tuple[Any, ...], *subscripts: Any) -> Any:
        self.probe.stores += 1
        if self.inside(subscripts):
            return super().atomic(kind, update, values, *subscripts)
        return self.storage.flat.dtype.type(0)
