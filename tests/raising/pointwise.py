"""What equations mean, point by point in plain Python: quick for tiny sizes, empty domains included.

A second oracle beside ``evaluate.py``: no JAX, no arrays of values, so hundreds of kernels take seconds. Selects
evaluate both arms and domains are run over their whole box, as emitted code does; a read that leaves its array and is
not marked safe is noted in ``Points.left`` and gives NaN.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kraise.ir import equations as eq
from kraise.ir.operations import OPERATIONS
from kraise.ir.walk import free_indices, substitute
from kraise.verify import special

Where = Mapping[str, int]
_CODE: dict[str, Any] = {}
_COMBINE: dict[str, Any] = {
    "": lambda a, b: b,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "min": lambda a, b: b if b < a or b != b else a,
    "max": lambda a, b: b if b > a or b != b else a,
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def neutral(op: str, like: eq.Expr) -> Any:
    """What a reduction over nothing gives."""
    if op in ("min", "max"):
        return math.inf if op == "min" else -math.inf
    return {"add": 0, "mul": 1, "and": True, "or": False, "and_": -1, "or_": 0, "xor": 0}[op]


def apply(name: str, args: list[Any]) -> Any:
    """One operation by the reference of the table."""
    if name == "select":
        return args[1] if args[0] else args[2]
    if name not in _CODE:
        _CODE[name] = compile(OPERATIONS[name].reference, name, "eval")
    names = dict(zip("xyz", args, strict=False)) | {"np": np, "special": special}
    with np.errstate(all="ignore"):
        try:
            return eval(_CODE[name], names)
        except ZeroDivisionError:
            return math.nan


class Points:
    """One run of a kernel."""

    def __init__(self, kernel: eq.Kernel, arguments: Mapping[str, Any]) -> None:
        self.kernel = kernel
        self.arguments = dict(arguments)
        self.arrays: dict[eq.Version, np.ndarray] = {}
        self.carried: dict[tuple[str, str], dict[tuple[int, ...], Any]] = {}
        self.results: dict[tuple[str, str], dict[tuple[int, ...], Any]] = {}
        self.memo: dict[Any, Any] = {}
        self.left: list[eq.Expr] = []
        self.outside: list[eq.Write] = []

    def run(self) -> tuple[Any, ...]:
        """What the kernel returns."""
        self.statements(self.kernel.body, {})
        self.memo = {}
        return tuple(self.array(r) if isinstance(r, eq.Version) else self.value(r, {}) for r in self.kernel.returns)

    def array(self, version: eq.Version) -> np.ndarray:
        return self.arrays[version] if version in self.arrays else np.asarray(self.arguments[version.array])

    def statements(self, body: tuple[eq.Stmt, ...], at: Where) -> None:
        for s in body:
            self.memo = {}
            match s:
                case eq.Write():
                    self.arrays[s.after] = self.write(s, at)
                case eq.New():
                    shape = tuple(int(self.value(e, at)) for e in s.shape)
                    fill = 0 if s.fill is None else self.value(s.fill, at)
                    self.arrays[s.version] = np.full([max(n, 0) for n in shape], fill, self.dtype(s))
                case eq.Fold():
                    self.fold(s, at)

    def dtype(self, s: eq.New) -> Any:
        if s.element.kind == "number":
            return np.asarray(self.arguments[s.like]).dtype
        return {"float": np.float64, "bool": np.bool_}.get(s.element.kind, np.int64)

    def points(self, axes: tuple[eq.Axis, ...], at: Where) -> Iterator[dict[str, int]]:
        spans = [range(int(self.value(a.lo, at)), int(self.value(a.hi, at)), a.step) for a in axes]
        for values in itertools.product(*spans):
            yield {**at, **dict(zip((a.name for a in axes), values, strict=True))}

    def write(self, w: eq.Write, at: Where) -> np.ndarray:
        y = self.array(w.before)
        out = y.copy()
        flat = out.reshape(-1)
        written: dict[int, Any] = {}
        if w.where is not None and not free_indices(w.where) and not self.value(w.where, at):
            return out  # all of it or nothing, as sizes decide: what is loaded is not looked at
        for p in self.points(w.axes, at):
            value = self.value(w.value, p)
            if w.where is not None and not self.value(w.where, p):
                continue
            cell = self.cell(w.subscripts, w.view, y.shape, p, False)
            if cell is None:  # a cell that no round writes: dropped
                self.outside.append(w)
                continue
            if not w.accumulate:
                assert written.get(cell, value) == value, f"{w} is not injective at {p}"
                written[cell] = value
            flat[cell] = _COMBINE[w.accumulate](flat[cell], value)
        if w.covers:
            assert len(written) == flat.size, f"{w} does not cover"
        return out

    def cell(
        self, subscripts: tuple[eq.Expr, ...], view: tuple[eq.Expr, ...], shape: tuple[int, ...], p: Where, safe: bool
    ) -> int | None:
        """The row-major position, None outside."""
        index = 0
        size = math.prod(shape)
        if view:
            radices = [int(self.value(r, p)) for r in view[1:]]
            rows = -(-size // math.prod(radices)) if math.prod(radices) else 0  # the last one may be short
            shape = (rows, *radices)
        assert len(subscripts) == len(shape)
        for e, extent in zip(subscripts, shape, strict=True):
            s = self.value(e, p)
            s = int(s) if s == s else -1
            if safe and extent:
                s = min(max(s, 0), extent - 1)
            if not 0 <= s < extent:
                return None
            index = index * extent + s
        return min(index, size - 1) if safe else index if index < size else None

    def fold(self, f: eq.Fold, at: Where) -> None:
        left = len(self.left)
        state = [self.over(s.init, s.axes, at) for s in f.scalars]
        for a in f.arrays:
            self.arrays[a.entry] = self.array(a.outside)
        stacked: dict[str, dict[tuple[int, ...], Any]] = {o.name: {} for o in f.outputs}
        rounds: Any = range(10_000)
        if f.axis is not None:
            rounds = range(int(self.value(f.axis.lo, at)), int(self.value(f.axis.hi, at)), f.axis.step)
            if not rounds:  # what it starts from is not used: the emitted function returns early (tests/emit)
                del self.left[left:]
            rounds = reversed(rounds) if f.reverse else rounds
        for t in rounds:
            self.memo = {}
            here = at if f.axis is None else {**at, f.axis.name: t}
            for s, value in zip(f.scalars, state, strict=True):
                self.carried[f.name, s.name] = value
            if f.condition is not None and not self.value(f.condition, here):
                break
            self.statements(f.body, here)
            self.memo = {}
            for o in f.outputs:
                stacked[o.name] |= {(*q, t): v for q, v in self.over(o.value, o.axes, here).items()}
            state = [self.over(s.update, s.axes, here) for s in f.scalars]
            for a in f.arrays:
                self.arrays[a.entry] = self.array(a.exit)
        self.memo = {}
        for a in f.arrays:
            self.arrays[a.result] = self.array(a.entry)
        for s, value in zip(f.scalars, state, strict=True):
            self.results[f.name, s.name] = value
        for name, values in stacked.items():
            self.results[f.name, name] = values

    def over(self, e: eq.Expr, axes: tuple[eq.Axis, ...], at: Where) -> dict[tuple[int, ...], Any]:
        return {tuple(p[a.name] for a in axes): self.value(e, p) for p in self.points(axes, at)}

    def value(self, e: eq.Expr, p: Where) -> Any:
        names = free_indices(e)
        key = (e, tuple(p[n] for n in sorted(names))) if names else e
        if key not in self.memo:
            self.memo[key] = self.compute(e, p)
        return self.memo[key]

    def compute(self, e: eq.Expr, p: Where) -> Any:
        match e:
            case eq.Const(value=value):
                return value
            case eq.Param(name=name):
                return self.arguments[name]
            case eq.Shape(array=array, axis=axis):
                return np.shape(self.arguments[array])[axis]
            case eq.Index(name=name):
                return p[name]
            case eq.Op(name=name, args=args):
                return apply(name, [self.value(a, p) for a in args])
            case eq.Cast(type=type, arg=arg):
                v = self.value(arg, p)
                if type.kind in ("float", "bfloat"):
                    return float(v)
                return v if type.kind not in ("int", "bool") else bool(v) if type.kind == "bool" else int(v)
            case eq.Read():
                y = self.array(e.version)
                cell = self.cell(e.subscripts, e.view, y.shape, p, e.safe)
                if cell is None:
                    if not e.safe:
                        self.left.append(e)
                    return math.nan if y.dtype.kind == "f" else -1234567
                return y.reshape(-1)[cell].item()
            case eq.Reduce(op=op, axes=axes, body=body, where=where):
                total = neutral(op, body)
                for q in self.points(axes, p):
                    v = self.value(body, q)
                    if where is None or self.value(where, q):
                        total = _COMBINE[op](total, v)
                return total
            case eq.ArgReduce():
                return self.argreduce(e, p)
            case eq.Scan():
                return self.scan(e, p)
            case eq.CarryIn(fold=fold, name=name):
                return self.carried[fold, name][tuple(p[a.name] for a in e.axes)]
            case eq.FoldResult(fold=fold, name=name):
                return self.results[fold, name][tuple(p[a.name] for a in e.axes)]
            case eq.HelperCall(function=function, args=args):
                (helper,) = (h for h in self.kernel.helpers if h.name == function)
                mapping: dict[eq.Expr, eq.Expr] = {
                    eq.Param(q.name, q.type): a for q, a in zip(helper.params, args, strict=True)
                }
                return self.value(substitute(helper.body[0], mapping), p)
        raise AssertionError(e)

    def argreduce(self, e: eq.ArgReduce, p: Where) -> int:
        found: tuple[Any, int] | None = None
        for q in self.points((e.axis,), p):
            v = self.value(e.body, q)
            if e.where is not None and not self.value(e.where, q):
                continue
            better = found is None or (v < found[0] if e.op == "min" else v > found[0])
            if better or (e.last and found is not None and v == found[0]):
                found = (v, q[e.axis.name])
        return int(self.value(e.axis.lo, p)) if found is None else found[1]

    def scan(self, e: eq.Scan, p: Where) -> Any:
        here = p[e.axis.name]
        state = self.value(e.init, p)
        steps = list(range(int(self.value(e.axis.lo, p)), int(self.value(e.axis.hi, p)), e.axis.step))
        for t in reversed(steps) if e.reverse else steps:
            q = {**p, e.axis.name: t}
            if e.op != "linear" and e.other is not None and self.value(e.other, q):
                state = self.value(e.init, q)
            if t == here and not e.inclusive:
                return state
            v = self.value(e.body, q)
            state = v * state + self.value(e.other, q) if e.op == "linear" else _COMBINE[e.op](state, v)
            if t == here:
                return state
        self.left.append(e)
        return math.nan


def run(kernel: eq.Kernel, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the kernel returns for the arguments."""
    return Points(kernel, arguments).run()
