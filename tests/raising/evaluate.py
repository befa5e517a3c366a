"""What equations mean, by brute force: every value over the whole box of its indices, in jax.numpy.

An oracle for tests: slow, and of another build than the emitter (no slices, no layout: index arrays everywhere). It can
be differentiated. A read outside an array gives NaN unless the read is marked safe.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise.ir import equations as eq
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import BY_NAME, ScalarType
from kraise.ir.walk import substitute

_REDUCE: dict[str, Any] = {
    "add": jnp.sum, "mul": jnp.prod, "min": jnp.min, "max": jnp.max, "and": jnp.all, "or": jnp.any,
    "and_": jnp.bitwise_and.reduce, "or_": jnp.bitwise_or.reduce, "xor": jnp.bitwise_xor.reduce,
}  # fmt: skip
_COMBINE: dict[str, Any] = {
    "add": jnp.add, "mul": jnp.multiply, "min": jnp.minimum, "max": jnp.maximum,
    "and": jnp.logical_and, "or": jnp.logical_or,
}  # fmt: skip


def dtype_of(type: ScalarType) -> Any:
    """The JAX dtype of a scalar type, None where it is the argument's."""
    if type.kind == "number":
        return None
    if type in BY_NAME.values():
        return jnp.dtype("bool") if type.kind == "bool" else jnp.dtype(str(type))
    return jnp.dtype({"int": "int64", "float": "float64", "complex": "complex128", "bool": "bool"}[type.kind])


def apply(name: str, args: list[Any]) -> Any:
    """One operation, by the table's own spelling."""
    row = OPERATIONS[name]
    names = {f"x{k}": a for k, a in enumerate(args)} | {"jnp": jnp, "jax": jax}
    if row.infix:
        text = f"x0 {row.infix} x1"
    elif row.prefix:
        text = "jnp.logical_not(x0)" if name == "not" else f"{row.prefix}x0"
    else:
        text = row.jnp.format(*(f"x{k}" for k in range(len(args))))
    return eval(text, names)


def neutral(op: str, dtype: Any) -> Any:
    """The neutral element of a reduction."""
    if op in ("add", "or", "or_", "xor"):
        return 0
    if op == "and_":
        return ~jnp.zeros((), dtype)
    if op in ("mul", "and"):
        return 1
    if jnp.issubdtype(dtype, jnp.floating):
        return jnp.inf if op == "min" else -jnp.inf
    return jnp.iinfo(dtype).max if op == "min" else jnp.iinfo(dtype).min


class Evaluator:
    """One run of a kernel. ``box`` is the ordered tuple of axes whose indices have values, one array axis each."""

    def __init__(self, kernel: eq.Kernel, arguments: dict[str, Any]) -> None:
        self.kernel = kernel
        self.arguments = dict(arguments)
        self.arrays: dict[eq.Version, Any] = {}
        self.carried: dict[tuple[str, str], tuple[tuple[eq.Axis, ...], Any]] = {}
        self.results: dict[tuple[str, str], tuple[tuple[eq.Axis, ...], Any]] = {}
        self.steps: dict[str, int] = {}
        self.memo: dict[Any, Any] = {}

    def run(self) -> tuple[Any, ...]:
        """What the kernel returns."""
        self.statements(self.kernel.body)
        return tuple(self.array(r) if isinstance(r, eq.Version) else self.value(r, ()) for r in self.kernel.returns)

    def array(self, version: eq.Version) -> Any:
        return self.arrays[version] if version in self.arrays else jnp.asarray(self.arguments[version.array])

    # --- statements --------------------------------------------------------------------------

    def statements(self, body: tuple[eq.Stmt, ...]) -> None:
        for stmt in body:
            self.memo = {}
            match stmt:
                case eq.Write():
                    self.arrays[stmt.after] = self.write(stmt)
                case eq.New():
                    shape = tuple(self.integer(e) for e in stmt.shape)
                    dtype = dtype_of(stmt.element) or jnp.asarray(self.arguments[stmt.like]).dtype
                    fill = 0 if stmt.fill is None else self.value(stmt.fill, ())
                    self.arrays[stmt.version] = jnp.broadcast_to(jnp.asarray(fill, dtype), shape)
                case eq.Fold():
                    self.fold(stmt)

    def write(self, w: eq.Write) -> Any:
        y, box = self.array(w.before), w.axes
        if not np.prod(self.shape(box)):
            return y
        shape = tuple(self.integer(e) for e in w.view) or y.shape
        index, inside = self.flat(w.subscripts, shape, box)
        if w.where is not None:
            inside = inside & self.value(w.where, box)
        inside = jnp.broadcast_to(inside, self.shape(box))
        index = jnp.where(inside, index, y.size)
        value = jnp.broadcast_to(jnp.asarray(self.value(w.value, box)).astype(y.dtype), self.shape(box))
        cells = y.ravel().at[index.ravel()]
        if w.accumulate in ("", "add", "mul", "min", "max"):
            method = {"": "set", "mul": "multiply"}.get(w.accumulate, w.accumulate)
            out = getattr(cells, method)(value.ravel(), mode="drop")
        else:
            raise NotImplementedError(w.accumulate)
        return out.reshape(y.shape)

    def fold(self, f: eq.Fold) -> None:
        state = [(s.axes, self.over(s.init, s.axes)) for s in f.scalars]
        for a in f.arrays:
            self.arrays[a.entry] = self.array(a.outside)
        rounds: Any = iter(int, 1)
        if f.axis is not None:
            rounds = range(self.integer(f.axis.lo), self.integer(f.axis.hi), f.axis.step)
            rounds = reversed(rounds) if f.reverse else rounds
        for t in rounds:
            self.memo = {}
            if f.axis is not None:
                self.steps[f.axis.name] = t
            for s, value in zip(f.scalars, state, strict=True):
                self.carried[f.name, s.name] = value
            if f.condition is not None and not bool(self.value(f.condition, ())):
                break
            self.statements(f.body)
            self.memo = {}
            state = [(s.axes, self.over(s.update, s.axes)) for s in f.scalars]
            for a in f.arrays:
                self.arrays[a.entry] = self.array(a.exit)
        self.memo = {}
        for a in f.arrays:
            self.arrays[a.result] = self.array(a.entry)
        for s, value in zip(f.scalars, state, strict=True):
            self.results[f.name, s.name] = value
        if f.axis is not None:
            self.steps.pop(f.axis.name, None)

    # --- expressions -------------------------------------------------------------------------

    def integer(self, e: eq.Expr) -> int:
        return int(self.value(e, ()))

    def shape(self, box: tuple[eq.Axis, ...]) -> tuple[int, ...]:
        return tuple(len(range(self.integer(a.lo), self.integer(a.hi), a.step)) for a in box)

    def over(self, e: eq.Expr, box: tuple[eq.Axis, ...]) -> Any:
        return jnp.broadcast_to(self.value(e, box), self.shape(box))

    def value(self, e: eq.Expr, box: tuple[eq.Axis, ...]) -> Any:
        key = (e, box)
        if key not in self.memo:
            self.memo[key] = self.compute(e, box)
        return self.memo[key]

    def compute(self, e: eq.Expr, box: tuple[eq.Axis, ...]) -> Any:
        match e:
            case eq.Const(value=value):
                return value
            case eq.Param(name=name):
                return self.arguments[name]
            case eq.Shape(array=array, axis=axis):
                return jnp.shape(self.arguments[array])[axis]
            case eq.Index(name=name):
                return self.index(name, box)
            case eq.Op(name=name, args=args):
                return apply(name, [self.value(a, box) for a in args])
            case eq.Cast(type=type, arg=arg):
                dtype = dtype_of(type)
                value = self.value(arg, box)
                return value if dtype is None else jnp.asarray(value).astype(dtype)
            case eq.Read():
                y = self.array(e.version)
                shape = tuple(self.integer(v) for v in e.view) or y.shape
                index, inside = self.flat(e.subscripts, shape, box, e.safe)
                return y.ravel().at[jnp.where(inside, index, y.size)].get(mode="fill", fill_value=self.hole(y.dtype))
            case eq.Reduce():
                return self.reduce(e, box)
            case eq.ArgReduce():
                return self.argreduce(e, box)
            case eq.Scan():
                return self.scan(e, box)
            case eq.CarryIn(fold=fold, name=name):
                return self.stored(*self.carried[fold, name], e.axes, box)
            case eq.FoldResult(fold=fold, name=name):
                return self.stored(*self.results[fold, name], e.axes, box)
            case eq.HelperCall(function=function, args=args):
                (helper,) = (h for h in self.kernel.helpers if h.name == function)
                mapping: dict[eq.Expr, eq.Expr] = {
                    eq.Param(p.name, p.type): a for p, a in zip(helper.params, args, strict=True)
                }
                return self.value(substitute(helper.body[0], mapping), box)
        raise AssertionError(e)

    @staticmethod
    def hole(dtype: Any) -> Any:
        return jnp.nan if jnp.issubdtype(dtype, jnp.inexact) else False if dtype == jnp.bool_ else -1234567

    def index(self, name: str, box: tuple[eq.Axis, ...]) -> Any:
        for k, axis in reversed(tuple(enumerate(box))):  # an inner index hides an outer one of its name
            if axis.name == name:
                values = jnp.arange(self.integer(axis.lo), self.integer(axis.hi), axis.step)
                return values.reshape(tuple(-1 if j == k else 1 for j in range(len(box))))
        return self.steps[name]

    def flat(
        self, subscripts: tuple[eq.Expr, ...], shape: tuple[int, ...], box: tuple[eq.Axis, ...], safe: bool = False
    ) -> tuple[Any, Any]:
        """Row-major positions, and which of them are inside the array."""
        assert len(subscripts) == len(shape), (subscripts, shape)
        index, inside = jnp.asarray(0), jnp.asarray(True)
        for e, extent in zip(subscripts, shape, strict=True):
            s = jnp.asarray(self.value(e, box))
            if safe:
                s = jnp.clip(s, 0, extent - 1)
            index, inside = index * extent + s, inside & (s >= 0) & (s < extent)
        return index, inside

    def stored(self, own: tuple[eq.Axis, ...], y: Any, axes: tuple[eq.Axis, ...], box: tuple[eq.Axis, ...]) -> Any:
        at = []
        for mine, axis in zip(own, axes, strict=True):
            at.append((self.index(axis.name, box) - self.integer(mine.lo)) // mine.step)
        return y[tuple(at)] if at else y

    def reduce(self, e: eq.Reduce, box: tuple[eq.Axis, ...]) -> Any:
        inner = box + e.axes
        full = (1,) * len(box) + self.shape(e.axes)
        body = jnp.asarray(self.value(e.body, inner))
        where = None if e.where is None else self.value(e.where, inner)
        target = jnp.broadcast_shapes(jnp.shape(body), full, () if where is None else jnp.shape(where))
        body = jnp.broadcast_to(body, target)
        if where is not None:
            body = jnp.where(where, body, jnp.asarray(neutral(e.op, body.dtype), body.dtype))
        last = tuple(range(len(box), len(inner)))
        if not all(target[k] for k in last):
            return jnp.full(target[: len(box)], neutral(e.op, body.dtype), body.dtype)
        return _REDUCE[e.op](body, axis=last)

    def argreduce(self, e: eq.ArgReduce, box: tuple[eq.Axis, ...]) -> Any:
        inner = (*box, e.axis)
        index = self.index(e.axis.name, inner)
        body, where = jnp.asarray(self.value(e.body, inner)), True if e.where is None else self.value(e.where, inner)
        target = jnp.broadcast_shapes(body.shape, index.shape, jnp.shape(where))
        body = jnp.where(where, body, jnp.asarray(neutral(e.op, body.dtype), body.dtype))
        best = _REDUCE[e.op](jnp.broadcast_to(body, target), axis=-1, keepdims=True)
        hit = jnp.broadcast_to((body == best) & where, target)
        limit = jnp.iinfo(index.dtype)
        if e.last:
            found = jnp.max(jnp.where(hit, index, limit.min), axis=-1)
        else:
            found = jnp.min(jnp.where(hit, index, limit.max), axis=-1)
        return jnp.where(hit.any(axis=-1), found, self.integer(e.axis.lo))

    def scan(self, e: eq.Scan, box: tuple[eq.Axis, ...]) -> Any:
        (place,) = (k for k, axis in enumerate(box) if axis is e.axis)
        count = self.shape((e.axis,))[0]
        line = tuple(count if k == place else 1 for k in range(len(box)))

        def along(x: Any) -> Any:
            x = jnp.asarray(x)
            return jnp.moveaxis(jnp.broadcast_to(x, jnp.broadcast_shapes(x.shape, line)), place, 0)

        body = along(self.value(e.body, box))
        other = None if e.other is None else along(self.value(e.other, box))
        init = jnp.asarray(self.value(e.init, box))
        state = jnp.moveaxis(init, place, 0)[0] if init.ndim == len(box) and init.ndim else init
        out = []
        for k in reversed(range(count)) if e.reverse else range(count):
            if not e.inclusive:
                out.append(state)
            state = body[k] * state + other[k] if other is not None else _COMBINE[e.op](state, body[k])
            if e.inclusive:
                out.append(state)
        if e.reverse:
            out.reverse()
        return jnp.moveaxis(jnp.stack(jnp.broadcast_arrays(*out)), 0, place)


def evaluate(kernel: eq.Kernel, arguments: dict[str, Any]) -> tuple[Any, ...]:
    """What the kernel returns for the arguments."""
    with jax.enable_x64(True):
        return Evaluator(kernel, arguments).run()


def gradients(kernel: eq.Kernel, arguments: dict[str, Any], weights: tuple[Any, ...]) -> dict[str, Any]:
    """The gradient of the weighted sum of what is returned, for each float argument."""
    with jax.enable_x64(True):
        return _gradients(kernel, arguments, weights)


def _gradients(kernel: eq.Kernel, arguments: dict[str, Any], weights: tuple[Any, ...]) -> dict[str, Any]:
    floats = {n: jnp.asarray(a) for n, a in arguments.items() if np.issubdtype(np.asarray(a).dtype, np.floating)}

    def loss(chosen: dict[str, Any]) -> Any:
        returned = evaluate(kernel, arguments | chosen)
        return sum(jnp.sum(w * r) for w, r in zip(weights, returned, strict=True))

    return jax.grad(loss)(floats)
