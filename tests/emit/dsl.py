"""Constructors for hand-built equations, and a runner for the text that they emit to."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from kraise.diagnostics import Span  # noqa: E402
from kraise.emit import emit_module  # noqa: E402
from kraise.ir import equations as eq  # noqa: E402
from kraise.ir import kernel as k  # noqa: E402
from kraise.ir.types import BOOL, FLOAT, INT, INT32, NUMBER, ArrayType, ScalarType  # noqa: E402

INFIX = {"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv", "%": "mod", "**": "pow"}
COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


def c(value, type=None):
    """A constant."""
    if isinstance(value, bool):
        return eq.Const(value, type or BOOL)
    if isinstance(value, int | float):
        return eq.Const(value, type or (INT if isinstance(value, int) else FLOAT))
    return value


def p(name, type=INT):
    """A parameter's value."""
    return eq.Param(name, type)


def ix(name, type=INT):
    """An index's value."""
    return eq.Index(name, type)


def shape(array, axis=0):
    """An extent."""
    return eq.Shape(array, axis, INT32)


def ax(name, hi, lo=0, step=1):
    """An axis."""
    return eq.Axis(name, c(lo), c(hi), step)


def op(name, *args, type=None):
    """An operation (by name or symbol); its type is guessed from the operands."""
    args = tuple(c(a) for a in args)
    name = INFIX.get(name, COMPARE.get(name, name))
    if type is None:
        if name in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"):
            type = BOOL
        else:
            rest = args[1:] if name == "select" else args
            kinds = [a.type for a in rest]
            type = next((t for t in kinds if t.kind == "number"), None)
            type = type or next((t for t in kinds if t.is_inexact), None) or kinds[0]
    return eq.Op(name, args, type)


def add(a, b):
    """a + b."""
    return op("+", a, b)


def sub(a, b):
    """a - b."""
    return op("-", a, b)


def mul(*args):
    """The product of all, from the left."""
    out = c(args[0])
    for a in args[1:]:
        out = op("*", out, a)
    return out


def where(condition, a, b):
    """select."""
    return op("select", condition, a, b)


def rd(array, *subscripts, v=0, type=NUMBER, view=(), safe=False):
    """A load."""
    version = eq.Version(array, v) if isinstance(array, str) else array
    return eq.Read(version, tuple(c(s) for s in subscripts), type, tuple(c(e) for e in view), safe)


def red(operator, axes, body, where=None, type=None):
    """A reduction."""
    axes = axes if isinstance(axes, tuple) else (axes,)
    return eq.Reduce(operator, axes, c(body), where, type or c(body).type)


def wr(array, axes, subscripts, value, *, before=0, after=None, line=1, **options):
    """A store."""
    after = before + 1 if after is None else after
    options.setdefault("span", Span("test.py", line))
    if "view" in options:
        options["view"] = tuple(c(e) for e in options["view"])
    subscripts = subscripts if isinstance(subscripts, tuple) else (subscripts,)
    return eq.Write(
        eq.Version(array, before),
        eq.Version(array, after),
        axes if isinstance(axes, tuple) else (axes,),
        tuple(c(s) for s in subscripts),
        c(value),
        **options,
    )


def arr(name, ndim=1, element=NUMBER):
    """An array parameter."""
    return k.Param(name, ArrayType(element, ndim))


def sc(name, type=INT):
    """A scalar parameter."""
    return k.Param(name, type)


def kern(name, params, body, returns, names=(), **options):
    """A kernel; ``returns`` are versions as (array, number), names (expression, name) pairs."""
    versions = tuple(eq.Version(*r) if isinstance(r, tuple) else r for r in returns)
    pairs = tuple(eq.Name(e, n, Span("test.py", 1)) for e, n in names)
    return eq.Kernel(name, tuple(params), tuple(body), versions, pairs, **options)


def text_of(*kernels, **options):
    """The emitted text."""
    return emit_module(eq.Module("test.py", "python", tuple(kernels), **options))


def load(text, name="kraise_emitted"):
    """The namespace of an emitted module."""
    space: dict = {"__name__": name}
    exec(compile(text, f"<{name}>", "exec"), space)
    return space


EMITTED: dict[str, str] = {}


def build(*kernels, **options):
    """The functions of the kernels (one: the function itself); the text is kept for the format test."""
    text = text_of(*kernels, **options)
    EMITTED[kernels[0].name] = text
    space = load(text)
    check_format(text)
    return space[kernels[0].name] if len(kernels) == 1 else space


@cache
def ruff() -> str:
    """The path of ruff."""
    return str(Path(sys.executable).parent / "ruff")


def check_format(text: str) -> None:
    """Asserts that ``ruff format`` and ``ruff check`` have nothing to say."""
    formatted = subprocess.run([ruff(), "format", "--isolated", "-"], input=text, capture_output=True, text=True)
    assert formatted.returncode == 0, formatted.stderr + text
    assert formatted.stdout == text, f"not as ruff formats it:\n{text}\n--- ruff:\n{formatted.stdout}"
    checked = subprocess.run(
        [ruff(), "check", "--isolated", "--select", "E4,E7,E9,F,I", "-"], input=text, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + text


def code(text: str) -> str:
    """The text without docstrings and marks, for assertions on form."""
    return re.sub(r'"""[\s\S]*?"""', "", re.sub(r"  # test\.py:\d+", "", text))


__all__ = ["FLOAT", "INT", "INT32", "NUMBER", "ScalarType"]
