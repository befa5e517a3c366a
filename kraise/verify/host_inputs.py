"""Arguments for a host function that has no case: one size for all, and arrays that grow until it runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType
from kraise.verify import interpreter
from kraise.verify.cases import Case, CaseError, named_dtype
from kraise.verify.errors import InterpreterError
from kraise.verify.host_roles import row_pointers
from kraise.verify.scalars import dtype_of

SIZES = (7, 5, 3)
LARGEST, DIFFERENT = 8, (5, 7, 3, 6, 4, 8)
_FEW = 12  # rounds that are still run as the function has them by default


def infer_host_case(
    source: k.Module,
    host: Any,
    shapes: Mapping[str, tuple[int, ...]],
    values: Mapping[str, Any],
    dtype: str,
    seed: int,
    distinct: bool = False,
) -> Case:
    """A case on which the host function runs, with ``distinct`` of different sizes if one of those runs. Raises
    CaseError with what stands in the way."""
    problem = ""
    kind = named_dtype(dtype)
    integers = [p.name for p in host.params if isinstance(p.type, ScalarType) and p.type.is_integer]
    pointers = row_pointers(source, host)
    several = distinct and len(integers) > 1
    for size in ((LARGEST,) if several else ()) + SIZES:
        own = dict(zip(integers, itertools.cycle(DIFFERENT), strict=False)) if size == LARGEST else {}
        for powers in _powers(host.params):
            rng = np.random.default_rng(seed)
            sizes = {**own, **values}
            arguments = {
                p.name: _argument(p, size, power, shapes, sizes, kind, rng, p.name in pointers)
                for p, power in zip(host.params, powers, strict=True)
            }
            try:
                interpreter.run(source, host.name, arguments)
                return Case(host.name, arguments, seed=seed, inferred=True)
            except InterpreterError as error:
                problem = problem or str(error)
            except (ValueError, IndexError, TypeError) as error:  # numpy's own, for shapes that do not fit
                problem = problem or str(error)
    raise CaseError(f"{host.name}: no arguments were found ({problem}); give --shape, --set or a case.toml")


def _powers(params: Sequence[k.Param]) -> Iterator[tuple[int, ...]]:
    """The power of the size that each flat array's length is: the same for all, then some squares (a matrix beside
    vectors whose lengths say what its are)."""
    yield from ((n,) * len(params) for n in (1, 2, 3))
    flat = [isinstance(p.type, ArrayType) and p.type.ndim == 1 + len(p.type.tail) for p in params]
    if 2 <= sum(flat) <= 4:
        mixed = itertools.product(*((1, 2) if one else (1,) for one in flat))
        yield from (powers for powers in mixed if 0 < sum(n == 2 for n in powers) < sum(flat))


def _argument(
    param: k.Param,
    size: int,
    power: int,
    shapes: Mapping[str, tuple[int, ...]],
    values: Mapping[str, Any],
    dtype: np.dtype,
    rng: np.random.Generator,
    pointer: bool,
) -> Any:
    if param.name in values:
        return values[param.name]
    if isinstance(param.type, ArrayType):
        tail = param.type.tail
        axes = param.type.ndim - len(tail)
        shape = shapes.get(param.name, (*((size,) * axes if axes > 1 else (size**power,)), *tail))
        own = dtype_of(param.type.element) or dtype
        if pointer and own.kind in "iu":
            least = min((v for v in values.values() if isinstance(v, int) and v > 0), default=size)
            starts = np.sort(rng.integers(0, min(least, size) + 1, shape), axis=-1)
            starts[..., :1] = 0
            return starts.astype(own)
        if own.kind in "iub":
            return rng.integers(0, 2 if own.kind == "b" else size, shape).astype(own)
        return rng.uniform(0.1, 0.9, shape).astype(own)
    if not isinstance(param.type, ScalarType):
        raise CaseError(f"{param.name} is a struct; give a case.toml")
    if param.default is not None:  # a step of time, a tolerance; counts stay small
        own_value = param.default.value
        if isinstance(own_value, float) or abs(own_value) <= _FEW:
            return own_value
    if param.type.is_inexact:
        return 0.1
    return size
