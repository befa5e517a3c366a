"""Arguments for a host function that has no case: one size for all, and arrays that grow until it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType
from kraise.verify import interpreter
from kraise.verify.cases import Case, CaseError, named_dtype
from kraise.verify.errors import InterpreterError
from kraise.verify.scalars import dtype_of

SIZES = (7, 5, 3)


def infer_host_case(
    source: k.Module,
    host: Any,
    shapes: Mapping[str, tuple[int, ...]],
    values: Mapping[str, Any],
    dtype: str,
    seed: int,
) -> Case:
    """A case on which the host function runs. Raises CaseError with what stands in the way."""
    problem = ""
    kind = named_dtype(dtype)
    for size in SIZES:
        for power in (1, 2, 3):
            rng = np.random.default_rng(seed)
            arguments = {p.name: _argument(p, size, power, shapes, values, kind, rng) for p in host.params}
            try:
                interpreter.run(source, host.name, arguments)
                return Case(host.name, arguments, seed=seed, inferred=True)
            except InterpreterError as error:
                problem = problem or str(error)
            except (ValueError, IndexError, TypeError) as error:  # numpy's own, for shapes that do not fit
                problem = problem or str(error)
    raise CaseError(f"{host.name}: no arguments were found ({problem}); give --shape, --set or a case.toml")


def _argument(
    param: k.Param,
    size: int,
    power: int,
    shapes: Mapping[str, tuple[int, ...]],
    values: Mapping[str, Any],
    dtype: np.dtype,
    rng: np.random.Generator,
) -> Any:
    if param.name in values:
        return values[param.name]
    if isinstance(param.type, ArrayType):
        shape = shapes.get(param.name, (size,) * param.type.ndim if param.type.ndim > 1 else (size**power,))
        own = dtype_of(param.type.element) or dtype
        if own.kind in "iub":
            return rng.integers(0, 2 if own.kind == "b" else size, shape).astype(own)
        return rng.uniform(0.1, 0.9, shape).astype(own)
    if not isinstance(param.type, ScalarType):
        raise CaseError(f"{param.name} is a struct; give a case.toml")
    if param.type.is_inexact:
        return 0.1
    return size
