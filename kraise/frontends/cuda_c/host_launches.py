"""Launches of CUDA C host functions in their three spellings, and the arguments of calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_functors, host_structs, host_times
from kraise.frontends.cuda_c.c_types import AUTO, Array, Pointer, Struct, leaf, other_type
from kraise.frontends.cuda_c.host_flat_structs import without_flat_structs
from kraise.frontends.cuda_c.host_memory import Memory
from kraise.frontends.cuda_c.host_names import callee, normal
from kraise.frontends.cuda_c.host_places import is_dim3
from kraise.frontends.cuda_c.host_variants import Variants, launched_as
from kraise.frontends.cuda_c.instantiate import Instantiation
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import Node, arguments_of, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ArrayType, ScalarType, StructType

ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


class Launches(Memory):
    """The part of the reader that knows launches."""

    before: Any
    extents_in: Any
    skips: dict[str, set[int]]
    records: dict[str, dict[str, str]]
    host_copied: dict[str, set[int]]
    host_timed: dict[str, set[int]]
    pending: list[h.Stmt]
    record_of: Any
    instances: dict[str, list[Instantiation]]
    variants: Variants
    ignored: set[str]
    host_params: dict[str, tuple[k.Param, ...]]
    struct_types: set[str]
    structs: dict[str, tuple[str, ...]]  # arrays of structs: the names of their members

    def by_members(self, text: list[Raw]) -> list[Raw]:
        """The function with an array for each member of its arrays of structs."""
        found = host_structs.structs_of(text, self.low.lookup, self.functions.values())
        sizes = {n: size for n, t in found.items() if (size := self.low.size_of(t))}
        found = {n: t for n, t in found.items() if n in sizes}
        text = without_flat_structs(text, found, self.functions)
        self.struct_types = {t.name for t in found.values()}
        written, arrays = host_structs.by_members(text, found, sizes)
        self.structs = {name: tuple(m for m, _ in found[of].members) for name, of in arrays.items()}
        return written

    def parts(self, node: Tree) -> dict[str, Tree]:
        """By member: an argument that names an array of structs; {} for another."""
        name = next((str(t) for t in tokens(node) if str(t) in self.structs), "")
        return {m: _renamed(node, name, host_structs.member_name(name, m)) for m in self.structs.get(name, ())}

    def extents(self, node: Node) -> tuple[k.Expr, ...]:
        """A launch extent: a number, a ``dim3`` variable or ``dim3(…)``."""
        node = strip(node)
        name = callee(node)
        if name in self.dims:
            return self.dims[name]
        if kind(node) in ("functional_cast", "call_expression", "braced_cast") and "dim3" in self.low.text(node):
            args = [c for c in trees(node) if c.data != "simple_type_specifier"]  # type: ignore[arg-type]
            args = [x for c in args for x in (trees(c) if c.data == "braced_init_list" else [c])]
            return tuple(normal(self.number(a)) for a in args)
        if self.is_ignored(node):
            return (k.Var("?", INT32),)
        if isinstance(node, Tree) and kind(node) == "call_expression" and is_dim3(self._type_of(node)):
            return self._returned_extents(node)
        return (normal(self.number(node)),)

    def _returned_extents(self, node: Node) -> tuple[k.Expr, ...]:
        """What a helper of the file makes of its arguments: ``tiles(n, m)`` of ``return dim3((m + 15) / 16, …)``."""
        found = self.low.value(node)
        self.before(node, found)
        return tuple(normal(self.extents_in(member)) for _, member in found.fields)

    def launch(self, node: Tree) -> h.Launch:
        """``kernel<<<grid, block, shared, stream>>>(…)``."""
        configuration = child(node, "launch_configuration")
        assert configuration is not None
        given = trees(configuration)
        args = [c for c in node.children[1:] if isinstance(c, Tree) and c is not configuration]
        return self.launched(callee(node.children[0]), given, args, node, node.children[0])

    def launch_call(self, args: list[Tree], node: Tree) -> h.Launch:
        """``hipLaunchKernelGGL(kernel, grid, block, shared, stream, …)``."""
        target = strip(args[0])
        while kind(target) == "call_expression" and callee(target.children[0]) == "HIP_KERNEL_NAME":  # type: ignore[union-attr]
            target = strip(trees(target)[1])  # type: ignore[arg-type]
        return self.launched(callee(target), args[1:4], args[5:], node, target)

    def launch_api(self, args: list[Tree], node: Tree) -> h.Launch:
        """``cudaLaunchKernel((void *)kernel, grid, block, args, shared, stream)`` with ``void *args[] = {&x, …}``."""
        target: Any = strip(args[0])
        while kind(target) in ("cast_expression", "unary_expression"):
            target = strip(trees(target)[-1])
        pack = self.packs.get(callee(strip(args[3])))
        if pack is None:
            raise self.low.refuse("KR211", "the arguments of this launch are not known here", node)
        given = []
        for item in pack:
            inner: Any = strip(item)
            while kind(inner) == "cast_expression":
                inner = strip(trees(inner)[-1])
            given.append(strip(inner.children[1]) if kind(inner) == "unary_expression" else inner)
        return self.launched(callee(target), [args[1], args[2], *args[4:5]], given, node, target)

    def launched(self, name: str, configuration: list[Any], args: list[Any], node: Tree, target: Any) -> h.Launch:
        """A launch of ``name``, which ``target`` spells."""
        if isinstance(self.low.lookup(name), VarPlace) or name in self.ignored or not name:
            raise self.low.refuse("KR211", "a launch through a function pointer", node, "launch the kernel by its name")
        grid, block = (self.extents(c) for c in configuration[:2])
        shared = self.number(configuration[2]) if len(configuration) > 2 else None
        name, function, args = launched_as(self, name, args, target, self.functions.get(name))
        passed = (*self.given(function, args), *self.symbols_of(function, len(args)))
        if function is not None and function.static:
            passed = (*passed, *self.template_numbers(callee(target), function.static, target))
        return h.Launch(name, passed, grid, block, shared, span=self.low.span(node))

    def _type_of(self, node: Tree) -> Any:
        if (made := host_functors.type_of(self, node)) is not None:
            return made
        try:
            return self.low._argument_type(node)
        except Refused:
            return AUTO

    def template_numbers(self, name: str, wanted: tuple[str, ...], target: Any) -> list[k.Expr]:
        """The integer template arguments that a call spells, of the template parameters that vary in the file."""
        given = arguments_of(target)
        parameters = self.program.functions[name][0].parameters
        values = trees(given) if given is not None else []
        out: list[k.Expr] = []
        for own in wanted:
            at = next(n for n, p in enumerate(parameters) if p.name == own)
            if at >= len(values):
                hint = f"write {name}<…> with all its arguments"
                raise self.low.refuse("KR211", f"the template argument {own} of {name} is not given", target, hint)
            out.append(normal(self.number(values[at].children[0])))
        return out

    def arguments(self, node: Any) -> tuple[h.Expr | k.ArrayRef, ...]:
        """The arguments of a call of another host function."""
        skipped = self.skips.get(callee(node.children[0]), set())
        name = callee(node.children[0])
        every = [p for a in trees(node)[1:] for p in (self.parts(a).values() or [a])]
        args = [a for at, a in enumerate(every) if at not in skipped]
        found = self.given(None, args, self.host_params.get(name, ()))
        for at, ref in enumerate(found):
            if isinstance(ref, k.ArrayRef) and at in self.host_copied.get(name, ()):
                self.copied[ref.array] = None
            if isinstance(ref, k.ArrayRef) and at in self.host_timed.get(name, ()):
                self.pending.append(host_times.marked(ref.array, self.low.span(node)))
        own = {p.name for p in self.program.functions[name][0].parameters if p.kind != "type"}
        wanted = tuple(p.name for p in self.host_params.get(name, ()) if p.name in own)
        return (*found, *self.template_numbers(name, wanted, node.children[0])) if wanted else found

    def given(
        self, function: k.Function | None, args: list[Any], params: tuple[k.Param, ...] = ()
    ) -> tuple[h.Expr | k.ArrayRef, ...]:
        """Arguments: arrays by reference, numbers converted to the parameter's type."""
        out: list[h.Expr | k.ArrayRef] = []
        params = function.params if function is not None else params
        for n, a in enumerate(args):
            param = params[n] if n < len(params) else None
            is_array = isinstance(param.type, ArrayType) if param is not None else bool(self._array_like(a))
            if is_array:
                ref = self.pointer(a)
                self.one_type(ref, a)
                kind_of = param.type if param is not None else None
                axes = kind_of.ndim - len(kind_of.tail) if isinstance(kind_of, ArrayType) else 1
                if axes == 1:
                    ref = replace(ref, rows=self.vectors_of(ref, kind_of, a))
                elif axes != 1 + len(ref.rows):
                    reason = f"an array of {axes} axes is taken here, and `{self.low.text(a)}` is none"
                    raise self.low.refuse("KR211", reason, a)
                out.append(ref)
                continue
            if param is not None and isinstance(param.type, StructType):
                out.append(self.struct_value(param.type, a))
                continue
            value = self.number(a)
            target = param.type if param is not None else None
            out.append(self.low.convert(value, target, a) if isinstance(target, ScalarType) else value)
        return tuple(out)

    def one_type(self, ref: k.ArrayRef, node: Tree) -> None:
        """Refuses memory of floats that a cast shows as integers, or the other way round, or of another width."""
        if kind(strip(node)) not in ("cast_expression", "cxx_cast_expression"):
            return
        to = self._type_of(strip(node))  # type: ignore[arg-type]
        self.low.out.clear()
        one = leaf(to.to)[0] if isinstance(to, Pointer) else None
        if one is not None and other_type(one, leaf(self.arrays[ref.array])[0]):
            reason = f"`{self.low.text(node)}` sees memory of {leaf(self.arrays[ref.array])[0]} as {one}"
            raise self.low.refuse("KR211", reason, node, "use memory of one type")

    def vectors_of(self, ref: k.ArrayRef, kind_of: Any, node: Tree) -> tuple[k.Expr, ...]:
        """The extents of the vectors that a kernel sees in an array of numbers (``(float4 *)d``)."""
        own = self.arrays[ref.array]
        if not isinstance(kind_of, ArrayType):
            return ()
        wanted = kind_of.tail
        if bool(wanted) == isinstance(own, Struct) or isinstance(own, Array):
            return ()
        if not wanted or ref.offset is not None:
            reason = f"`{self.low.text(node)}` is memory of another type than the kernel's parameter"
            raise self.low.refuse("KR211", reason, node, "use an array of that type")
        return tuple(k.Const(int(n), INT32) for n in wanted)

    def struct_value(self, struct: StructType, node: Tree) -> h.Record | h.Structs:
        """A struct variable by value, or an array of structs."""
        if struct.is_array:
            arrays = self.parts(node)
            if tuple(arrays) != tuple(n for n, _ in struct.members):
                reason = f"`{self.low.text(node)}` is no array of {struct.name} that is known here"
                raise self.low.refuse("KR211", reason, node, "make it as an array of its own")
            return h.Structs(struct, tuple(self.pointer(p) for p in arrays.values()), span=self.low.span(node))
        owner = self.record_of(node) or host_functors.named(self, node)
        if not struct.members and owner:
            return h.Record(struct, (), span=self.low.span(node))
        parts = [(t, self.records[owner].get(n, "")) for n, t in struct.members] if owner else []
        if parts and struct.holds_arrays:
            return h.Structs(struct, tuple(self.member_value(t, n, node) for t, n in parts), span=self.low.span(node))
        if not parts or not all(isinstance(t, ScalarType) and self.low.lookup(n) is not None for t, n in parts):
            reason = f"`{self.low.text(node)}` is no struct of numbers that is known here"
            raise self.low.refuse("KR211", reason, node, "pass its members one by one")
        numbers = tuple(self.low.convert(k.Var(n, self.low.lookup(n).type), t, node) for t, n in parts)
        return h.Record(struct, numbers, span=self.low.span(node))

    def member_value(self, t: Any, name: str, node: Tree) -> k.ArrayRef | k.Expr:
        """A member of a struct with arrays: an array, or a number."""
        if isinstance(t, ArrayType) and name in self.arrays:
            return k.ArrayRef(name, span=self.low.span(node))
        place = self.low.lookup(name)
        if not isinstance(t, ScalarType) or not isinstance(place, VarPlace):
            reason = f"the member {name} of `{self.low.text(node)}` is no array and no number"
            raise self.low.refuse("KR211", reason, node, "pass the members of the struct one by one")
        return self.low.convert(k.Var(name, place.type), t, node)  # type: ignore[no-any-return]

    def _array_like(self, node: Node) -> str:
        name = self.pointer_name(node)
        if name:
            return name
        if any(str(t) in self.arrays for t in tokens(node)):
            try:
                return self.pointer(node).array
            except Exception:
                return ""
        return ""


def _renamed(node: Any, name: str, to: str) -> Any:
    """A tree with another name for a variable."""
    if isinstance(node, Tree):
        return Tree(node.data, [_renamed(c, name, to) for c in node.children], node.meta)
    return node.update(value=to) if str(node) == name else node
