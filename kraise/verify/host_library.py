"""Library calls and array arithmetic of hosts over numpy: the reference, with derivatives by the row's rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kraise.ir import host as h
from kraise.verify.duals import Dual, dual
from kraise.verify.errors import InterpreterError

_OPERANDS = 6


@dataclass
class Value:
    """A number or an array, with tangents (k, *shape) or None."""

    data: Any
    tangents: np.ndarray | None = None

    @property
    def is_scalar(self) -> bool:
        """Is it a number?"""
        return np.ndim(self.data) == 0


def each(operate: Callable[..., Any], args: list[Value], directions: int) -> Value:
    """A scalar operation, element by element over the broadcast operands."""
    shape = np.broadcast_shapes(*(np.shape(a.data) for a in args))
    if shape == ():
        operands = []
        for a in args:
            number = a.data[()] if isinstance(a.data, np.ndarray) else a.data
            operands.append(number if a.tangents is None else dual(number, np.asarray(a.tangents).reshape(-1)))
        found = operate(*operands)
        return Value(found.value, found.tangents) if type(found) is Dual else Value(found)
    results = []
    data = [np.broadcast_to(a.data, shape) if np.ndim(a.data) else a.data for a in args]
    for where in np.ndindex(*shape):
        operands = []
        for a, d in zip(args, data, strict=True):
            number = d[where] if np.ndim(d) else d
            t = a.tangents
            if t is not None:
                t = np.broadcast_to(t.reshape(t.shape[0], *(1,) * (len(shape) - np.ndim(a.data)), *np.shape(a.data)),
                                    (t.shape[0], *shape))  # fmt: skip
                operands.append(dual(number, t[(slice(None), *where)].copy()))
            else:
                operands.append(number)
        results.append(operate(*operands))
    values = np.array([r.value if type(r) is Dual else r for r in results]).reshape(shape)
    tangents = None
    if directions and values.dtype.kind in "fc":
        rows = [r.tangents if type(r) is Dual else np.zeros(directions) for r in results]
        tangents = np.array(rows).T.reshape(directions, *shape)
    return Value(values, tangents)


@cache
def _reference(text: str) -> Callable[..., Any]:
    """A spelling over numpy: operands ``{0}``, their tangents ``d{0}``, the result ``{y}``."""
    source = re.sub(r"d\{(\d)\}", r"t\1", text)
    source = re.sub(r"\{(\d)\}", r"x\1", source).replace("{y}", "y").replace("jnp.", "np.")
    names = [f"{letter}{n}=None" for letter in "xt" for n in range(_OPERANDS)]
    return eval(
        f"lambda {', '.join(names)}, y=None: {source}",
        {"np": np, "put": put, "added": added, "extreme": extreme, "chosen": chosen},
    )


def put(array: Any, where: Any, value: Any) -> np.ndarray:
    """A copy of an array with other elements in one place."""
    found = np.array(array)
    found[where] = value
    return found


def added(array: Any, where: Any, value: Any) -> np.ndarray:
    """A copy of an array with something added at places that may come twice."""
    found = np.array(array)
    np.add.at(found, where, value)
    return found


def extreme(of: np.ufunc, array: Any, where: Any, value: Any) -> np.ndarray:
    """A copy of an array with the greater (``np.maximum``) or the lesser at places that may come twice."""
    found = np.array(array)
    of.at(found, where, value)
    return found


def chosen(result: Any, array: Any, where: Any, value: Any, t_array: Any, t_value: Any) -> np.ndarray:
    """The tangent of :func:`extreme`: of what was chosen, in equal parts where several are the result, as in JAX."""
    own, given = np.equal(array, result), np.equal(value, result[where])
    many = added(own.astype(float), where, given)
    return added(np.where(own, t_array, 0.0), where, np.where(given, t_value, 0.0)) / np.maximum(many, 1)


def call(e: h.Library, args: list[Value], directions: int) -> Value:
    """A library call and its tangents. Raises InterpreterError for a rule that is not known."""
    reference = _reference(e.numpy or e.jnp)
    data = [a.data[()] if isinstance(a.data, np.ndarray) and not a.data.ndim else a.data for a in args]
    found = reference(*data)
    if not directions or e.derivative == "none" or all(a.tangents is None for a in args):
        return Value(found)

    def tangent(n: int, d: int) -> Any:
        t = args[n].tangents
        return np.zeros(np.shape(data[n])) if t is None else t[d].reshape(np.shape(data[n]))

    rows: list[Any] = []
    for d in range(directions):
        match e.derivative:
            case "linear":
                rows.append(reference(*(tangent(n, d) for n in range(len(args)))))
            case "bilinear":
                rows.append(
                    sum(
                        reference(*(tangent(n, d) if n == m else x for n, x in enumerate(data)))
                        for m in range(len(args))
                    )
                )
            case "select":
                ties = np.asarray(data[0]) == found
                rows.append(np.sum(tangent(0, d) * ties) / np.sum(ties))
            case "norm":
                rows.append(np.sum(np.asarray(data[0]) * tangent(0, d)) / found)
            case "sort":
                rows.append(np.take(tangent(0, d), np.argsort(data[0], kind="stable")))
            case rule if "d{" in rule:
                given = {f"x{n}": x for n, x in enumerate(data)} | {f"t{n}": tangent(n, d) for n in range(len(args))}
                rows.append(_reference(rule)(**given, y=found))
            case rule:
                raise InterpreterError(f"the derivative {rule} of {e.name} is not known", e.span)
    return Value(found, np.array(rows))
