"""Kernels of templates that a file launches for several types: a function of the module for each of them.

The function with the template's own name has the types of the file's first instance (:func:`bindings_of`). A launch for
other types calls a function of its own (``scale_float64``): a quotient of ints is another number than one of floats,
and a conversion to ``T`` rounds to it. Where nothing in the kernel depends on the type but what its arguments are, the
one function serves both: dtypes follow the arguments.

So does a launch with null pointers (``scan<<<1, b>>>(d, e, NULL, n)``): what asks for them is decided there, and what
would follow them is refused (``scan_without_sums``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c.c_types import AUTO, Pointer, Struct
from kraise.frontends.cuda_c.host_overloads import fitting
from kraise.frontends.cuda_c.instantiate import Instantiation, bindings_of
from kraise.frontends.cuda_c.overloads import kernel_names
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import arguments_of
from kraise.frontends.cuda_c.values import Constant, TypeName
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import FLOAT32, INT32, ScalarType

Found = tuple[k.Function | None, list[Diagnostic]]
Read = Callable[[Program, Definition, str, str, list[Instantiation], frozenset[str]], Found]


@dataclass
class Variants:
    """The functions of a file for other types than the first ones, by the name and the types."""

    read: Read
    made: dict[tuple[str, tuple[str, ...]], k.Function] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    plain: dict[str, dict[Any, str]] = field(default_factory=dict)  # names of plain functions: instances, overloads
    launched: dict[str, dict[str, set[str]]] = field(default_factory=dict)  # by the template: what hosts call for it
    written_out: set[str] = field(default_factory=set)  # hosts that their callers hold

    def settled(
        self,
        functions: list[k.Function],
        hosts: tuple[h.Host, ...],
        instances: dict[str, list[Instantiation]],
        diagnostics: list[Diagnostic],
    ) -> tuple[list[k.Function], list[k.Function], tuple[h.Host, ...]]:
        """The functions of the file, those of other types that something launches, and the hosts. A template of which
        no instance is spelled has the types of its launches, where these agree."""
        own = {f.name: f for f in self.made.values()}
        used = {n for names in self.launched.values() for n in names}
        there = {x.name for x in hosts}
        calls = {t: {n for n, by in names.items() if by & there} for t, names in self.launched.items()}
        failed = (
            set(self.launched) - {f.name for f in functions} - own.keys()
        )  # not raised for the types that are its own
        unspelled = [x.name for x in hosts if x.name in self.written_out and h.launched_by(x) & failed]
        hosts = tuple(x for x in hosts if x.name not in unspelled)
        calls = {t: {n for n in called if n != t or n not in failed} for t, called in calls.items()}
        names = {
            next(iter(called)): template
            for template, called in calls.items()
            if len(called) == 1 and not instances.get(template) and called <= own.keys() - {template}
        }
        missing = {t for t in failed if calls[t] and not self._is_called(t, there - set(unspelled))}
        diagnostics[:] = [d for d in diagnostics if d.kernel not in missing]  # for the types that nothing launches
        kept = [own[n] for f in functions for n, to in names.items() if to == f.name]
        renamed = {names[f.name]: replace(f, name=names[f.name]) for f in kept}
        said = {f"nothing in the file instantiates `{n}`" for n in renamed}  # it is not taken as float
        diagnostics[:] = [d for d in diagnostics if not any(d.reason.startswith(s) for s in said)]
        functions = [renamed.get(f.name, f) for f in functions]
        functions += [replace(own[n], name=to) for n, to in names.items() if to in missing]
        more = [f for n, f in own.items() if n in used and n not in names]
        return functions, more, tuple(_calling(x, names) for x in hosts)

    def _is_called(self, template: str, hosts: set[str]) -> bool:
        """Does one of the hosts launch a template for its own types?"""
        return bool(self.launched[template].get(template, set()) & hosts)

    def of(
        self,
        program: Program,
        d: Definition,
        arguments: tuple[Any, ...],
        types: tuple[Any, ...],
        null: tuple[str, ...] = (),
    ) -> k.Function:
        """The function for these template arguments and null pointers. Raises Refused."""
        without = ("without", *null) if null else ()
        key = d.name, (*map(str, types), *without)
        if key not in self.made:
            wish = name = "_".join((d.name, *(_spelled(t) for t in types), *without))
            number = 2
            while name in self.taken:
                name, number = f"{wish}_{number}", number + 1
            found, problems = self.read(program, d, "kernel", name, [Instantiation(arguments)], frozenset(null))
            if found is None:
                raise Refused(*problems)
            self.taken.add(name)
            self.made[key] = found
        return self.made[key]


def _calling(host: h.Host, names: dict[str, str]) -> h.Host:
    """The host with other names for what it launches."""

    def block(body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
        out = []
        for stmt in body:
            if isinstance(stmt, h.Launch) and stmt.function in names:
                stmt = replace(stmt, function=names[stmt.function])
            blocks: dict[str, Any] = {n: block(getattr(stmt, n)) for n in ("body", "orelse") if hasattr(stmt, n)}
            out.append(replace(stmt, **blocks) if blocks else stmt)
        return tuple(out)

    return replace(host, body=block(host.body)) if names else host


def launched_as(
    reader: Any, name: str, args: list[Any], target: Any, function: k.Function | None
) -> tuple[str, k.Function | None, list[Any]]:
    """The name of the function that a launch calls, the function with its parameters for these types, and the
    arguments without the null pointers, for which it is made."""
    null = _null_pointers(reader, name, args)
    found = _launched_as(reader, name, args, target, function, null)
    reader.variants.launched.setdefault(found[0] if null else name, {}).setdefault(found[0], set()).add(reader.name)
    return *found, [a for n, a in enumerate(args) if n not in null]


def _null_pointers(reader: Any, name: str, args: list[Any]) -> dict[int, str]:
    """The parameters, by their places, that a launch gives null pointers for (as defaults of theirs, too)."""
    found = reader.program.functions.get(name, [])
    if len(found) != 1:
        return {}
    some: dict[str, Any] = {  # a pointer is one for any arguments of the template
        p.name: TypeName(FLOAT32) if p.kind == "type" else Constant(k.Const(1, INT32)) for p in found[0].parameters
    }
    try:
        params, _ = reader.low._signature(found[0], reader.program.load(found[0]), some)
    except Refused:
        return {}
    given = [args[n] if n < len(args) else p.default for n, p in enumerate(params)]
    return {
        n: p.name
        for n, (p, a) in enumerate(zip(params, given, strict=True))
        if isinstance(p.type, Pointer) and a is not None and reader.spells_null(a)
    }


def _launched_as(
    reader: Any, name: str, args: list[Any], target: Any, function: k.Function | None, null: dict[int, str]
) -> tuple[str, k.Function | None]:
    program, low = reader.program, reader.low
    found = program.functions.get(name, [])
    if len(found) > 1:
        meant = fitting(reader, found, target, args)
        named = kernel_names(program, name).get(meant.item.first, "") if meant is not None and meant.item else ""
        if not named or (meant is not found[0] and meant.parameters):  # type: ignore[union-attr]
            reason = f"which of the functions {name} this launches is not known, or it is a template"
            raise low.refuse("KR211", reason, target, "give them names of their own")
        if named != name:
            return named, reader.functions.get(named)
    if len(found) != 1 or not (null or any(p.kind == "type" for p in found[0].parameters)):
        return name, function
    d = found[0]
    bound, _, _ = bindings_of(program, d, reader.instances.get(name, []))
    given = arguments_of(target)
    types_of = [AUTO if n in null else reader._type_of(a) for n, a in enumerate(args)]
    try:
        explicit = low.template_arguments(given) if given is not None else []
        scope = low._bind_template(d, explicit, types_of, program.load(d)) or {}
    except Refused:
        if null:
            raise
        return name, function
    arguments: list[Any] = []
    other = False
    for p in d.parameters:
        own, here = bound.get(p.name), scope.get(p.name)
        if p.kind == "type" and isinstance(here, TypeName) and isinstance(own, TypeName) and here.type != own.type:
            other = other or _is_known(here.type)
            arguments.append(here.type)
        elif p.kind == "type":
            arguments.append(own.type if isinstance(own, TypeName) else None)
        else:
            arguments.append(own.value if isinstance(own, Constant) else None)
    types = tuple(a for a, p in zip(arguments, d.parameters, strict=True) if p.kind == "type" and other)
    if null:
        made = reader.variants.of(program, d, tuple(arguments), types, tuple(null.values()))
        return made.name, made
    if not other or (function is None and not any(isinstance(a, Struct) for a in arguments)):
        return name, function
    variant = reader.variants.of(program, d, tuple(arguments), types)
    if function is not None and reader.instances.get(name) and _follows_its_arguments(function, variant):
        return name, replace(function, params=variant.params)
    return variant.name, variant


def _is_known(t: Any) -> bool:
    return not isinstance(t, ScalarType) or t.bits is not None


def _spelled(t: Any) -> str:
    return "".join(c if c.isalnum() else "_" for c in str(getattr(t, "name", t))).strip("_")


def _follows_its_arguments(one: k.Function, two: k.Function) -> bool:
    """Are two instances the same but for the width of floats, and is nothing in them of a type that no argument has?"""
    plain = _float_types(one) | _float_types(two)
    if not all(t.kind == "float" and t.bits in (32, 64) for t in plain):
        return False
    return _shape(one.body) == _shape(two.body) and not _makes_floats(one.body) and not _makes_floats(two.body)


def _float_types(f: k.Function) -> set[ScalarType]:
    found = {getattr(p.type, "element", p.type) for p in f.params}
    return {t for t in found if isinstance(t, ScalarType) and not t.is_integer and t.kind != "bool"}


def _makes_floats(body: Any) -> bool:
    """Is a number converted to a float, or is there memory or a variable that several statements set?"""
    return any(
        (isinstance(x, k.Cast) and not x.type.is_integer) or isinstance(x, k.For | k.While | k.LocalArray)
        for x in _nodes(body)
    )


def _nodes(x: Any) -> Any:
    if isinstance(x, tuple):
        for y in x:
            yield from _nodes(y)
    elif is_dataclass(x) and not isinstance(x, ScalarType | type):
        yield x
        for f in fields(x):
            if f.name != "span":
                yield from _nodes(getattr(x, f.name))


def _shape(x: Any) -> Any:
    """A body without places and without the width of its floats."""
    if isinstance(x, ScalarType):
        return x.kind if x.kind == "float" else x
    if isinstance(x, tuple):
        return tuple(_shape(y) for y in x)
    if is_dataclass(x) and not isinstance(x, type):
        return type(x).__name__, tuple(_shape(getattr(x, f.name)) for f in fields(x) if f.name != "span")
    return x
