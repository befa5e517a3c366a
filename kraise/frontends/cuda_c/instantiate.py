"""Template kernels: the instances that launches, explicit instantiations and the user ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.frontends.cuda_c.c_types import VOID, ScalarType, Struct, Void
from kraise.frontends.cuda_c.parser import parse
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.scan import Unit
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.tokens import Raw, skip_angles, split
from kraise.frontends.cuda_c.trees import arguments_of, strip, trees, words
from kraise.frontends.cuda_c.values import Constant, TypeName, VarPlace
from kraise.ir.kernel import Const, Param
from kraise.ir.types import FLOAT32, INT32

WHOLE = frozenset(("int", "unsigned", "uint", "size_t", "auto", "long", "short", "uint32_t", "int32_t"))


@dataclass(frozen=True)
class Instantiation:
    """Template arguments (types and constants) of one instance, and whether the user asked for it."""

    arguments: tuple[Any, ...]
    asked: bool = False


def instantiations(
    program: Program, asked: tuple[str, ...], diagnostics: list[Diagnostic]
) -> dict[str, list[Instantiation]]:
    """Instances by the name of a kernel or a host function: ``k<float, 16><<<…>>>(…)``, ``run<float>(…)``,
    ``template … void k<float>(…);``, ``--instantiate``."""
    found: dict[str, list[Instantiation]] = {}
    waiting: list[tuple[Definition, int, int]] = []
    toks = program.unit.tokens
    kernels = {
        n for n, ds in program.functions.items() if any(d.kind == "kernel" and d.item and d.item.template for d in ds)
    }
    hosts = {
        n: ds[0]
        for n, ds in program.functions.items()
        if len(ds) == 1 and ds[0].kind == "host" and ds[0].item and ds[0].item.template
    }
    for text in asked:
        spelled = [Raw(kind, word, program.file, 1, 1) for _, kind, word in split(text, program.file)]
        name = spelled[0].text if spelled else ""
        if name not in kernels:
            diagnostics.append(
                Diagnostic(
                    "KR401", f"--instantiate {text!r}: no template kernel `{name}` in this file", Span(program.file, 1)
                )
            )
            continue
        unit = Unit(spelled, names=program.unit.names)
        _add(found, name, _arguments(program, unit, 0, len(spelled) - 1, diagnostics), True)
    for k, t in enumerate(toks):
        if t.kind != "NAME" or t.text not in {*kernels, *hosts} or k + 1 >= len(toks) or toks[k + 1].text != "<":
            continue
        stop = skip_angles(toks, k + 1)
        if stop is None or stop >= len(toks):
            continue
        explicit = toks[stop].text == "(" and _is_explicit(toks, k)
        called = t.text in hosts and toks[stop].text == "("
        if (
            called
            or toks[stop].text == "<<<"
            or explicit
            or (toks[stop].text in (",", ")") and toks[k - 1].text == "(")
        ):
            around = next((d for d in hosts.values() if d.item.first <= k <= d.item.last), None)  # type: ignore[union-attr]
            if around is not None:
                waiting.append((around, k, stop - 1))
                continue
            scope = _local_constants(program, k, stop)
            _add(found, t.text, _arguments(program, program.unit, k, stop - 1, None, scope or None), False)
    for around, first, last in waiting:  # with the template parameters of the function around it
        try:
            program.load(around)
            scope, _, _ = bindings_of(program, around, found.get(around.name, []))
        except Refused:
            continue
        if found.get(around.name):
            _add(found, toks[first].text, _arguments(program, program.unit, first, last, None, scope), False)
    return found


def _local_constants(program: Program, first: int, last: int) -> dict[str, Any]:
    """The names among the tokens that are ``const int`` or ``constexpr int`` of the host function around."""
    toks = program.unit.tokens
    hosts = [d.item for ds in program.functions.values() for d in ds if d.kind == "host" and d.item is not None]
    item = next((i for i in hosts if i.first <= first <= i.last), None)
    scope: dict[str, Any] = {}
    low = program.lowering(program)
    for name in {t.text for t in toks[first + 1 : last] if t.kind == "NAME"} if item is not None else ():
        for at in range(item.first, first):  # type: ignore[union-attr]
            declared = toks[at].text == name and toks[at + 1].text == "=" and toks[at - 1].text in WHOLE
            if not declared or not {"const", "constexpr"} & {t.text for t in toks[at - 4 : at]}:
                continue
            stop = next((n for n in range(at, first) if toks[n].text in (";", ",")), first)
            try:
                scope[name] = Constant(low.constant(parse(program.unit, at + 2, stop - 1, "expression")))
            except Refused:
                scope.pop(name, None)
    return scope


def _is_explicit(toks: list[Raw], k: int) -> bool:
    j = k
    while j > 0 and toks[j].text not in (";", "}", "{"):
        if toks[j].text == "template":
            return toks[j + 1].text != "<"
        j -= 1
    return toks[j].text == "template"


def _arguments(
    program: Program,
    unit: Unit,
    first: int,
    last: int,
    diagnostics: list[Diagnostic] | None,
    scope: dict[str, Any] | None = None,
) -> tuple | None:
    try:
        tree = parse(unit, first, last, "expression")
        plain = strip(tree.children[0] if tree.data == "start" else tree)
        arguments = arguments_of(plain)
        low = program.lowering(program)
        if (
            scope is not None and arguments is not None
        ):  # a parameter by its own name, which no type tells from a number
            low.scopes = [scope]
            return tuple(_argument(low, scope, a) for a in trees(arguments, "template_argument"))
        return tuple(low.template_arguments(arguments)) if arguments is not None else None
    except Refused as problem:
        if diagnostics is not None:
            diagnostics.extend(problem.diagnostics)
        return None


def _argument(low: Any, scope: dict[str, Any], node: Tree) -> Any:
    """One template argument, None for a number that is not known here (a variable of the function around)."""
    spelled = words(node)
    entity = scope.get(spelled[0]) if len(spelled) == 1 else None
    if isinstance(entity, TypeName):
        return entity.type
    if isinstance(entity, Constant):
        return entity.value
    try:
        (found,) = low.template_arguments(Tree("template_arguments", [node]))
    except Refused:
        return None
    return None if isinstance(found, Void) and found.name == "?" else found


def _called(t: Any) -> str:
    """A type's name in the source."""
    return t.name if isinstance(t, Struct) else str(t)


def _add(found: dict[str, list[Instantiation]], name: str, arguments: tuple | None, asked: bool) -> None:
    if arguments is not None:
        found.setdefault(name, []).append(Instantiation(arguments, asked))


def bindings_of(
    program: Program, d: Definition, instances: list[Instantiation]
) -> tuple[dict[str, Any], tuple[Param, ...], list[Diagnostic]]:
    """What a kernel's template parameters stand for.

    An integer that all instances agree on is a constant, otherwise a static parameter; a type is the first instance's,
    or float where nothing instantiates the template (said as a note). Raises Refused.
    """
    scope: dict[str, Any] = {}
    static: list[Param] = []
    notes: list[Diagnostic] = []
    if not d.parameters:
        return scope, (), notes
    chosen = [i for i in instances if i.asked] or instances
    span = program.unit.tokens[d.item.first].span if d.item is not None else None
    low = program.lowering(program)
    low.scopes = [scope]
    for k, p in enumerate(d.parameters):
        if not p.name:
            continue
        if p.kind == "pack":
            raise low.refuse("KR101", "a template parameter pack is not raised", d.tree)
        given = [i.arguments[k] for i in chosen if k < len(i.arguments) and i.arguments[k] is not None]
        varies = any(k < len(i.arguments) and i.arguments[k] is None for i in chosen)
        if not given and p.default is not None:
            plain = strip(p.default)
            given = [low.type_id(plain) if p.kind == "type" else low.constant(plain)]
        if p.kind == "type":
            types = [g for g in given if not isinstance(g, Const)]
            if not types:
                notes.append(
                    Diagnostic(
                        "KR104",
                        f"nothing in the file instantiates `{d.name}`: {p.name} is taken as float",
                        span,
                        f'choose with --instantiate "{d.name}<...>"',
                        severity="note",
                    )
                )
                types = [FLOAT32]
            elif any(t != types[0] for t in types):
                notes.append(
                    Diagnostic(
                        "KR104",
                        f"`{d.name}` is instantiated for several types: {p.name} is {_called(types[0])} here",
                        span,
                        severity="note",
                    )
                )
            scope[p.name] = TypeName(types[0])
            continue
        values = {(g.type, g.value) for g in given if isinstance(g, Const)}
        t = low.specifiers(p.type).type if p.type is not None else INT32
        if len(values) == 1 and not varies:
            value = next(iter(values))[1]
            c = low.convert(Const(value, next(iter(values))[0]), t)
            if program.use_constant(p.name, c):
                c = Const(c.value, c.type, name=p.name)
            scope[p.name] = Constant(c)
        else:
            if not isinstance(t, ScalarType) or t == VOID:
                raise low.refuse("KR104", f"the template parameter `{p.name}` is not raised", d.tree)
            scope[p.name] = VarPlace(p.name, t)
            static.append(Param(p.name, t, keyword=True, span=span))
    return scope, tuple(static), notes
