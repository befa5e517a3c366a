"""A module of equations as the text of a JAX module."""

from __future__ import annotations

import re
import sys
from itertools import chain

from kraise.emit import checked, operands, precision, tree
from kraise.emit.function import FunctionText, docstring, emit_function, emit_helper
from kraise.emit.gradients import derivatives, host_outputs, outputs
from kraise.emit.hosts import carries, shared_work
from kraise.emit.hosts.function import Callee, EmittedHost
from kraise.emit.hosts.statics import nodes
from kraise.emit.loads import diagonals, strided, widened
from kraise.emit.loops import at_once, remat, until
from kraise.emit.sums import convolutions, over_windows, pooling
from kraise.emit.text import layout_text, records, spelling
from kraise.emit.text import python as py
from kraise.emit.text.head import Signature, by_position
from kraise.emit.text.names import IMPORTED, identifier
from kraise.emit.text.python import Py
from kraise.emit.text.rendering import Surroundings
from kraise.ir import equations as eq
from kraise.ir import host as hir
from kraise.ir import host_signs
from kraise.ir import hosted as o
from kraise.ir import kernel as ir
from kraise.ir.dynamic_shared import asks_for_size
from kraise.ir.operations import WIDENING
from kraise.ir.types import UINT32, UINT64, ArrayType, ScalarType, StructType


def emit_module(module: eq.Module) -> str:
    """The text of the JAX module that a module of equations means; raises Refused (KR3xx) where there is none."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEPEST))  # a long chain of operations nests deeply
    try:
        return _emit(module)
    finally:
        sys.setrecursionlimit(limit)


DEEPEST = 50_000
DOUBLE = ScalarType("float", 64)


def _emit(module: eq.Module) -> str:
    file = module.file.rsplit("/", 1)[-1]
    x64 = needs_x64(module)
    helpers = {h.name: h for k in module.kernels for h in k.helpers}
    constants = {c.name: c for c in module.constants}  # type: ignore[attr-defined]
    functions = {identifier(k.name) for k in (*module.kernels, *module.hosts)} | {identifier(h) for h in helpers}
    functions |= {name for k in (*module.kernels, *module.hosts) for name in derivatives.names_of(k)}
    parameters = {p.name for k in (*module.kernels, *module.hosts) for p in k.params}  # type: ignore[attr-defined]
    taken = frozenset(functions | {identifier(c) for c in constants})
    calls = [identifier(name) for h in module.hosts for name in h.calls]
    parts = shared_work.Parts(calls, taken | set(map(identifier, parameters)))
    used_names = parameters | taken
    taken |= parts.names
    imported = ("partial", *checked.NAMES, *remat.HELPERS, until.NAME, at_once.NAME, *IMPORTED)
    imports = {name: f"_{name}" if name in used_names else name for name in imported}
    around = Surroundings(module, x64, taken, imports, precision.holds_float32(module))
    emitted = [emit_function(k, around) for k in module.kernels]
    kernels = [text for texts in emitted for text in texts]
    texts: list[FunctionText] = []
    done: set[str] = set()
    used = [h for k in kernels for h in sorted(k.helpers)]
    while used:
        name = used.pop(0)
        if name in done or name not in helpers:
            continue
        done.add(name)
        text = emit_helper(helpers[name], around)
        texts.insert(0, text)
        used += sorted(text.helpers)
    texts += kernels
    fields = frozenset(f for t, *_ in emitted for f in t.fields)
    callees = {
        k.name: Callee(
            identifier(k.name),
            tuple(identifier(p.name) for p in k.params),  # type: ignore[attr-defined]
            t.statics,
            k.launch,
            "checkify" in t.needs,
            asks_for_size(k),  # type: ignore[arg-type]
            by_position(k.params, tuple(identifier(p.name) for p in k.params))[1],  # type: ignore[attr-defined]
            fields,
            {identifier(name): extents for name, extents in t.shapes.items()},
            t.sizes,
        )
        for k, (t, *_) in zip(module.kernels, emitted, strict=True)
    }
    of_kernels = {identifier(k.name): t for k, (t, *_) in zip(module.kernels, emitted, strict=True)}
    parts.texts = {name: t for name, t in of_kernels.items() if name in parts.free}
    for host in module.hosts:
        text_of_host = EmittedHost(host, callees, around, parts)
        callees[host.name] = text_of_host.callee
        texts.append(text_of_host)  # type: ignore[arg-type]
        if host.derivatives:
            texts += text_of_host.derivatives(_flow(module, callees))
    texts = [t for text in texts for t in parts.apart(text)]
    unrolled = any(at_once.NAME in t.needs for t in texts)
    if any(until.NAME in t.needs for t in texts):
        texts.insert(0, FunctionText(until.helper(imports)))
    for helper in [h for h in reversed(remat.HELPERS) if any(h in t.needs for t in texts)]:
        full = any(k.memory.remat == "full" for k in module.kernels) or any(h.remat == "full" for h in module.hosts)
        kept = remat.worth_keeping([line for t in texts for line in t.lines])
        several = unrolled or any(remat.SWAP in t.needs for t in texts)
        texts.insert(0, FunctionText(remat.helper(helper, imports, full, kept, several)))
    if unrolled:
        texts.insert(0, FunctionText(at_once.helper(imports[at_once.NAME], imports["jax"])))
    found = {p.type.name: p.type for k in module.kernels for p in k.params if records.is_record(p.type)}  # type: ignore[attr-defined]
    found |= {kind.name: kind for kind, _ in sorted(fields, key=lambda f: f[0].name)}
    structs = [
        FunctionText(records.definition(kind, around, {member for of, member in fields if of == kind}))
        for kind in found.values()
    ]
    passed = [n for h in module.hosts for n in nodes(h.body) if isinstance(n, hir.Record | hir.Structs)]
    given = {n.struct.name: n.struct for n in passed}
    tuples = [FunctionText(records.named_tuple(kind)) for name, kind in given.items() if name not in found]
    needed = {c for t in texts for c in t.constants}
    body = [f'"""Vectorized twin of {_plain(file)}, written by kraise; edit the source, not this file."""']
    if module.doc:
        body = docstring(
            f"Vectorized twin of {file}, written by kraise; edit the source, not this file.\n\n" + module.doc, 0
        )
    constant_lines = [line for n, c in constants.items() if n in needed for line in _constant(c)]
    needs = set().union(*(t.needs for t in texts)) if texts else set()
    needs |= {"dataclasses", "partial"} if structs else set()
    needs |= {"NamedTuple"} if tuples else set()
    texts = [*structs, *tuples, *texts]
    shared = [
        text.replace("jnp.", f"{imports['jnp']}.").strip("\n").split("\n")
        for name, text in {
            "checkify": checked.DECORATOR,
            strided.NAME: strided.TEXT,
            convolutions.NAME: convolutions.TEXT,
            widened.NAME: widened.TEXT,
            over_windows.NAME: over_windows.TEXT,
            over_windows.STACK: over_windows.STACK_TEXT,
            **diagonals.TEXTS,
            **pooling.texts(needs),
        }.items()
        if name in needs
    ]
    lines = "\n".join([*constant_lines, *chain(*shared), *(line for t in texts for line in t.lines)])
    body += _imports(needs, imports, lines)
    if x64:
        body += ["", f'{imports["jax"]}.config.update("jax_enable_x64", True)  # {_plain(file)} uses 64 bits']
    if constant_lines:
        body += ["", *constant_lines]
    for text_lines in [*shared, *(t.lines for t in texts)]:
        body += ["", "", *text_lines]
    return "\n".join(body) + "\n"


def _flow(module: eq.Module, callees: dict[str, Callee]) -> host_outputs.Flow:
    """Of each function, the parameters (as its callers spell them) whose values flow into its results."""
    found: dict[str, frozenset[str]] = {}
    for k in module.kernels:
        head = Signature(callees[k.name].parameters, (), tuple(callees[k.name].statics))
        found[k.name] = frozenset(map(identifier, outputs.Inputs(k, head).read()))
    order = {name: callee.parameters for name, callee in callees.items()}
    for host in module.hosts:
        if set(host.calls) <= set(found):
            found[host.name] = frozenset(map(identifier, host_outputs.reaching(host, found, order)))
    return found


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in '"\\')


def _imports(needs: set[str], names: dict[str, str], text: str) -> list[str]:
    out: list[str] = []
    if "dataclasses" in needs:
        out += ["", "import dataclasses"]
    if "math" in needs:
        out += [*([""] if not out else []), "import math"]
    if tools := [t for t, where in (("partial", "partial"), ("wraps", "checkify")) if where in needs]:
        listed = ", ".join(t + _alias(t, names) for t in tools)
        out += [*([""] if not out else []), f"from functools import {listed}"]
    if "NamedTuple" in needs:
        out += [*([""] if not out else []), "from typing import NamedTuple"]
    out.append("")
    if "eqxi" in needs:
        out.append(f"import equinox.internal as {names['eqxi']}")
    out.append("import jax" + _alias("jax", names))
    if re.search(rf"(?<![\w.]){names['jnp']}\.", text):
        out.append(f"import jax.numpy as {names['jnp']}")
    if "checkify" in needs:
        out.append(f"from jax.experimental import checkify{_alias('checkify', names)}")
    return out


def _alias(name: str, names: dict[str, str]) -> str:
    return "" if names[name] == name else f" as {names[name]}"


def _constant(constant: object) -> list[str]:
    name = identifier(constant.name)  # type: ignore[attr-defined]
    values, shape = constant.values, constant.shape  # type: ignore[attr-defined]
    if not shape:
        value: Py = py.number(values[0])
    else:
        value = _nested(list(values), shape)
    line = f"{name} = {py.flat(value)}"
    return [line] if len(line) <= 88 else layout_text.statement(f"{name} = ", value, 0).split("\n")


def _nested(values: list, shape: tuple[int, ...]) -> Py:
    if not shape:
        return py.number(values[0])
    size = len(values) // max(shape[0], 1)
    return py.Tup(tuple(_nested(values[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0])))


def _large_remainder(node: eq.Expr) -> bool:
    """A generator's step in Python, ``s * 48271 % 2147483647``, whose product needs 64 bits."""
    match node:
        case eq.Op(name="mod", args=(product, eq.Const(value=int() as by)), type=kind) if kind.bits is None:
            pass
        case _:
            return False
    factors = [a for n in tree.walk(product) if isinstance(n, eq.Op) and n.name == "mul" for a in n.args]
    carried = any(isinstance(a, eq.CarryIn) for a in factors)
    largest = max([int(a.value.real) for a in factors if isinstance(a, eq.Const)], default=1)
    return carried and by & (by - 1) != 0 and largest * by >= 2**31


def _double(node: object) -> bool:
    """Is this a loop of a host that carries a ``double``, or a ``double`` that a host computes from an array?

    A number that is known when the function is traced is one of Python's, and has 64 bits anyway."""
    match node:
        case o.Loop(initial=initial, arrays=arrays):
            double = any(not a and getattr(v, "type", None) == DOUBLE for v, a in zip(initial, arrays, strict=True))
            return double or carries.keeps_time(node)
        case o.Let(value=ir.Op(type=kind) as value) if kind == DOUBLE:
            return any(isinstance(n, ir.Load) for n in nodes(value))
    return False


def _compared(node: eq.Expr) -> tuple[eq.Expr, ...]:
    """The numbers of which a node asks more than their low bits."""
    match node:
        case eq.Op(args=args) if node.type.kind == "bool":
            return args
        case eq.Cast(type=kind, arg=arg) if kind.is_inexact != arg.type.is_inexact:
            return (node, arg)
    return ()


def _beyond_32_bits(node: eq.Expr) -> bool:
    """Whether a number is an integer of 64 bits made of what fits no int of 32, an unsigned number or a float; or a
    double made of a float."""
    if not isinstance(node, eq.Cast) or node.type.bits != 64:
        return False
    if node.type.is_integer:
        return node.arg.type.kind == "float" or node.arg.type == UINT32
    return node.type.kind == "float" and node.arg.type.kind == "float"


def _wraps_in_64_bits(node: object) -> bool:
    """Whether a number of a host is computed from an unsigned one of 64 bits that wrapped around."""
    if not isinstance(node, ir.Op | ir.Cast) or (isinstance(node, ir.Op) and node.name in ("add", "sub", "mul", "neg")):
        return False
    args = (node.arg,) if isinstance(node, ir.Cast) else node.args
    return any(isinstance(e, ir.Op | ir.Cast) and e.type == UINT64 and host_signs.wraps(e) for e in args)


def needs_x64(module: eq.Module) -> bool:
    """Whether a parameter of the module has 64 bits, or a value that is computed: a float, or an integer that is no
    index arithmetic (of which the raiser has dropped the width: what counts elements fits 32 bits)."""

    def wide(kind: object) -> bool:
        match kind:
            case ScalarType():
                return kind.bits == 64 and kind.kind != "complex" or kind.bits == 128
            case ArrayType(element=element):
                return wide(element)
            case StructType(members=members):
                return any(wide(t) for _, t in members)
        return False

    if any(wide(p.type) for k in (*module.kernels, *module.hosts) for p in k.params):  # type: ignore[attr-defined]
        return True
    if any(wide(n.element) for h in module.hosts for n in nodes(h.body) if isinstance(n, o.New | o.Cast)):
        return True
    if any(_wraps_in_64_bits(n) for h in module.hosts for n in nodes(h.body)):  # type: ignore[attr-defined]
        return True
    if any(_double(n) for h in module.hosts for n in nodes(h.body)):  # type: ignore[attr-defined]
        return True
    for k in module.kernels:
        for stmt in tree.statements(k.body):
            for node in tree.walk(*tree.statement_roots(stmt)):
                if isinstance(node, eq.CarryIn | eq.FoldResult | eq.Op) and wide(node.type):
                    return True
                if isinstance(node, eq.Op) and node.name in WIDENING:
                    return True
                if _large_remainder(node) or any(map(_beyond_32_bits, _compared(node))):
                    return True
                if isinstance(node, eq.Op) and any(
                    (isinstance(a, eq.Const) and spelling.wide(a) and UINT32 not in (a.type, node.type))
                    or operands.keeps_width(a, node)
                    for a in node.args
                ):
                    return True
    return False
