"""What a Python host function may call and have written out: helpers, local functions, records, classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import all_of, dotted, walk

_SUPER = "of_base_"
PLAIN_BASES = frozenset(("object", "builtins.object", "abc.ABC", "typing.Protocol"))  # bases that give nothing


@dataclass(frozen=True)
class Unit:
    """A function: its parameters with their defaults, and its statements (of a lambda the value)."""

    name: str
    params: tuple[tuple[str, cst.BaseExpression | None], ...]
    body: tuple[Any, ...]
    value: cst.BaseExpression | None = None
    local: bool = False  # within the host function, whose names it sees
    context: bool = False  # of ``with``: a generator of one round
    star: str = ""  # the parameter that takes all further arguments
    named: frozenset[str] = frozenset()  # the parameters that are given by keyword only

    @property
    def bound(self) -> set[str]:
        """The names that it sets, its parameters among them."""
        return {p for p, _ in self.params} | {self.star} | {n for s in self.body for n in assigned(s)}

    @property
    def free(self) -> set[str]:
        """The names that it takes from around it."""
        defaults = [d for _, d in self.params if d is not None]
        nodes = [*self.body, *defaults, *([self.value] if self.value is not None else [])]
        words = {n.keyword for s in nodes for n in all_of(cst.Arg, s) if n.keyword is not None}
        attributes = {n.attr for s in nodes for n in all_of(cst.Attribute, s)}
        skipped = {id(n) for n in (*words, *attributes)}
        names = {n.value for s in nodes for n in all_of(cst.Name, s) if id(n) not in skipped}
        return names - self.bound


@dataclass(frozen=True)
class Record:
    """A class whose instances are names of their own, one for each field (``NamedTuple``, dataclass) or attribute."""

    name: str
    fields: tuple[tuple[str, cst.BaseExpression | None], ...] = ()
    methods: Mapping[str, Unit] = field(default_factory=dict)
    properties: frozenset[str] = frozenset()
    constants: Mapping[str, cst.BaseExpression] = field(default_factory=dict)  # of the class
    is_tuple: bool = False
    of_class: frozenset[str] = frozenset()  # methods that need no object


def assigned(node: cst.CSTNode) -> set[str]:
    """The names that a statement sets."""
    return set(times_set(node))


_SET = {
    **dict.fromkeys(
        (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr), attrgetter("target")
    ),
    **dict.fromkeys((cst.AsName, cst.FunctionDef, cst.Param), attrgetter("name")),
}


def times_set(node: cst.CSTNode) -> Counter[str]:
    """How often each name is set in the text: by assignments, loops, comprehensions, ``as``, as a parameter, a def."""
    return _times_set(node).copy()


@lru_cache(maxsize=256)  # of a module it is asked for each of its functions
def _times_set(node: cst.CSTNode) -> Counter[str]:
    found: Counter[str] = Counter()
    for inner in walk(node):
        target = _SET.get(type(inner))
        if target is not None:
            found.update(n.value for n in _names(target(inner)))
    return found


def _names(target: cst.CSTNode) -> Iterable[cst.Name]:
    match target:
        case cst.Name():
            yield target
        case cst.Tuple(elements=parts) | cst.List(elements=parts):
            for p in parts:
                yield from _names(p.value)


def unit(node: cst.FunctionDef, local: bool = False, method: bool = False, context: bool = False) -> Unit | None:
    """A function as a unit; None where its statements mean nothing elsewhere."""
    given = node.params
    if given.star_kwarg is not None or node.asynchronous is not None:
        return None
    star = given.star_arg.name.value if isinstance(given.star_arg, cst.Param) else ""
    params = [*given.posonly_params, *given.params, *given.kwonly_params]
    if method and not (params and params[0].name.value == "self"):
        return None
    body = tuple(node.body.body) if isinstance(node.body, cst.IndentedBlock) else (node.body,)
    if not context and all_of(cst.Yield, node.body):
        return None
    if all_of(cst.Global | cst.Nonlocal | cst.Await | cst.ClassDef | cst.FunctionDef | cst.Lambda, node.body):
        return None
    own = tuple((p.name.value, p.default) for p in params)
    named = frozenset(p.name.value for p in given.kwonly_params)
    return Unit(node.name.value, own, tuple(s for s in body if not _doc(s)), None, local, context, star, named)


def of_lambda(name: str, node: cst.Lambda, local: bool = False) -> Unit | None:
    """A lambda as a unit."""
    given = node.params
    if given.star_kwarg is not None or isinstance(given.star_arg, cst.Param):
        return None
    return Unit(name, tuple((p.name.value, p.default) for p in given.params), (), node.body, local)


def _doc(node: cst.CSTNode) -> bool:
    match node:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
    return False


def context_managers(tree: cst.Module, imports: Imports) -> dict[str, Unit]:
    """The generators of one round that ``contextlib.contextmanager`` decorates."""
    found: dict[str, Unit] = {}
    for node in tree.body:
        if isinstance(node, cst.FunctionDef) and [imports.qualified(dotted(d.decorator)) for d in node.decorators] == [
            "contextlib.contextmanager"
        ]:
            made = unit(node, context=True)
            if made is not None and sum(isinstance(n, cst.Yield) for n in walk(node.body)) == 1:
                found[made.name] = made
    return found


def generators(body: Iterable[cst.CSTNode], local: bool = False) -> dict[str, Unit]:
    """The generators of a module, or of a function, that give their values at one place."""
    found: dict[str, Unit] = {}
    for node in body:
        if isinstance(node, cst.FunctionDef) and not node.decorators:
            made = unit(node, local, context=True)
            inner = list(walk(node.body))
            times = sum(isinstance(n, cst.Yield) for n in inner)
            if made is not None and times == 1 and not any(isinstance(n, cst.Return | cst.From) for n in inner):
                found[made.name] = made
    return found


def enumerations(tree: cst.Module, imports: Imports) -> dict[str, dict[str, int]]:
    """The enumerations of a module: the place of each name, equal values sharing one."""
    found: dict[str, dict[str, int]] = {}
    for node in tree.body:
        bases = [imports.qualified(dotted(b.value)) for b in node.bases] if isinstance(node, cst.ClassDef) else []
        if not isinstance(node, cst.ClassDef) or bases not in (["enum.Enum"], ["enum.IntEnum"]):
            continue
        values: list[str] = []
        names: dict[str, int] = {}
        for part in node.body.body:
            for small in part.body if isinstance(part, cst.SimpleStatementLine) else ():
                match small:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                        text = tree.code_for_node(value)
                        text = (
                            f"{text} {len(values)}" if dotted(getattr(value, "func", value)).endswith("auto") else text
                        )
                        values += [text] if text not in values else []
                        names[name] = values.index(text)
        found[node.name.value] = names
    return found


def lambdas(body: Iterable[cst.CSTNode], local: bool = False) -> dict[str, Unit]:
    """``name = lambda …`` among statements."""
    found: dict[str, Unit] = {}
    for line in body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match small:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Lambda() as value):
                    made = of_lambda(name, value, local)
                    if made is not None:
                        found[name] = made
    return found


def records(tree: cst.Module, imports: Imports) -> dict[str, Record]:
    """The classes of a module whose instances may become names."""
    found: dict[str, Record] = {}
    for node in tree.body:
        if isinstance(node, cst.ClassDef):
            made = _class(node, imports, found)
            if made is not None:
                found[made.name] = made
        for small in node.body if isinstance(node, cst.SimpleStatementLine) else ():
            match small:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=name))],
                    value=cst.Call(func=func, args=[cst.Arg(), cst.Arg(value=names)]),
                ) if imports.qualified(dotted(func)) == "collections.namedtuple":
                    fields: list[str] = []
                    if isinstance(names, cst.SimpleString):
                        fields = str(names.evaluated_value).replace(",", " ").split()
                    elif isinstance(names, cst.List | cst.Tuple):
                        words = [e.value for e in names.elements]
                        fields = [str(w.evaluated_value) for w in words if isinstance(w, cst.SimpleString)]
                    if fields:
                        found[name] = Record(name, tuple((f, None) for f in fields), is_tuple=True)
    return found


def _named_super(node: cst.FunctionDef) -> cst.FunctionDef:
    """A method with ``super().run(…)`` as a call of a method of its own."""

    class Super(cst.CSTTransformer):
        def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
            match updated_node:
                case cst.Attribute(value=cst.Call(func=cst.Name(value="super"), args=[]), attr=attr):
                    return cst.Attribute(cst.Name("self"), cst.Name(f"{_SUPER}{attr.value}"))
            return updated_node

    made = node.visit(Super()) if any(n.value == "super" for n in all_of(cst.Name, node)) else node
    assert isinstance(made, cst.FunctionDef)
    return made


def default_of(value: Any, imports: Imports) -> Any:
    """What a field of a dataclass is where nobody gives it: ``field(default=3)``, ``field(default_factory=list)``."""
    if not isinstance(value, cst.Call) or imports.qualified(dotted(value.func)) != "dataclasses.field":
        return value
    words = {a.keyword.value: a.value for a in value.args if a.keyword is not None}
    if "default" in words and "init" not in words:
        return words["default"]
    match words.get("default_factory"):
        case cst.Name(value="list"):
            return cst.List([])
        case cst.Name(value="dict"):
            return cst.Dict([])
        case cst.Lambda(params=cst.Parameters(params=[]), body=made):
            return made
    return value


def _set_of_self(node: cst.CSTNode) -> set[str]:
    """The attributes of ``self`` that a statement sets."""
    targets = [n.target for n in all_of(cst.AssignTarget | cst.AugAssign, node)]
    return {
        t.attr.value for t in targets
        if isinstance(t, cst.Attribute) and isinstance(t.value, cst.Name) and t.value.value == "self"
    }  # fmt: skip


def constructor(fields: list[tuple[str, cst.BaseExpression | None]]) -> cst.FunctionDef:
    """What ``@dataclass`` writes for a class with ``__post_init__``."""
    given = ", ".join(n if v is None else f"{n}=0" for n, v in fields)
    lines = "".join(f"    self.{n} = {n}\n" for n, _ in fields)
    made: Any = cst.parse_statement(f"def __init__(self, {given}):\n{lines}    self.__post_init__()\n")
    defaults = [None, *(v for _, v in fields)]
    params = [p.with_changes(default=d) for p, d in zip(made.params.params, defaults, strict=True)]
    return made.with_changes(params=made.params.with_changes(params=params))  # type: ignore[no-any-return]


def _class(node: cst.ClassDef, imports: Imports, found: Mapping[str, Record]) -> Record | None:
    parents = [found[dotted(b.value)] for b in node.bases if dotted(b.value) in found]
    bases = [imports.qualified(dotted(b.value)) or dotted(b.value) for b in node.bases]
    is_tuple = bases == ["typing.NamedTuple"]
    decorators = [
        imports.qualified(dotted(d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator))
        for d in node.decorators
    ]
    is_data = decorators == ["dataclasses.dataclass"]
    bases = [b for b in bases if b not in PLAIN_BASES]
    if (bases and not is_tuple and len(parents) != len(bases)) or (decorators and not is_data):
        return None
    if any(dotted(k.value).rpartition(".")[2] != "ABCMeta" for k in node.keywords) or not isinstance(
        node.body, cst.IndentedBlock
    ):
        return None
    fields: list[tuple[str, cst.BaseExpression | None]] = []
    constants: dict[str, cst.BaseExpression] = {}
    methods: dict[str, Unit] = {}
    properties: set[str] = set()
    of_class: set[str] = set()
    for parent in reversed(parents):
        constants |= dict(parent.constants)
        properties |= parent.properties
        of_class |= parent.of_class
        methods |= dict(parent.methods)
        methods |= {f"{_SUPER}{n}": m for n, m in parent.methods.items() if not n.startswith(_SUPER)}
    for part in node.body.body:
        if isinstance(part, cst.FunctionDef):
            kinds = [dotted(d.decorator) for d in part.decorators]
            apart = kinds in (["staticmethod"], ["classmethod"])
            made = unit(_named_super(part), method=not apart)
            if made is not None and apart:
                if kinds == ["staticmethod"]:  # its object has no name in it
                    made = replace(made, params=(("", None), *made.params))
                methods[made.name] = made
                of_class.add(made.name)
            elif made is not None and kinds in ([], ["property"]):
                methods[made.name] = made
                properties |= {made.name} if kinds else set()
        for small in part.body if isinstance(part, cst.SimpleStatementLine) else ():
            match small:
                case cst.AnnAssign(target=cst.Name(value=name), value=value) if is_tuple or is_data:
                    fields.append((name, default_of(value, imports) if is_data else value))
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    constants[name] = value
    if not is_tuple and not is_data and not methods:
        return None
    if "__init__" in methods and not is_data:  # what an object changes of its class is its own
        own_names = {n for m in methods.values() for line in m.body for n in _set_of_self(line)} & set(constants)
        lines = tuple(cst.parse_statement(f"self.{n} = 0").with_changes(  # type: ignore[union-attr]
            body=[cst.Assign([cst.AssignTarget(cst.Attribute(cst.Name("self"), cst.Name(n)))], constants.pop(n))])
            for n in sorted(own_names))  # fmt: skip
        methods["__init__"] = replace(methods["__init__"], body=(*lines, *methods["__init__"].body))
    if is_data:
        own = {n for n, _ in fields}
        fields = [*((n, dict(fields).get(n, v)) for p in parents for n, v in p.fields), *fields]
        fields = [f for at, f in enumerate(fields) if f[0] not in {n for n, _ in fields[:at]}]
        if "__init__" in methods or any(n in own for p in parents for n in p.constants):
            return None
        if "__post_init__" in methods:  # the names of a constructor of its own
            made = unit(constructor(fields), method=True)
            if made is None:
                return None
            methods["__init__"], fields = made, []
    return Record(
        node.name.value, tuple(fields), methods, frozenset(properties), constants, is_tuple, frozenset(of_class)
    )
