"""Raise a small Python kernel, and hold its equations against the reference interpreter on random tiny inputs.

Arguments are made by the first letter of a parameter's name: x y z w floats, v integers, k indices, p a permutation,
A B C square matrices, h twice as many floats, n the size, m one less, q anything up to n, s a scalar. Values are small
integers, so that ties happen and sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from kraise.diagnostics import Refused
from kraise.frontends import python
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.walk import statement_expressions, topological
from kraise.options import Options
from kraise.raising import raise_function
from kraise.verify import interpreter
from kraise.verify.errors import InterpreterError
from tests.raising.pointwise import Points

SIZES = (0, 1, 2, 3, 5)
_HEAD = "from numba import cuda, njit\nimport math\n"


def read(source: str) -> tuple[k.Module, k.Function]:
    """The module, and its last function; ``@cuda.jit`` or ``@njit`` is put before each ``def`` that has none."""
    lines: list[str] = []
    for line in source.strip("\n").splitlines():
        if line.startswith("def ") and not (lines and lines[-1].startswith("@")):
            lines.append("@cuda.jit" if "cuda." in source else "@njit")
        lines.append(line)
    module, problems = python.read(_HEAD + "\n".join(lines) + "\n", "case.py")
    assert not problems, [p.reason for p in problems]
    return module, module.functions[-1]


def raised(source: str, **options: Any) -> eq.Kernel:
    """The equations of the last function of ``source``."""
    module, function = read(source)
    return raise_function(module, function, Options(**options))


def refusal(source: str, **options: Any) -> str:
    """The code of the diagnostic with which ``source`` is refused."""
    with pytest.raises(Refused) as refused:
        raised(source, **options)
    return refused.value.diagnostics[0].code


def agree(source: str, sizes: Iterable[int] = SIZES, least: int = 2, **options: Any) -> eq.Kernel:
    """``raised``, after its values were compared on every size (at least ``least`` runs must mean something)."""
    module, function = read(source)
    kernel = raise_function(module, function, Options(**options))
    rng = np.random.default_rng(7)
    ran = 0
    for n in sizes:
        for _ in range(2):
            arguments = {p.name: _argument(p.name, n, rng) for p in function.params}
            expected = _reference(module, function, arguments)
            if expected is None:
                continue
            ran += 1
            points = Points(kernel, arguments | _launch(function, 2)[1])
            got = points.run()
            assert len(got) == len(expected)
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), err_msg=str(arguments))
            assert n == 0 or not points.left, f"reads outside at n = {n}: {points.left}"
    assert ran >= least, "too few inputs mean anything"
    return kernel


def _argument(name: str, n: int, rng: np.random.Generator) -> Any:
    scalars = {"n": n, "m": max(n - 1, 0), "q": int(rng.integers(0, n + 1)), "s": float(rng.integers(-2, 3))}
    if name in scalars:
        return scalars[name]
    shape = {"A": (n, n), "B": (n, n), "C": (n, n), "h": (2 * n,)}.get(name[0], (n,))
    match name[0]:
        case "k":
            return rng.integers(0, max(n, 1), n).astype(np.int32)
        case "p":
            return rng.permutation(n).astype(np.int32)
        case "v":
            return rng.integers(-3, 4, n).astype(np.int32)
    return rng.integers(-2, 3, shape).astype(np.float64)


def _launch(function: k.Function, dims: int) -> tuple[dict[str, Any], dict[str, int]]:
    """A launch that covers the sizes, for the interpreter and as parameters of equations."""
    if function.kind != "kernel":
        return {}, {"rows": -1}
    grid, block = (2,) * dims, (3,) * dims
    named = {"rows": -1}
    for letter, g, b in zip("xyz", grid, block, strict=False):
        named |= {f"grid.{letter}": g, f"block.{letter}": b, f"threads.{letter}": g * b}
    return {"grid": grid, "block": block}, named


def _reference(module: k.Module, function: k.Function, arguments: dict[str, Any]) -> list[Any] | None:
    try:
        outcome = interpreter.run(module, function.name, arguments, **_launch(function, _dims(function))[0])
    except InterpreterError:
        return None
    assert not outcome.race_count, outcome.races
    return [*outcome.returned, *(outcome.arrays[w] for w in outcome.written if w not in outcome.returned_names)]


def _dims(function: k.Function) -> int:
    from kraise.raising.threads.hardware import hardware

    return max((axis for _, axis in hardware(function.body)), default=0) + 1


# --- what equations look like ----------------------------------------------------------------


def kinds(kernel: eq.Kernel) -> set[str]:
    """The kinds of nodes that tell the form: Fold, Reduce, ArgReduce, Scan."""
    out = {"Fold" for s in statements(kernel.body) if isinstance(s, eq.Fold)}
    roots = [e for s in kernel.body for e in statement_expressions(s)]
    roots += [r for r in kernel.returns if not isinstance(r, eq.Version)]
    wanted = (eq.Reduce, eq.ArgReduce, eq.Scan)
    return out | {type(n).__name__ for n in topological(roots) if isinstance(n, wanted)}


def statements(body: tuple[eq.Stmt, ...]) -> list[eq.Stmt]:
    """All statements, those of folds too."""
    return [t for s in body for t in (s, *(statements(s.body) if isinstance(s, eq.Fold) else ()))]


def text(kernel: eq.Kernel) -> str:
    """The equations on one line."""
    return " ; ".join(line.strip() for line in kernel.equations)


def fold(kernel: eq.Kernel) -> eq.Fold:
    """The first fold."""
    return next(s for s in statements(kernel.body) if isinstance(s, eq.Fold))


def write(kernel: eq.Kernel, at: int = 0) -> eq.Write:
    """The write at a place among all writes."""
    return [s for s in statements(kernel.body) if isinstance(s, eq.Write)][at]
