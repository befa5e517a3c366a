"""Random Python kernels, the same for the same seed, with arguments on which they mean something."""

from __future__ import annotations

import ast
import math
import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kraise.verify.cases import Case
from tests.fuzz.blocks import Blocks
from tests.fuzz.scope import Array, Index, Scope
from tests.fuzz.statements import indented

DIMS = ("n", "m", "k")
SIZES = (3, 4, 5, 6, 7)
ODD_SIZES = (0, 1, 2, 3, 5)


@dataclass(frozen=True)
class Arg:
    """One parameter: an array's axes (dimension names) and contents, or a scalar (``dims`` None)."""

    name: str
    dims: tuple[str, ...] | None
    kind: str
    extra: int = 0
    into: str = ""
    flat: bool = False
    dtype: str = ""  # of an integer array, where it is not int32
    within: str = ""
    after: str = ""
    count: bool = False
    members: tuple[Arg, ...] = ()  # of a struct
    low: int = -6  # of an integer array's elements
    high: int = 9


@dataclass(frozen=True)
class Kernel:
    """One generated function: its name, parameters, and its threads' dimensions (x first; () for a plain function)."""

    name: str
    args: tuple[Arg, ...]
    threads: tuple[str, ...]
    block: int | tuple[int, ...] = 0  # the threads of a block, where the kernel says so
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()  # what extents are drawn from, where not from SIZES
    grid: tuple[int, ...] = ()  # the blocks, where they need not cover the threads' dimensions

    def case(self, seed: int, variant: int, smooth: bool = False) -> Case:
        """Arguments: other sizes and values for each variant; odd variants take sizes of 1 and 2, and of 0.

        ``smooth``: no values on a grid, where abs and comparisons have no one derivative.
        """
        rng = random.Random(seed * 7 + variant)
        sizes = {d: rng.choice(ODD_SIZES if variant % 2 else SIZES) for d in DIMS}
        if variant % 2 and rng.random() < 0.6:
            sizes = {d: max(size, 1) for d, size in sizes.items()}
        sizes |= {d: rng.choice(among) for d, among in self.sizes}
        draw = np.random.default_rng([seed, variant])
        dtype = np.float64 if seed % 3 == 0 else np.float32
        quantised = rng.random() < 0.25 and not smooth
        args: dict[str, Any] = {}
        for a in self.args:
            args[a.name] = None if a.after else _value(a, sizes, draw, dtype, quantised)
        for a in self.args:
            if a.after:
                args[a.name] = _above(args[a.after], sizes[a.within], draw, a.count).astype(a.dtype or np.int32)
        grid = block = None
        if self.threads:
            block = tuple(rng.choice((2, 3, 4)) for _ in self.threads)
            if self.block:
                block = (self.block,) if isinstance(self.block, int) else self.block
            counts = [math.prod(sizes[x] for x in d.split("*")) for d in self.threads]
            wide = block if len(block) == len(counts) else (math.prod(block),)
            grid = self.grid or tuple(max(1, -(-n // b)) for n, b in zip(counts, wide, strict=True))
        return Case(self.name, args, grid, block, seed=variant)


def _above(low: np.ndarray, size: int, draw: np.random.Generator, count: bool) -> np.ndarray:
    """Ends of ranges that start at ``low`` within ``size`` elements; how long they are (``count``)."""
    ends = np.array([draw.integers(start, max(size, start) + 1) for start in low], np.int32).reshape(low.shape)
    return ends - low if count else ends


def _value(a: Arg, sizes: dict[str, int], draw: np.random.Generator, dtype: Any, quantised: bool) -> Any:
    if a.members:
        return {m.name: _value(m, sizes, draw, dtype, quantised) for m in a.members}
    if a.dims is None:
        if a.dtype:
            return np.dtype(a.dtype).type(draw.integers(a.low, a.high))
        if a.name in sizes:
            return sizes[a.name]
        return float(np.round(draw.uniform(-1.2, 1.2), 2)) if a.kind == "f" else int(draw.integers(0, 4))
    shape = [sizes[d] for d in a.dims]
    if shape:
        shape[0] += a.extra
    if a.flat:
        shape = [int(np.prod(shape))]
    if a.kind == "b":
        return draw.integers(0, 2, shape).astype(bool)
    if a.within:
        return np.sort(draw.integers(0, sizes[a.within] + 1, shape)).astype(a.dtype or np.int32)
    if a.kind == "i":
        low, high = (0, sizes[a.into]) if a.into else (a.low, a.high)
        values = draw.integers(low, max(high, low + 1), shape)
        return (np.abs(values) if a.dtype.startswith("u") else values).astype(a.dtype or np.int32)
    values = draw.uniform(-1.5, 1.5, shape)
    if quantised:
        values = np.round(values * 2) / 2
    return values.astype(dtype)


@dataclass(frozen=True)
class Program:
    """One source file and its kernels."""

    source: str
    kernels: tuple[Kernel, ...]
    seed: int
    file: str = "fuzz.py"


class Writer(Blocks):
    """Writes one kernel."""

    statements = 4  # of a thread, at most

    def __init__(self, rng: random.Random, name: str, helpers: list[tuple[str, int]], c: bool = False):
        self.rng, self.name, self.helpers, self.c = rng, name, helpers, c  # c: what CUDA C has a spelling for
        self.sequential = self.atomics = self.may_return = False
        self.dims = list(DIMS[: rng.choice((1, 2, 2, 3))])
        self.arrays: list[Array] = []
        self.float_scalars = ["alpha"] if self.chance(0.5) else []
        self.int_scalars = ["off"] if self.chance(0.3) else []
        self.spelled: dict[str, str] = {}
        self.ragged = False

    def spelling(self, dim: str) -> str:
        return self.spelled[dim]

    def inputs(self) -> None:
        for name in ("x", "y", "z")[: self.rng.randint(1, 3)]:
            dims = tuple(self.rng.choice(self.dims) for _ in range(self.pick(1, 1, 2, 2, 3)))
            flat = len(dims) > 1 and (self.c or self.chance(0.1))
            self.arrays.append(Array(name, dims, self.pick("f", "f", "f", "i"), flat=flat))
        if self.chance(0.3):
            self.arrays.append(
                Array("idx", (self.rng.choice(self.dims),), "i", role="index", into=self.rng.choice(self.dims))
            )

        if self.ragged:
            row, flat = self.rng.choice(self.dims), self.rng.choice(self.dims)
            self.arrays.append(Array("ptr", (row,), "i", role="ptr", within=flat, extra=1))
            self.arrays.append(Array("vals", (flat,)))

    def outputs(self, prefix: tuple[str, ...]) -> None:
        """Arrays to write whose leading axes are ``prefix`` (perhaps in another order)."""
        for name in ("out", "res", "b")[: self.pick(1, 1, 2, 3)]:
            lead = list(prefix)
            if len(lead) > 1 and self.chance(0.3):
                self.rng.shuffle(lead)
            more = [self.rng.choice(self.dims) for _ in range(self.pick(0, 0, 1))]
            if not lead and not more:
                more = [self.rng.choice(self.dims)]
            dims = (*lead, *more)
            kind = self.pick("f", "f", "f", "f", "i", "b")
            flat = len(dims) > 1 and (self.c or self.chance(0.15))
            self.arrays.append(Array(name, dims, kind, role="out", flat=flat))
        if self.chance(0.2):
            self.arrays.append(Array("hist", (self.rng.choice(self.dims),), self.pick("f", "i"), role="hist"))

    def spell(self) -> list[str]:
        """How each dimension's extent is written; lines that define it."""
        lines: list[str] = []
        for dim in self.dims:
            shaped = [(a, axis) for a in self.arrays for axis, d in enumerate(a.dims) if d == dim and not a.flat]
            shaped = [(a, axis) for a, axis in shaped if not a.extra]
            if not shaped or self.c or self.chance(0.3):
                self.spelled[dim] = dim
                continue
            a, axis = self.rng.choice(shaped)
            text = f"{a.name}.shape[{axis}]"
            if len(a.dims) == 1:
                text = self.pick(text, f"len({a.name})", f"{a.name}.size")
            if self.chance(0.5):
                local = {"n": "rows", "m": "cols", "k": "depth"}[dim]
                lines.append(f"{local} = {text}")
                text = local
            self.spelled[dim] = text
        return lines

    def params(self) -> tuple[Arg, ...]:
        args = [
            Arg(a.name, a.dims, a.kind, a.extra, a.into, a.flat, self.width(a), a.within, a.after, a.count)
            for a in self.arrays
        ]
        self.rng.shuffle(args)
        sizes = [Arg(d, None, "i") for d in self.dims if self.spelled[d] == d]
        rest = [Arg(s, None, "f") for s in self.float_scalars] + [Arg(s, None, "i") for s in self.int_scalars]
        return tuple(sizes + args + rest) if self.chance(0.5) else tuple(args + sizes + rest)

    def width(self, a: Array) -> str:
        """The dtype of an integer array of CUDA C: mostly int."""
        if not self.c or a.kind != "i" or a.role in ("hist", "index") or self.chance(0.6):
            return ""
        return self.pick("uint32", "int16", "uint8", "int64")

    def finish(
        self, args: tuple[Arg, ...], decorator: str, body: list[str], threads: tuple[str, ...]
    ) -> tuple[list[str], Kernel]:
        """The function with the parameters that it uses."""
        nodes = list(ast.walk(ast.parse("\n".join(["def f():", *indented(body)]))))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        args = tuple(a for a in args if a.name in used)
        seen = {n.value.id for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)}
        for a in args:
            if a.dims is not None and a.name not in seen:  # only its extents are asked for: say how many axes
                axes = 1 if a.flat else len(a.dims)
                body = [f"{', '.join(f'_{n}' for n in range(axes))}{',' if axes == 1 else ''} = {a.name}.shape", *body]
        head = f"def {self.name}({', '.join(a.name for a in args)}):"
        lines = [*([decorator] if decorator else []), head, *indented(body)]
        return lines, Kernel(self.name, args, threads)

    # --- kernels ---

    def cuda(self) -> tuple[list[str], Kernel]:
        """A kernel of numba.cuda: one to three thread indices, guarded."""
        count = self.pick(1, 1, 1, 2, 2, 3)
        threads = tuple(self.rng.choice(self.dims) for _ in range(count))
        names = ("i", "jx", "ky")[:count]
        self.atomics = True
        self.inputs()
        self.outputs(())
        self.arrays = [a for a in self.arrays if a.role != "out"]
        self.outputs_of_threads(threads, names)
        lines = self.spell()
        args = self.params()
        scope = Scope([Index(x, d) for x, d in zip(names, threads, strict=True)])
        lines += self.thread_indices(names)
        style = self.rng.random()
        body_count = self.rng.randint(1, self.statements)
        guards = [f"{x} < {self.spelled[d]}" for x, d in zip(names, threads, strict=True)]
        away = [f"{x} >= {self.spelled[d]}" for x, d in zip(names, threads, strict=True)]
        if count == 1 and style < 0.15:
            lines = [x for x in lines if not x.startswith("i = ")]
            lines += [f"for i in range(cuda.grid(1), {self.spelled[threads[0]]}, cuda.gridsize(1)):"]
            lines += indented(self.body(scope.inner(loop=True), body_count))
        elif style < 0.4:
            self.may_return = True
            lines += [f"if {' or '.join(away)}:", "    return", *self.body(scope, body_count)]
        elif style < 0.6:
            inner = self.body(scope, body_count)
            for g in reversed(guards):
                inner = [f"if {g}:", *indented(inner)]
            lines += inner
        else:
            if self.chance(0.2):
                guards = [f"0 <= {g}" for g in guards]
            if self.chance(0.25):  # the guard leaves a margin: shifted reads
                scope = Scope([Index(x.name, x.dim, 1, 1) for x in scope.indices])
                guards = [
                    self.pick(f"0 < {x} < {self.spelled[d]} - 1", f"{x} >= 1 and {x} < {self.spelled[d]} - 1")
                    for x, d in zip(names, threads, strict=True)
                ]
            lines += [f"if {' and '.join(guards)}:", *indented(self.body(scope, body_count))]
        decorator = self.pick("@cuda.jit", "@cuda.jit", "@cuda.jit()")
        return self.finish(args, decorator, lines, threads)

    def shared(self, real: str) -> tuple[list[str], Kernel]:
        """A kernel whose blocks share a tile."""
        self.size = self.pick(4, 8)
        self.atomics = True
        dim = self.rng.choice(self.dims)
        self.inputs()
        self.outputs_of_threads((dim,), ("i",))
        lines = [*self.spell(), *self.thread_indices(("i",))]
        args = self.params()
        more, scope = self.together(dim, real)
        inner = Scope([Index("i", dim)], floats=scope.floats)
        lines += [*more, f"if i < {self.spelled[dim]}:", *indented(self.body(inner, self.pick(0, 1, 1, 2)))]
        text, kernel = self.finish(args, "@cuda.jit", lines, (dim,))
        return text, replace(kernel, block=self.size)

    def outputs_of_threads(self, threads: tuple[str, ...], names: tuple[str, ...]) -> None:
        for name in ("out", "res", "b")[: self.pick(1, 1, 2, 3)]:
            order = list(range(len(threads)))
            if len(order) > 1 and self.chance(0.35):
                self.rng.shuffle(order)
            more = tuple(self.rng.choice(self.dims) for _ in range(self.pick(0, 0, 1)))
            dims = (*(threads[n] for n in order), *more)
            kind = self.pick("f", "f", "f", "f", "i", "b")
            flat = len(dims) > 1 and (self.c or self.chance(0.15))
            own = tuple(names[n] for n in order)
            self.arrays.append(Array(name, dims, kind, role="out", own=own, flat=flat, writable=True))

    def body(self, scope: Scope, count: int) -> list[str]:
        """Statements that end in a store."""
        return [*self.block(scope, count), *self.store(scope)]

    def thread_indices(self, names: tuple[str, ...]) -> list[str]:
        if len(names) > 1 and self.chance(0.6):
            return [f"{', '.join(names)} = cuda.grid({len(names)})"]
        if len(names) == 1 and self.chance(0.6):
            return [f"{names[0]} = cuda.grid(1)"]
        return [
            self.pick(
                f"{x} = cuda.blockIdx.{c} * cuda.blockDim.{c} + cuda.threadIdx.{c}",
                f"{x} = cuda.threadIdx.{c} + cuda.blockDim.{c} * cuda.blockIdx.{c}",
            )
            for x, c in zip(names, "xyz", strict=False)
        ]

    def plain(self) -> tuple[list[str], Kernel]:
        """A plain function: nests of loops one after another, some within a sequential loop; perhaps a result."""
        self.inputs()
        self.outputs(())
        lines = self.spell()
        args = self.params()
        scope = Scope()
        for _ in range(self.pick(1, 1, 2, 3)):
            way = self.rng.random()
            if way < 0.2:
                lines += self.reduction(scope)
            elif way < 0.4:
                body: list[str] = []
                inner = scope.inner()
                for _ in range(self.pick(1, 2)):
                    body += self.nest(inner)
                lines += [f"for _ in range({self.pick('2', '3', self.spelled[self.dims[0]])}):", *indented(body)]
            else:
                lines += self.nest(scope)
        result = [*(a.name for a in self.arrays if a.role == "out"), *scope.floats]
        if result and self.chance(0.35):
            lines.append(f"return {self.rng.choice(result)}")
        return self.finish(args, self.pick("", "@njit"), lines, ())

    def nest(self, scope: Scope) -> list[str]:
        """A nest that writes one or two arrays; with luck its rounds are independent."""
        outs = [a for a in self.arrays if a.role == "out"]
        chosen = self.rng.sample(outs, min(len(outs), self.pick(1, 1, 2)))
        free = self.chance(0.25)  # any order of writes and reads
        heads: list[str] = []
        inner = scope
        names: dict[str, list[Index]] = {}
        first = chosen[0]
        lead = first.dims if self.chance(0.8) else first.dims[:1]
        for dim in lead:
            kept, self.dims = self.dims, [dim]
            head, index = self.range(inner)
            self.dims = kept
            heads.append(head)
            names.setdefault(dim, []).append(index)
            inner = inner.inner(index, loop=True)
        for a in chosen:
            a.writable = True
            if free:
                continue
            pool = {d: list(v) for d, v in names.items()}
            own = []
            for dim in a.dims:
                if not pool.get(dim):
                    break
                own.append(pool[dim].pop(0).name)
            a.own = tuple(own)
        inner.depth = scope.depth + 1
        text = self.body(inner, self.rng.randint(0, 2))
        for a in chosen:
            a.writable, a.own = False, ()
        for head in reversed(heads):
            text = [head, *indented(text)]
        return text


def helpers(rng: random.Random, c: bool = False) -> tuple[list[str], list[tuple[str, int]]]:
    """Device functions with branches, and their arities."""
    lines: list[str] = []
    known: list[tuple[str, int]] = []
    for name in ("soft", "blend")[: rng.choice((0, 0, 1, 2))]:
        w = Writer(rng, name, list(known), c)
        w.dims, w.float_scalars, w.int_scalars = ["n"], [], []
        w.spelled = {"n": "3"}
        params = ["a", "b0"][: rng.choice((1, 2))]
        scope = Scope(floats=list(params))
        body: list[str] = w.define(scope) if rng.random() < 0.5 else []
        way = rng.random()
        if way < 0.4:
            body += [f"if {w.condition(scope)}:", f"    return {w.float(scope, 2)}"]
        elif way < 0.6:
            body += w.branch(scope)
        body.append(f"return {w.float(scope, 2)}")
        lines += ["@cuda.jit(device=True)", f"def {name}({', '.join(params)}):", *indented(body), "", ""]
        known.append((name, len(params)))
    return lines, known


def generate(seed: int, c: bool = False, small: bool = False, draws: random.Random | None = None) -> Program:
    """The program of a seed, or of the ``draws`` (hypothesis's, which can be shrunk); ``c``: one that
    :mod:`tests.fuzz.cuda_c` can spell; ``small``: short statements, few."""
    rng = draws or random.Random(seed)
    lines = ["import math", "", "from numba import cuda, float32, float64, njit", "", ""]
    more, known = helpers(rng, c)
    lines += more
    kernels: list[Kernel] = []
    for n in range(rng.choice((1, 1, 2, 3))):
        writer = Writer(rng, f"f{n}", known, c)
        if small:
            writer.deepest, writer.nesting, writer.statements = 1, 2, 2
        writer.ragged = not c and (draws or random.Random(1000 * seed + n)).random() < 0.15
        if (draws or random.Random(2000 * seed + n)).random() < 0.2:
            text, kernel = writer.shared("float64" if seed % 3 == 0 else "float32")
            lines += [*text, "", ""]
            kernels.append(kernel)
            continue
        text, kernel = writer.cuda() if rng.random() < 0.6 or c else writer.plain()
        lines += [*text, "", ""]
        kernels.append(kernel)
    return Program("\n".join(lines).rstrip() + "\n", tuple(kernels), seed)
