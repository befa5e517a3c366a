"""Calls of CUDA's own functions: concepts of the vocabulary, the math API, vector constructors, cooperative groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import half_pairs, numbers, out_numbers, vocabulary, word_functions
from kraise.frontends.cuda_c.arithmetic import cast, is_simple
from kraise.frontends.cuda_c.block_votes import block_vote
from kraise.frontends.cuda_c.c_types import Struct
from kraise.frontends.cuda_c.cas_loops import of_bits
from kraise.frontends.cuda_c.constants import OpenWidth, fold
from kraise.frontends.cuda_c.copied import any_sign, as_bits, memcpy, unlimited
from kraise.frontends.cuda_c.group_reductions import tile_reduce
from kraise.frontends.cuda_c.group_scans import tile_scan
from kraise.frontends.cuda_c.trees import Node, arguments_of, strip
from kraise.frontends.cuda_c.type_functions import TypeFunctions
from kraise.frontends.cuda_c.values import Cell, Group, NoValue, PointerPlace, PointerValue, StructValue, VarPlace
from kraise.ir.kernel import Atomic, Barrier, Const, Expr, Hw, Op, Var, Warp
from kraise.ir.types import BOOL, FLOAT32, FLOAT64, INT32, UINT32, ScalarType

_ALWAYS_FLOAT32 = frozenset(
    ("__expf", "__logf", "__sinf", "__cosf", "__tanf", "__powf", "__fdividef", "__exp10f", "__log2f", "__log10f")
)
_BOOLEAN = frozenset(("isnan", "isinf", "isfinite", "signbit"))


class Builtins(TypeFunctions):
    """Concepts to Kernel IR."""

    call_discarded = False  # is the value of the call being lowered unused?

    def builtin(self, name: str, arguments: list[Tree], node: Tree) -> Any:
        """A call of a function that the file does not define; None if its name means nothing here."""
        if name.startswith("make_"):
            t = vocabulary.type_called(name[5:])
            if t is not None:
                return self.construct(t, arguments, node)
        concept = vocabulary.concept(name)
        if concept:
            head, _, rest = concept.partition(".")
            return _CONCEPTS[head](self, name, rest, arguments, node)
        operation = vocabulary.operation(name)
        if operation:
            return self.math(name, operation, [self.value(a) for a in arguments], node)
        return None

    # --- the math API

    def math(self, name: str, operation: str, values: list[Any], node: Node) -> Any:
        """An operation of the table; the type follows C++'s overloads, or the suffix of the name."""
        args = [self.rvalue(v, node) for v in values]
        if not args:
            raise self.refuse("KR103", f"`{name}` is called without arguments", node)
        t = self._math_type(name, operation, args)
        span = self.span(node)
        if operation in _BOOLEAN:
            if not args[0].type.is_inexact:
                return Const(operation == "isfinite", BOOL, span=span)
            return Op(operation, tuple(args), BOOL, span=span)
        if operation == "fma" and len(args) != 3 or operation in ("min", "max") and len(args) != 2:
            raise self.refuse("KR103", f"`{name}` is called with {len(args)} arguments", node)
        if operation in ("popcount", "clz"):
            return Op(operation, tuple(args), INT32, span=span)
        if operation == "abs" and t.kind == "uint":
            return args[0]
        return Op(operation, tuple(cast(a, t) for a in args), t, span=span)

    def _math_type(self, name: str, operation: str, args: list[Expr]) -> ScalarType:
        t = args[0].type if operation not in ("popcount", "clz") else numbers.promote(args[0].type)
        for a in args[1:]:
            t = numbers.common(t, a.type)
        t = numbers.promote(t)
        if name in ("min", "max", "abs", "umin", "umax", "llmin", "llmax", "labs", "llabs", "popcount", "clz"):
            return t
        if name in ("__mul24", "__umul24"):
            return INT32 if name == "__mul24" else UINT32
        plain_f = name.endswith("f") and vocabulary.operation(name[:-1]) == operation and name not in ("erf",)
        if plain_f or name in _ALWAYS_FLOAT32:
            return FLOAT32
        if operation in ("popcount", "clz"):
            return t
        if t.is_inexact:
            return t
        return FLOAT64 if self.wide else FLOAT32

    def _pointer(self, node: Node) -> PointerValue:
        p = self.value(node)
        if not isinstance(p, PointerValue):
            raise self.refuse("KR104", f"`{self.text(node)}` is no pointer", node)
        return p

    # --- concepts, one method each

    def _barrier(self, name: str, scope: str, arguments: list[Tree], node: Tree) -> Any:
        self.flush()
        self.emit(Barrier(scope, span=self.span(node)))
        return NoValue()

    def _nothing(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        return NoValue()

    def _fence(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        self.fenced = True
        return NoValue()

    def _dropped(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        self.note("KR101", f"`{name}` is left out of the raised function", node)
        return NoValue()

    def _load(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        return self.read(self.element(self._pointer(arguments[0]), None, node), node)

    def _store(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        self.write(self.element(self._pointer(arguments[0]), None, node), self.value(arguments[1]), node)
        return NoValue()

    def _first(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        return self.value(arguments[0])

    def _atomic(self, name: str, operation: str, arguments: list[Tree], node: Tree) -> Any:
        discard = self.call_discarded
        pointer = self._pointer(arguments[0])
        place = self.element(pointer, None, node)
        t = getattr(place, "type", None)
        if not isinstance(t, ScalarType):
            raise self.refuse("KR104", f"`{name}` needs a number in memory", node)
        operation, values = unlimited(operation, tuple(cast(self.scalar(a), t) for a in arguments[1:]), t)
        span = self.span(node)
        seen = t
        if isinstance(place, Cell) and place.stored is not None:
            same = any_sign(operation, t, place.stored)
            if not same and (
                operation not in ("cas", "exch", "max", "min") or not t.is_integer or place.stored.is_integer
            ):
                why = f"`{name}` on the bits of another type is not raised"
                raise self.refuse("KR299", why, node, "use an array of that type")
            operation = operation if same or operation in ("cas", "exch") else of_bits(operation, t)
            t = place.stored
            values = tuple(as_bits(v, t) for v in values)
        if isinstance(place, VarPlace):
            raise self.refuse(
                "KR299", f"`{name}` on a variable of one thread is not raised", node, "no other thread sees it"
            )
        if not isinstance(place, Cell):
            raise self.refuse("KR299", f"`{name}` on this place is not raised", node)
        self.writable(place.array, node)
        if discard:
            self.emit(Atomic(operation, place.array, place.subscripts, values, t, span=span))
            return NoValue()
        result = self.fresh("before")
        self.emit(Atomic(operation, place.array, place.subscripts, values, t, result, self.fenced, span=span))
        old = Var(result, t, span=span)
        return old if seen == t else as_bits(old, seen)

    def _warp(self, name: str, operation: str, arguments: list[Tree], node: Tree, skip: int = 1) -> Any:
        values = [self.scalar(a) for a in arguments[skip:]]
        return self.warp(operation, values, node)

    def _oldwarp(self, name: str, operation: str, arguments: list[Tree], node: Tree) -> Any:
        return self._warp(name, operation, arguments, node, skip=0)

    def warp(self, operation: str, values: list[Expr], node: Node, width: int = 32) -> Any:
        """A warp primitive; its value is taken now, because all lanes take part in it."""
        span = self.span(node)
        if operation in ("any", "all", "ballot"):
            t = UINT32 if operation == "ballot" else INT32
            args: tuple[Expr, ...] = (self.condition(values[0]),)
        elif operation == "activemask":
            t, args = UINT32, ()
        else:
            t = values[0].type if values[0].type.kind != "bool" else INT32
            args = (cast(values[0], t), *(cast(v, INT32) for v in values[1:2]))
            if len(values) > 2:
                known = fold(values[2])
                if known is None:
                    raise OpenWidth(*self.refuse("KR299", "the width of a shuffle is not a constant", node).diagnostics)
                width = int(known.value)  # type: ignore[arg-type]
        return self.temporary(Warp(operation, args, t, width, span=span), operation.split("_")[0], node)

    def _pi(self, name: str, operation: str, arguments: list[Tree], node: Tree) -> Any:
        x = self.scalar(arguments[0])
        t = self._math_type("f" if name.endswith("f") else name, "sin", [x])
        pi = Const(3.141592653589793, t)
        return Op(operation, (Op("mul", (cast(x, t), pi), t),), t, span=self.span(node))

    def _fdim(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        a, b = [self.scalar(x) for x in arguments]
        difference = self.binary("-", a, b, self.span(node), node)
        return Op("max", (difference, Const(0.0, difference.type)), difference.type, span=self.span(node))

    def _saturate(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x = self.scalar(arguments[0])
        t = x.type if x.type.is_inexact else FLOAT32
        span = self.span(node)
        low = Op("max", (cast(x, t), Const(0.0, t)), t, span=span)
        return Op("min", (low, Const(1.0, t)), t, span=span)

    def _norm(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        values = [self.scalar(a) for a in arguments]
        values = [v if is_simple(v) else self.temporary(v, "t", node) for v in values]
        t = self._math_type("sqrt", "sqrt", values)
        total = None
        for v in values:
            square = self.binary("*", cast(v, t), cast(v, t), self.span(node))
            total = square if total is None else self.binary("+", total, square, self.span(node))
        operation = "rsqrt" if name[0] == "r" else "sqrt"
        return Op(operation, (total,), t, span=self.span(node))  # type: ignore[arg-type]

    def _normcdf(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x = self.scalar(arguments[0])
        t = self._math_type("erfc", "erfc", [x])
        span = self.span(node)
        scaled = Op("mul", (cast(x, t), Const(-0.7071067811865476, t)), t, span=span)
        return Op("mul", (Const(0.5, t), Op("erfc", (scaled,), t, span=span)), t, span=span)

    def _ldexp(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x, n = [self.scalar(a) for a in arguments]
        t = x.type if x.type.is_inexact else FLOAT32
        span = self.span(node)
        return Op("mul", (cast(x, t), Op("exp2", (cast(n, t),), t, span=span)), t, span=span)

    def _reciprocal(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x = self.scalar(arguments[0])
        return Op("div", (Const(1.0, x.type), x), x.type, span=self.span(node))

    def _binary_concept(self, name: str, symbol: str, arguments: list[Tree], node: Tree) -> Any:
        a, b = [self.value(x) for x in arguments]
        if symbol in ("max", "min"):
            return self.math(symbol, symbol, [a, b], node)
        return self.binary(symbol, a, b, self.span(node), node)

    def _unary_concept(self, name: str, symbol: str, arguments: list[Tree], node: Tree) -> Any:
        return self.unary(symbol, self.value(arguments[0]), self.span(node), node)

    def _test(self, name: str, operation: str, arguments: list[Tree], node: Tree) -> Any:
        return self.math(name, operation, [self.value(arguments[0])], node)

    def _fma(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        return self.math(name, "fma", [self.value(a) for a in arguments], node)

    def _unsupported(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        raise self.refuse("KR299", f"`{name}` is not raised yet", node)

    def _swap(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        a, b = self.place(arguments[0]), self.place(arguments[1])
        x, y = self.read(a, node), self.read(b, node)
        if isinstance(a, PointerPlace) and a.which:
            x = self.read(replace(a, which=self.temporary(Var(a.which, INT32), "t", node).name), node)
        elif not isinstance(x, StructValue | PointerValue):
            x = self.temporary(x, "t", node)
        elif isinstance(x, StructValue):
            x = replace(x, fields=tuple((n, self.temporary(v, "t", node)) for n, v in x.fields))  # type: ignore[arg-type]
        self.write(a, y, node)
        self.write(b, x, node)
        return NoValue()

    # --- cooperative groups

    def _group(self, name: str, what: str, arguments: list[Tree], node: Tree) -> Any:
        if what != "tile":
            return Group(what, 0)
        callee = strip(node.children[0])
        spelled = arguments_of(callee)
        given = self.template_arguments(spelled) if spelled is not None else [self.value(a) for a in arguments[1:]]
        size = fold(given[0]) if given else None
        if size is None or size.value not in (1, 2, 4, 8, 16, 32):
            reason = f"a tile of {size.value if size is not None else 'so many'} threads is not raised"
            raise self.refuse("KR299", reason, node, "tiles are parts of a warp: tiled_partition<32>(block)")
        return Group("tile", int(size.value.real))

    def group_method(self, group: Group, method: str, arguments: list[Tree], node: Tree) -> Any:
        """``block.sync()``, ``tile.shfl_down(v, d)`` and the like."""
        span = self.span(node)
        if method == "sync":
            return self._barrier("sync", {"tile": "warp"}.get(group.kind, group.kind), [], node)
        if method in ("shfl", "shfl_down", "shfl_up", "shfl_xor", "any", "all", "ballot") and group.kind == "tile":
            return self.warp(method, [self.scalar(a) for a in arguments], node, group.size)
        if method == "reduce" and group.kind == "tile":
            return tile_reduce(self, group, arguments, node)
        if method in ("inclusive_scan", "exclusive_scan") and group.kind == "tile":
            return tile_scan(self, group, method, arguments, node)
        if method == "meta_group_size" and group.kind == "tile":
            return self.binary("/", self._extent("blockDim"), Const(group.size, UINT32), span)
        rank = self._linear("thread", "blockDim")
        if method in ("thread_rank", "num_threads", "size"):
            if group.kind == "block":
                return rank if method == "thread_rank" else self._extent("blockDim")
            if group.kind == "tile":
                size = Const(group.size, UINT32)
                return self.binary("%", rank, size, span) if method == "thread_rank" else size
            if group.kind == "grid":
                grid = self._extent("gridDim")
                if method == "thread_rank":
                    block = self._linear("block", "gridDim")
                    return self.binary("+", self.binary("*", block, self._extent("blockDim")), rank, span)
                return self.binary("*", grid, self._extent("blockDim"), span)
        if method == "meta_group_rank" and group.kind == "tile":
            return self.binary("/", rank, Const(group.size, UINT32), span)
        names = {"thread_index": "thread", "group_index": "block", "group_dim": "blockDim", "dim_threads": "blockDim"}
        if method in names and group.kind == "block":
            t = vocabulary.type_called("dim3")
            assert isinstance(t, Struct)
            return StructValue(t, tuple((a, Hw(names[method], k, UINT32, span=span)) for k, a in enumerate("xyz")))
        raise self.refuse("KR299", f"`{method}` of a cooperative group is not raised yet", node)

    def _free_group(self, name: str, method: str, arguments: list[Tree], node: Tree) -> Any:
        """``cg::sync(block)``, ``cg::reduce(tile, …)``: the group is the first argument."""
        group = self.value(arguments[0])
        if not isinstance(group, Group):
            raise self.refuse("KR103", f"the function `{name}` is not known", node)
        return self.group_method(group, method, arguments[1:], node)

    def _linear(self, index: str, extent: str) -> Expr:
        """The linear index of a thread in its block (or a block in its grid)."""
        x, y, z = (Hw(index, k, UINT32) for k in range(3))
        if not self.program.uses_axis(1):
            return x
        yz = self.binary("+", self.binary("*", z, Hw(extent, 1, UINT32)), y) if self.program.uses_axis(2) else y
        return self.binary("+", self.binary("*", yz, Hw(extent, 0, UINT32)), x)

    def _extent(self, name: str) -> Expr:
        total: Expr = Hw(name, 0, UINT32)
        for axis in (1, 2):
            if self.program.uses_axis(axis):
                total = self.binary("*", total, Hw(name, axis, UINT32))
        return total


_CONCEPTS: dict[str, Callable[..., Any]] = {
    "barrier": Builtins._barrier,
    "vote": block_vote,
    "nothing": Builtins._nothing,
    "fence": Builtins._fence,
    "dropped": Builtins._dropped,
    "load": Builtins._load,
    "store": Builtins._store,
    "first": Builtins._first,
    "atomic": Builtins._atomic,
    "warp": Builtins._warp,
    "oldwarp": Builtins._oldwarp,
    "sincospi": Builtins._unsupported,
    "pi": Builtins._pi,
    "fdim": Builtins._fdim,
    "saturate": Builtins._saturate,
    "norm": Builtins._norm,
    "rnorm": Builtins._norm,
    "normcdf": Builtins._normcdf,
    "ldexp": Builtins._ldexp,
    "reciprocal": Builtins._reciprocal,
    "binary": Builtins._binary_concept,
    "unary": Builtins._unary_concept,
    **half_pairs.CONCEPTS,
    **out_numbers.CONCEPTS,
    **word_functions.CONCEPTS,
    "mulhi": Builtins._mulhi,
    "ffs": Builtins._ffs,
    "brev": Builtins._brev,
    "funnel": Builtins._funnel,
    "sad": Builtins._sad,
    "dot_bytes": Builtins._dot_bytes,
    "popcount": Builtins._popcount,
    "clz": Builtins._popcount,
    "test": Builtins._test,
    "convert": Builtins._convert,
    "bits": Builtins._bits,
    "memcpy": memcpy,
    "fma": Builtins._fma,
    "unsupported": Builtins._unsupported,
    "swap": Builtins._swap,
    "group": Builtins._group,
    "free_group": Builtins._free_group,
}
