"""What XLA makes of an emitted function: fusions, loops and other kernels of its compiled module, counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType
from kraise.verify.cases import Case
from kraise.verify.load import Emitted, load_module, x64
from kraise.verify.scalars import dtype_of

_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = .*?(?<=\s)([a-z][\w\-]*)\((.*)$")
_CALLED = re.compile(
    r"(?:body|to_apply|true_computation|false_computation)=%?([\w.\-]+)|branch_computations=\{([^}]*)\}"
)
_FREE = frozenset(
    ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "partition-id", "opt-barrier")
)


@dataclass(frozen=True)
class Compiled:
    """The instructions that run, by opcode: those of the entry, of loop bodies and of branches, each counted once."""

    counts: Mapping[str, int] = field(default_factory=dict)
    platform: str = "cpu"

    @property
    def fusions(self) -> int:
        return self.counts.get("fusion", 0)

    @property
    def loops(self) -> int:
        return self.counts.get("while", 0)

    def __str__(self) -> str:
        named = {"fusion": "fusions", "while": "loops"}
        shown = [f"{self.fusions} {_plural('fusion', self.fusions)}", f"{self.loops} {_plural('loop', self.loops)}"]
        shown += [f"{n} {op}" for op, n in sorted(self.counts.items()) if op not in named]
        return ", ".join(shown)


def _plural(word: str, n: int) -> str:
    return word if n == 1 else f"{word}s"


def count(text: str) -> dict[str, int]:
    """The instructions that run, by opcode, of a compiled module's text."""
    bodies: dict[str, list[tuple[str, str]]] = {}
    entry = name = ""
    for line in text.split("\n"):
        if head := _COMPUTATION.match(line):
            name = head[2]
            bodies[name] = []
            entry = name if head[1] else entry
        elif name and (found := _INSTRUCTION.match(line)):
            bodies[name].append((found[1], found[2]))
    counts: Counter[str] = Counter()
    todo, seen = [entry], set()
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        for opcode, rest in bodies.get(at, ()):
            if opcode in ("while", "conditional", "call"):
                for one, several in _CALLED.findall(rest):
                    todo += [one] if one else [b.strip().lstrip("%") for b in several.split(",")]
            if opcode not in _FREE and opcode != "call":
                counts[opcode.removesuffix("-start").removesuffix("-done")] += 1
    return dict(counts)


def compile_function(source: k.Module, text: str, name: str, case: Case) -> Compiled:
    """The emitted function ``name`` of the module ``text``, compiled for the case's arguments; raises what JAX does."""
    with x64("jax_enable_x64" in text):
        keywords = {"grid": case.grid, "block": case.block, "shared": case.shared}
        emitted = Emitted(load_module(text), source.function(name), keywords)
        named = emitted.arguments(case.arguments())
        call: Any = emitted.call
        if not hasattr(call, "lower"):
            arrays = {n: v for n, v in named.items() if isinstance(v, jax.Array)}
            rest = {n: v for n, v in named.items() if n not in arrays}
            whole = call
            call, named = jax.jit(lambda **given: whole(**given, **rest)), arrays
        compiled = call.lower(**named, **emitted.keywords).compile()
        return Compiled(count(compiled.as_text()), jax.default_backend())


def described(case: Case) -> str:
    """The arguments in a few words: ``x: float32[1024], n = 1024``."""
    shown = []
    for name, value in case.arguments().items():
        if isinstance(value, np.ndarray):
            shown.append(f"{name}: {value.dtype}[{', '.join(map(str, value.shape))}]")
        elif isinstance(value, int | np.integer):
            shown.append(f"{name} = {value}")
    return ", ".join(shown)


def given_case(function: k.Function, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, Any]) -> Case | None:
    """A case of the shapes and numbers that the user gives, None where an array or an integer is left open."""
    args: dict[str, Any] = {}
    for p in function.params:
        if isinstance(p.type, ArrayType) and p.name in shapes:
            dtype = dtype_of(p.type.element) or np.dtype("float32")
            args[p.name] = np.ones(shapes[p.name], dtype)
        elif isinstance(p.type, ScalarType) and (p.name in values or p.default is not None):
            args[p.name] = values.get(p.name, p.default.value if p.default is not None else None)
        elif isinstance(p.type, ScalarType) and p.type.is_inexact:
            args[p.name] = 0.5
        else:
            return None
    return Case(function.name, args)
