"""Cases: the arguments, the launch, the tolerances and the form expected of one kernel, as case.toml spells them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


class CaseError(Exception):
    """A case that cannot be read; the message says where and why."""


class WrittenError(CaseError):
    """A case that a file writes wrongly."""


@dataclass(frozen=True)
class ArraySpec:
    """An array argument: uniform in ``low``..``high`` (integers: end exclusive), or filled, listed, or permuted."""

    dtype: str = "float32"
    shape: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None
    fill: float | complex | None = None
    values: tuple[Any, ...] | None = None
    permutation: bool = False

    def make(self, rng: np.random.Generator) -> np.ndarray:
        """The array. Raises CaseError for a dtype that NumPy does not know."""
        dtype = named_dtype(self.dtype)
        if self.values is not None:
            data = np.array(self.values, dtype)
            return data.reshape(self.shape) if self.shape else data
        if self.permutation:
            return rng.permutation(int(np.prod(self.shape))).reshape(self.shape).astype(dtype)
        if self.fill is not None:
            return np.full(self.shape, self.fill, dtype)
        if dtype.kind == "b":
            return rng.integers(0, 2, self.shape).astype(bool)
        if dtype.kind in "iu":
            first, end = (0 if self.low is None else int(self.low)), (10 if self.high is None else int(self.high))
            return rng.integers(first, end, self.shape).astype(dtype)
        low, high = (-1.0 if self.low is None else self.low), (1.0 if self.high is None else self.high)
        data = rng.uniform(low, high, self.shape)
        if dtype.kind == "c":
            data = data + 1j * rng.uniform(low, high, self.shape)
        return np.asarray(data).astype(dtype)


@dataclass(frozen=True)
class Form:
    """What the emitted function must look like: at most ``loops`` lax loops, text that it holds or lacks."""

    loops: int | None = None
    contains: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One kernel's case. ``args`` maps parameters to scalars, ArraySpecs, arrays, or (structs) mappings of these.

    ``grid`` and ``block`` None: the launch covers what the kernel guards. ``wrt`` None: every float argument.
    """

    kernel: str
    args: Mapping[str, Any]
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    shared: int | None = None
    value_tolerance: float | None = None
    gradient_tolerance: float | None = None
    wrt: tuple[str, ...] | None = None
    form: Form = field(default_factory=Form)
    seed: int = 0
    inferred: bool = False

    def arguments(self) -> dict[str, Any]:
        """Fresh arguments, the same for the same seed."""
        rng = np.random.default_rng(self.seed)
        return {name: _realise(value, rng) for name, value in self.args.items()}


def _realise(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, ArraySpec):
        return value.make(rng)
    if isinstance(value, Mapping):
        return {name: _realise(member, rng) for name, member in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def named_dtype(name: str) -> np.dtype:
    """A dtype by its name, bfloat16 included. Raises CaseError."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    try:
        return np.dtype(name)
    except TypeError:
        raise CaseError(f"{name!r} is not a dtype") from None


_ARRAY_KEYS = {"shape", "dtype", "range", "fill", "values", "permutation"}
_KEYS = ("args", "grid", "block", "shared", "tolerance", "wrt", "form", "seed")
_WRITTEN = "a case is written [kernel.NAME.args], then a line for each parameter: n = 17, x = { shape = [17] }"


def load_cases(path: str | Path) -> dict[str, Case]:
    """All cases of a case.toml, by kernel. Raises WrittenError."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrittenError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WrittenError(f"{path} is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise WrittenError(f"{path} is not TOML: {error}") from None
    for unknown in [name for name in data if name not in ("kernel", "options")]:
        raise WrittenError(f"{path}: `{unknown}` is not understood; {_WRITTEN}")
    kernels = data.get("kernel", {})
    if not isinstance(kernels, dict):
        raise WrittenError(f"{path}: `kernel` is not understood; {_WRITTEN}")
    return {name: _case(f"{path}: kernel.{name}", name, table) for name, table in kernels.items()}


def load_case(path: str | Path, kernel: str = "") -> Case:
    """The case of ``kernel`` (or the file's only one). Raises CaseError."""
    cases = load_cases(path)
    if not kernel and len(cases) == 1:
        return next(iter(cases.values()))
    if kernel not in cases:
        raise WrittenError(f"{path} has no case for the kernel {kernel or '(none named, several there)'}")
    return cases[kernel]


def _case(place: str, name: str, table: Any) -> Case:
    if not isinstance(table, dict) or not isinstance(table.get("args", {}), dict):
        raise WrittenError(f"{place} is not understood; {_WRITTEN}")
    for unknown in [key for key in table if key not in _KEYS]:
        raise WrittenError(f"{place}.{unknown} is not understood; beside args there may be {', '.join(_KEYS[1:])}")
    args = {}
    for arg, value in table.get("args", {}).items():
        try:
            args[arg] = _argument(value)
        except (KeyError, TypeError, ValueError, CaseError) as error:
            raise WrittenError(f"{place}.args.{arg} is not understood: {error}") from None
    tolerance, form = table.get("tolerance", {}), table.get("form", {})
    try:
        return Case(
            kernel=name,
            args=args,
            grid=_launch(table.get("grid")),
            block=_launch(table.get("block")),
            shared=table.get("shared"),
            value_tolerance=tolerance.get("value"),
            gradient_tolerance=tolerance.get("gradient"),
            wrt=tuple(table["wrt"]) if "wrt" in table else None,
            form=Form(form.get("loops"), tuple(form.get("contains", ())), tuple(form.get("absent", ()))),
            seed=table.get("seed", 0),
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise WrittenError(f"{place} is not understood: {error}") from None


def _launch(value: Any) -> tuple[int, ...] | None:
    if value is None or isinstance(value, int):
        return None if value is None else (value,)
    if not isinstance(value, list) or not all(isinstance(v, int) for v in value):
        raise ValueError(f"{value!r} is no number of blocks or threads; write 4 or [4, 2, 1]")
    return tuple(value)


def _argument(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "value" in value and set(value) <= {"value", "dtype"}:
        number = complex(*value["value"]) if isinstance(value["value"], list) else value["value"]
        return named_dtype(value["dtype"]).type(number) if "dtype" in value else number
    if not set(value) <= _ARRAY_KEYS:
        return {name: _argument(member) for name, member in value.items()}
    low, high = value.get("range", (None, None))
    shape = value.get("shape", ())
    named_dtype(value.get("dtype", "float32"))
    return ArraySpec(
        dtype=value.get("dtype", "float32"),
        shape=(shape,) if isinstance(shape, int) else tuple(shape),
        low=low,
        high=high,
        fill=value.get("fill"),
        values=tuple(value["values"]) if "values" in value else None,
        permutation=bool(value.get("permutation", False)),
    )
