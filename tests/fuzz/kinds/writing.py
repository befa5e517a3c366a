"""What the kinds share: a writer of one kernel in Python, spelled in CUDA C where that is asked for."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.fuzz.cuda_c import spelled
from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.scope import Array

HEAD = ["import math", "", "from numba import cuda, float32, float64, int32", "", ""]


def real_of(seed: int) -> str:
    """The floats of a seed's program, as numba says it: the arguments have this type, too."""
    return "float64" if seed % 3 == 0 else "float32"


def draw(kind: str, seed: int, language: str, write: Callable[[Writer, str], tuple[list[str], Kernel]]) -> Program:
    """One kernel that ``write`` writes."""
    writer = Writer(random.Random(f"{kind} {seed}"), "f0", [], language == "cuda_c")
    writer.deepest, writer.nesting, writer.statements = writer.pick(1, 1, 2), 2, 2
    writer.atomics = True
    text, kernel = write(writer, real_of(seed))
    program = Program("\n".join([*HEAD, *text]).rstrip() + "\n", (kernel,), seed)
    return spelled(program) if language == "cuda_c" else program


def output(writer: Writer, name: str, dims: tuple[str, ...], own: tuple[str, ...], kind: str = "f") -> Array:
    """An array of which each thread writes what its ``own`` subscripts name."""
    flat = len(dims) > 1 and writer.c
    array = Array(name, dims, kind, role="out", own=own, flat=flat, writable=True)
    writer.arrays.append(array)
    return array


def finished(
    writer: Writer,
    body: list[str],
    threads: tuple[str, ...],
    block: int | tuple[int, ...],
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = (),
) -> tuple[list[str], Kernel]:
    """The function, launched in such blocks; ``sizes``: what a dimension's extent may be, where not the usual."""
    text, kernel = writer.finish(writer.params(), "@cuda.jit", body, threads)
    return text, replace(kernel, block=block, sizes=sizes)
