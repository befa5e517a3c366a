"""What the C++ compiler gets of a file, so that ``verify --original`` can run the kernels themselves.

The text stays the user's own: host functions (they launch, allocate, print) are blanked, nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kraise.frontends.cuda_c.c_types import SPELLED
from kraise.frontends.cuda_c.functions import Lowering
from kraise.frontends.cuda_c.instantiate import bindings_of, instantiations
from kraise.frontends.cuda_c.overloads import kernel_names
from kraise.frontends.cuda_c.preprocess import preprocess
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.reader import PLAIN
from kraise.frontends.cuda_c.scan import Unit, scan
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.values import Constant, TypeName, VarPlace
from kraise.ir.types import ScalarType

_MEETS = (
    "__sync", "__shfl", "__ballot", "__any", "__all", "__reduce", "__match", "this_thread_block", "__activemask",
    "BlockReduce", "BlockScan", "WarpReduce", "WarpScan",
)  # fmt: skip


@dataclass(frozen=True)
class CompilerInput:
    """The text, how C++ spells each kernel (``{N}`` where a template's number is chosen at the call) and each variable
    of the device; ``meets``: whether threads wait for each other."""

    text: str
    calls: dict[str, str]
    variables: dict[str, str]
    meets: bool


def compiler_input(
    source: str,
    file: str,
    *,
    defines: Iterable[str] = (),
    include_dirs: Iterable[str] = (),
    instantiate: Iterable[str] = (),
) -> CompilerInput:
    """The compiler's view of a file. Raises Refused where the file as a whole cannot be read."""
    unit = scan(preprocess(source, file, tuple(defines), tuple(include_dirs)).tokens)
    program = Program(unit, Lowering, file)
    instances = instantiations(program, tuple(instantiate), [])
    calls: dict[str, str] = {}
    for name, definitions in program.functions.items():
        for d in definitions:
            own = kernel_names(program, name).get(d.item.first if d.item else 0, "") if d.kind == "kernel" else ""
            if own and own not in calls:
                calls[own] = _call(program, d, instances.get(name, []))
            if name not in calls and (d.kind == "kernel" or (d.kind == "host" and file.endswith(PLAIN))):
                calls[name] = _call(program, d, instances.get(name, []))
    variables = {i.name: "::".join((*i.namespace, i.name)) for i in unit.items if i.kind == "variable" and i.name}
    meets = any(t.text.startswith(_MEETS) for t in unit.tokens if t.kind == "NAME")
    return CompilerInput(_without_host(source, file, unit), calls, variables, meets)


def _call(program: Program, d: Definition, instances: list) -> str:
    name = "::".join((*(d.item.namespace if d.item else ()), d.name))
    if not (d.item and d.item.template):
        return name
    program.load(d)
    scope, _, _ = bindings_of(program, d, instances)
    return f"{name}<{', '.join(_argument(scope.get(p.name)) for p in d.parameters if p.name)}>"


def _argument(bound: object) -> str:
    match bound:
        case Constant(c):
            return str(c.value).lower() if isinstance(c.value, bool) else str(c.value)
        case VarPlace(name):
            return "{" + name + "}"
        case TypeName(t):
            return SPELLED[str(t)] if isinstance(t, ScalarType) else getattr(t, "name", "float")
    return "float"


def _without_host(source: str, file: str, unit: Unit) -> str:
    lines = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for item in unit.items:
        first, last = unit.tokens[item.first], unit.tokens[item.last]
        launches = any(t.text == "<<<" for t in unit.tokens[item.first : item.last + 1])
        if item.kind != "host" or first.file != file or last.file != file or (file.endswith(PLAIN) and not launches):
            continue
        for k in range(first.line - 1, last.line):
            start = first.column - 1 if k == first.line - 1 else 0
            end = last.column - 1 + len(last.text) if k == last.line - 1 else len(lines[k])
            kept = "\\" if lines[k].endswith("\\") else ""
            lines[k] = lines[k][:start] + " " * (end - start - len(kept)) + kept + lines[k][end:]
    return "\n".join(lines)
