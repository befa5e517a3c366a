"""What a module holds: its functions and what each is (kernel, device, plain, host); nothing is lowered here."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import libcst as cst

from kraise import dialects
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, walk


@dataclass(frozen=True)
class Definition:
    """One function. ``kind``: kernel, device, plain, and (passed over) ufunc, scalar or host.

    ``name`` is its name in the raised module: the source's, or one made of it and the enclosing function's where two
    functions share a name. ``around`` are the enclosing functions, outermost first; ``calls`` the names (of the raised
    module) that it calls, ``visible`` what each name of the source stands for inside it.
    """

    name: str
    node: cst.FunctionDef
    kind: str
    decorated: bool
    doc: str = ""
    decorator: cst.BaseExpression | None = None
    calls: tuple[str, ...] = ()
    around: tuple[cst.FunctionDef, ...] = ()
    method: bool = False
    visible: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def source_name(self) -> str:
        """The name that the source gives it."""
        return self.node.name.value


@dataclass
class Survey:
    """The functions by name; ``repeated`` are later kernels under a name taken in their scope, ``renamed`` those that
    share the name of a function of another scope and got one of their own."""

    functions: dict[str, Definition] = field(default_factory=dict)
    repeated: list[Definition] = field(default_factory=list)
    renamed: list[Definition] = field(default_factory=list)


def survey(source: Source, imports: Imports, kernel_decorators: tuple[str, ...]) -> Survey:
    """All functions of a module, those in classes and functions too, with their kinds."""
    found = Survey()
    for node, around, method in functions_of(source.tree):
        definition = _definition(node, around, method, imports, kernel_decorators)
        if method and not definition.decorated:
            continue
        previous = found.functions.get(definition.name)
        if previous is None:
            found.functions[definition.name] = definition
        elif previous.around == around and previous.method == method and not method:
            if previous.decorated and definition.decorated and "kernel" in (previous.kind, definition.kind):
                found.repeated.append(definition)
            elif definition.decorated or not previous.decorated:
                found.functions[definition.name] = definition
        else:
            _another(found, previous, definition)
    _jitted(source.tree, found, imports, kernel_decorators)
    _calls(found, imports, source.moved)
    return found


def _another(found: Survey, previous: Definition, definition: Definition) -> None:
    """A function of another scope under a name already taken: it is kept under a name of its own."""
    if not definition.around and not definition.method:  # the module's own function keeps its name
        definition, previous = previous, definition
        found.functions[previous.name] = previous
    name = "_".join([f.name.value for f in definition.around] + [definition.name])
    number = 2
    wish = name
    while name in found.functions:
        name, number = f"{wish}_{number}", number + 1
    definition = replace(definition, name=name)
    found.functions[name] = definition
    if definition.decorated:
        found.renamed.append(definition)


def _jitted(tree: cst.Module, found: Survey, imports: Imports, kernel_decorators: tuple[str, ...]) -> None:
    """``fast = cuda.jit(f)`` and ``njit(parallel=True)(f)``, wherever they stand, decorate the module's ``f``."""
    wrapped: dict[str, list[tuple[str, cst.BaseExpression]]] = {}
    for call in all_of(cst.Call, tree):
        if not (call.args and isinstance(call.args[0].value, cst.Name)):
            continue
        if any(a.keyword is None for a in call.args[1:]):
            continue
        definition = found.functions.get(call.args[0].value.value)
        if definition is None or definition.decorator is not None or definition.around or definition.method:
            continue
        with_flags = len(call.args) > 1  # cuda.jit(f, device=True)
        kind = _kind(call if with_flags else call.func, imports, kernel_decorators)
        if kind:
            wrapped.setdefault(definition.name, []).append((kind, call.func))
    for name, ways in wrapped.items():
        # several signatures say nothing about the types
        decorator = ways[0][1] if len(ways) == 1 else None
        kind = "device" if any(k == "device" for k, _ in ways) else ways[0][0]
        found.functions[name] = replace(found.functions[name], kind=kind, decorated=True, decorator=decorator)


Place = tuple[cst.CSTNode, tuple[cst.FunctionDef, ...], bool]


def functions_of(tree: cst.Module) -> Iterator[tuple[cst.FunctionDef, tuple[cst.FunctionDef, ...], bool]]:
    """(function, enclosing functions, does it stand in a class) in source order; the main guard is passed over."""
    stack: list[Place] = [(s, (), False) for s in reversed(tree.body)]
    while stack:
        node, around, method = stack.pop()
        match node:
            case cst.FunctionDef(body=body):
                yield node, around, method
                if isinstance(body, cst.IndentedBlock):
                    stack.extend((s, (*around, node), False) for s in reversed(body.body))
            case cst.ClassDef(body=body):
                stack.extend((s, around, True) for s in reversed(body.body))
            case cst.If(test=test, body=body, orelse=orelse):
                if orelse is not None:
                    stack.append((orelse, around, method))
                if not _is_main_guard(test):
                    stack.extend((s, around, method) for s in reversed(body.body))
            case cst.Try(body=body, orelse=orelse):
                if orelse is not None:
                    stack.append((orelse, around, method))
                stack.extend((s, around, method) for s in reversed(body.body))
            case cst.Else(body=body) | cst.With(body=body) | cst.For(body=body) | cst.While(body=body):
                stack.extend((s, around, method) for s in reversed(body.body))


def _is_main_guard(test: cst.BaseExpression) -> bool:
    return isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__"


def _definition(
    node: cst.FunctionDef, around, method: bool, imports: Imports, kernel_decorators: tuple[str, ...]
) -> Definition:
    kind, chosen = "", None
    for item in node.decorators:
        here = _kind(item.decorator, imports, kernel_decorators)
        if here:
            kind, chosen = here, item.decorator
    decorated = bool(kind)
    if not kind and reads_thread_index(node, around, imports):  # whatever a decorator of the user's own is called
        kind = "device" if _returns_value(node) else "kernel"
        own = [p.name.value for p in node.params.params[:1]]
        decorated = kind == "kernel" and own not in (["self"], ["cls"])
    elif not kind and node.decorators and not _in_parallel(node, imports):
        kind = "host"  # a decorator that is not known: a property, a fixture, a cache
    return Definition(node.name.value, node, kind, decorated, doc_of(node), chosen, (), around, method)


def reads_thread_index(node: cst.FunctionDef, around: tuple[cst.FunctionDef, ...], imports: Imports) -> bool:
    """Does a function use ``cuda.threadIdx``, ``cuda.grid``, …? Then it runs on a grid of threads, decorated or not.

    ``cuda`` may be a parameter of an enclosing function, where the module binds it to nothing else.
    """
    given = {p.name.value for f in around for p in f.params.params}
    if "cuda" in given and "cuda" not in imports.bound:
        imports.bound["cuda"] = "numba.cuda"
    vocabulary = dialects.vocabulary("numba_cuda")
    for inner in walk(node.body, lambda n: not isinstance(n, cst.FunctionDef)):
        name = dotted(inner) if isinstance(inner, cst.Attribute | cst.Name) else ""
        if name and vocabulary.get(imports.qualified(name), "") in _INDICES:
            return True
    return False


def _in_parallel(node: cst.FunctionDef, imports: Imports) -> bool:
    """Does a function loop over ``prange``? Then its decorator is one of numba's, by another name."""
    return any(imports.qualified(dotted(c.func)) == "numba.prange" for c in all_of(cst.Call, node.body))


_INDICES = frozenset({"global_index", "global_extent", "thread", "block"})


def _returns_value(node: cst.FunctionDef) -> bool:
    inner = walk(node.body, lambda n: not isinstance(n, cst.FunctionDef | cst.Lambda))
    return any(isinstance(n, cst.Return) and n.value is not None and dotted(n.value) != "None" for n in inner)


def decorated_as(node: cst.FunctionDef, imports: Imports, kernel_decorators: tuple[str, ...]) -> str:
    """What the decorators make of a function: ``kernel``, ``device``, …; "" if they are not known."""
    kinds = [_kind(d.decorator, imports, kernel_decorators) for d in node.decorators]
    return next((k for k in reversed(kinds) if k), "")


def _kind(expression: cst.BaseExpression, imports: Imports, kernel_decorators: tuple[str, ...]) -> str:
    """What a decorator makes of a function, "" if it is not known."""
    callee = expression.func if isinstance(expression, cst.Call) else expression
    name = dotted(callee)
    qualified = imports.qualified(name) or name
    kind = dialects.decorators("numba_cuda").get(qualified, "")
    if {name, name.rpartition(".")[2], qualified} & set(kernel_decorators) - {""}:
        kind = "kernel"
    if kind == "kernel" and isinstance(expression, cst.Call) and _device_flag(expression):
        kind = "device"
    return kind


def _device_flag(call: cst.Call) -> bool:
    return any(a.keyword is not None and a.keyword.value == "device" and dotted(a.value) == "True" for a in call.args)


def doc_of(node: cst.FunctionDef | cst.Module) -> str:
    """The docstring, as ``inspect.cleandoc`` leaves it."""
    doc = node.get_docstring(clean=False)
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""


def _visible(found: Survey) -> None:
    """What each function's name stands for inside each function: the innermost definition around it wins."""
    by_scope: dict[tuple[int, ...], dict[str, str]] = {}
    for name, definition in found.functions.items():
        if not definition.method:
            scope = tuple(id(f) for f in definition.around)
            by_scope.setdefault(scope, {})[definition.source_name] = name
    for name, definition in found.functions.items():
        scope = tuple(id(f) for f in definition.around)
        seen: dict[str, str] = {}
        for k in range(len(scope) + 1):
            seen.update(by_scope.get(scope[:k], {}))
        found.functions[name] = replace(definition, visible=seen)


def _calls(found: Survey, imports: Imports, moved: frozenset[str]) -> None:
    """Who calls whom; a kernel that is called is a device function; undecorated functions are sorted."""
    _visible(found)
    called_by: dict[str, set[str]] = {}
    for name, definition in found.functions.items():
        names = []
        for node in all_of(cst.Call, definition.node.body):
            callee = definition.visible.get(dotted(node.func), "")
            if callee and callee not in names:
                names.append(callee)
        found.functions[name] = replace(definition, calls=tuple(names))
        for callee in names:
            called_by.setdefault(callee, set()).add(name)
    on_device = {n for n, d in found.functions.items() if d.kind in ("kernel", "device")}
    for name, definition in found.functions.items():
        if definition.kind == "kernel" and (called_by.get(name, set()) - {name}) & on_device:
            found.functions[name] = replace(definition, kind="device")
        elif definition.kind == "" and is_host(definition.node, imports):
            found.functions[name] = replace(definition, kind="host")
    # what kernels call is a device function, whatever its decorator
    reached = {n for n, d in found.functions.items() if d.kind in ("kernel", "device")}
    todo = sorted(reached)
    while todo:
        for callee in found.functions[todo.pop()].calls:
            if callee not in reached:
                reached.add(callee)
                todo.append(callee)
                found.functions[callee] = replace(found.functions[callee], kind="device")
    for name, definition in found.functions.items():
        if definition.kind == "":
            top = not definition.around and not definition.method
            plain = top and name not in moved and loops_over_arrays(definition.node, moved)
            kind = "plain" if plain else "scalar"
            found.functions[name] = replace(definition, kind=kind)
    while more := [n for n, d in found.functions.items() if d.kind == "scalar" and _steps(found, d, moved)]:
        for name in more:
            found.functions[name] = replace(found.functions[name], kind="plain")


def _steps(found: Survey, definition: Definition, moved: frozenset[str]) -> bool:
    """Does a loop of a function, one at the top, call plain functions of the file, each round?"""
    if definition.around or definition.method or definition.name in moved:
        return False
    calls = (c for loop in all_of(cst.For | cst.While, definition.node.body) for c in all_of(cst.Call, loop.body))
    names = {definition.visible.get(dotted(c.func), "") for c in calls} - {definition.name}
    return any(n in found.functions and found.functions[n].kind == "plain" for n in names)


def is_host(node: cst.FunctionDef, imports: Imports) -> bool:
    """Does it launch kernels, print, plot, test or read files? Methods and generators count as host code too."""
    prefixes = tuple(dialects.table("numpy_scalar")["host"]["prefixes"])
    if node.params.params and node.params.params[0].name.value in ("self", "cls"):
        return True
    if all_of(_OF_HOSTS, node.body):
        return True
    for call in all_of(cst.Call, node.body):
        name = dotted(call.func)
        if isinstance(call.func, cst.Subscript) or name.endswith(".forall"):
            return True
        if name and imports.qualified(name).startswith(prefixes):
            return True
    return False


_OF_HOSTS = (
    cst.ClassDef | cst.With | cst.Try | cst.Yield | cst.Await | cst.FunctionDef | cst.Import | cst.ImportFrom
    | cst.Global
)  # fmt: skip


def loops_over_arrays(node: cst.FunctionDef, own: frozenset[str] = frozenset()) -> bool:
    """Is there a ``for`` (or ``while``) whose body subscripts something, or calls one of its ``own`` functions?"""
    for loop in all_of(cst.For | cst.While, node.body):
        if all_of(cst.Subscript, loop.body) or any(dotted(n.func) in own for n in all_of(cst.Call, loop.body)):
            return True
        if isinstance(loop, cst.For) and isinstance(loop.iter, cst.Name | cst.Subscript):
            return True
    return False


_ARRAY_CODE = (
    cst.Dict, cst.DictComp, cst.Set, cst.SetComp, cst.ListComp, cst.MatrixMultiply, cst.StarredElement,
    cst.StarredDictElement, cst.Is, cst.IsNot, cst.In, cst.NotIn, cst.Raise, cst.NamedExpr,
)  # fmt: skip


def array_code(node: cst.FunctionDef) -> cst.CSTNode | None:
    """Where a function computes with whole arrays as only NumPy can (``@``, ``.T``, ``axis=``); None if nowhere."""
    for inner in walk(node.body):
        match inner:
            case cst.MatrixMultiply() | cst.Arg(keyword=cst.Name(value="axis")):
                return inner
            case cst.Attribute(attr=cst.Name(value="T" | "reshape" | "transpose" | "flatten" | "cumsum")):
                return inner
            case cst.Attribute() if dotted(inner).startswith(_WHOLE):
                return inner
    return None


_WHOLE = tuple(
    f"{module}.{name}"
    for module in ("np", "numpy")
    for name in (
        *("linalg.", "fft.", "meshgrid", "concatenate", "stack", "vstack", "hstack"),
        *("reshape", "transpose", "expand_dims", "repeat", "tile", "outer", "einsum", "convolve"),
        *("sort", "argsort", "nonzero", "unique", "diff"),
    )
)


def is_scalar_nest(node: cst.FunctionDef, imports: Imports) -> bool:
    """Is it a loop nest that stores cell by cell, and nothing else? Then its problems are worth reporting.

    A ``for i in range(…)`` whose body stores to a subscript with a loop variable in it; no slices, dictionaries, calls
    of methods or other marks of code over whole arrays or objects.
    """
    spelled = {*dialects.operations("python"), *dialects.vocabulary("numpy_scalar", "numba_cuda")}
    for inner in walk(node.body):
        match inner:
            case cst.Slice(lower=lower, upper=upper, step=step) if lower or upper or step:
                return False
            case cst.Call(func=cst.Attribute() as func) if imports.qualified(dotted(func)) not in spelled:
                return False
            case _ if isinstance(inner, _ARRAY_CODE):
                return False
    return any(_stores_by(loop) for loop in all_of(cst.For, node.body))


def _stores_by(loop: cst.For) -> bool:
    """Does a range loop store to a subscript that names its variable?"""
    if not (isinstance(loop.iter, cst.Call) and dotted(loop.iter.func).rpartition(".")[2] in ("range", "prange")):
        return False
    if not isinstance(loop.target, cst.Name):
        return False
    for inner in walk(loop.body):
        target = inner.target if isinstance(inner, cst.AssignTarget | cst.AugAssign) else None
        if isinstance(target, cst.Subscript):
            subscripts = (n for part in target.slice for n in walk(part))
            if any(isinstance(n, cst.Name) and n.value == loop.target.value for n in subscripts):
                return True
    return False
