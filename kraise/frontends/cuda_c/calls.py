"""Calls of the file's own functions: overloads, template arguments, and which calls stay calls.

A function of numbers and arrays stays a function of the module (one for each combination of argument kinds). What takes
structs, references to elements, lambdas or rows of arrays, or changes anything, is lowered in place: its parameters
become other names for what is passed.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.arithmetic import cast, signed
from kraise.frontends.cuda_c.c_types import VOID, Array, CType, Pointer, Reference, Struct
from kraise.frontends.cuda_c.collective_types import collective_type
from kraise.frontends.cuda_c.constants import OpenWidth
from kraise.frontends.cuda_c.methods import Methods
from kraise.frontends.cuda_c.overloads import Parameter, distance
from kraise.frontends.cuda_c.specialised import mark
from kraise.frontends.cuda_c.structs import OWN, Definition
from kraise.frontends.cuda_c.trees import child, last_name, strip, trees
from kraise.frontends.cuda_c.values import (
    Alias,
    Bound,
    Cell,
    Constant,
    Group,
    Lambda,
    NoValue,
    PointerPlace,
    PointerValue,
    StructPlace,
    StructValue,
    Text,
    TypeName,
    VarPlace,
)
from kraise.ir.kernel import ArrayRef, Call, CallStmt, Const, Var
from kraise.ir.types import FLOAT64, ScalarType


class Calls(Methods):
    """Call expressions."""

    def call(self, node: Tree) -> Any:
        """The value of a call. Raises Refused (KR103) for what is not known."""
        self.call_discarded, self.discard = self.discard, False
        callee, *rest = node.children
        arguments = [strip(c) for c in rest if isinstance(c, Tree)]
        plain = strip(callee)
        if not isinstance(plain, Tree):
            raise self.refuse("KR103", f"`{plain}` is not a function", node)
        if plain.data == "member_expression":
            return self._method_call(plain, arguments, node)  # type: ignore[arg-type]
        if plain.data == "lambda_expression":
            return self._inline_lambda(self.value(plain), arguments, node)  # type: ignore[arg-type]
        if plain.data != "id_expression":
            value = self.value(plain)
            if isinstance(value, StructValue):
                return self._functor(value, plain, arguments, node)  # type: ignore[arg-type]
            raise self.refuse("KR103", "only a function that is named can be called", node)
        name = str(last_name(plain) or "")
        return self._named_call(name, plain, arguments, node)  # type: ignore[arg-type]

    def _named_call(self, name: str, callee: Tree, arguments: list[Tree], node: Tree) -> Any:
        local = self._local(name)
        if isinstance(local, Lambda):
            return self._inline_lambda(local, arguments, node)
        if isinstance(local, TypeName):
            return self.construct(local.type, arguments, node)
        if isinstance(local, StructPlace | Bound | Alias):
            value = self.read(local, node) if not isinstance(local, Bound) else local.value
            if isinstance(value, Lambda):
                return self._inline_lambda(value, arguments, node)
            return self._functor(value, callee, arguments, node)
        qualified = self._qualified_struct(callee)
        if qualified is not None and self._methods(qualified, name):
            return self._inline_method(self._methods(qualified, name), None, arguments, node)
        found = self.program.functions.get(name, [])
        usable = [d for d in found if d.kind in ("device", "host") or d.item is None]
        if usable and local is None and not self._only_builtin(name, usable, arguments):
            template = child(callee, "template_arguments")
            explicit = self.template_arguments(template) if template is not None else []
            return self.user_call(name, usable, explicit, arguments, node)
        this = self._local("this")
        if isinstance(this, PointerPlace) and this.value is not None and this.value.target is not None:
            methods = self._methods(this.type.to, name)
            if methods:
                return self._inline_method(methods, this.value.target, arguments, node)
        own = self._local(OWN)
        if isinstance(own, TypeName) and (methods := self._methods(own.type, name)):
            return self._inline_method(methods, None, arguments, node)  # a static method calls another
        if vocabulary.collective(name) and child(callee, "template_arguments") is not None:
            return collective_type(self, name, callee)
        trait = self.trait(callee)
        if trait is not None:
            return trait
        result = self.builtin(name, arguments, node)
        if result is not None:
            return result
        entity = self.lookup(name)
        if isinstance(entity, TypeName):
            return self.construct(entity.type, arguments, node)
        hint = vocabulary.refusal(name)
        if hint is not None:
            raise self.refuse("KR103", f"`{name}` is not raised", node, hint)
        helper = self.helper_math(name, arguments, node)
        if helper is not None:
            return helper
        if name.startswith("__"):
            hint = "give its meaning under a name of your own: a __device__ function of operations that are"
            raise self.refuse("KR103", f"the intrinsic `{name}` is not raised", node, hint)
        raise self.refuse(
            "KR103",
            f"the function `{name}` is not known",
            node,
            "define it in this file, or include its header (-I DIR)",
        )

    def _only_builtin(self, name: str, found: list[Definition], arguments: list[Tree]) -> bool:
        """``make_uint4(a, b, c, d)`` where the file adds ``make_uint4(uint)``, ``floorf(x)`` of a number where a header
        adds that of a ``float3``: the built-in one still exists."""
        making = name.startswith("make_") and vocabulary.type_called(name[5:]) is not None
        if not making and not vocabulary.operation(name):
            return False
        viable = [d for d in found if self._takes(d, len(arguments))]
        if making or not viable or any(d.parameters for d in found):
            return not viable
        types = [self._argument_type(a) for a in arguments]
        if not all(isinstance(t, ScalarType) for t in types):
            return False
        for d in viable:
            parameters, _ = self._signature(d, self.program.load(d), {})
            if all(distance(p.type, t) is not None for p, t in zip(parameters, types, strict=False)):
                return False
        return True

    def _takes(self, d: Definition, count: int) -> bool:
        """Whether the function can be called with so many arguments."""
        head = child(self.program.load(d), "function_declarator")
        declared = trees(head, "parameter_declaration") if head is not None else []
        given = sum(child(p, "initializer_clause") is not None for p in declared)
        return len(declared) - given <= count <= len(declared)

    def _local(self, name: str) -> Any:
        for table in reversed(self.scopes):
            if name in table:
                return table[name]
        return None

    def helper_math(self, name: str, arguments: list[Tree], node: Tree) -> Any:
        """dot, cross, length, normalize of CUDA's helper_math.h; None for anything else."""
        if name not in ("dot", "length", "normalize", "cross", "lerp", "clamp"):
            return None
        values = [self.value(a) for a in arguments]
        span = self.span(node)
        if name == "clamp" and not any(isinstance(v, StructValue) for v in values) and len(values) == 3:
            return self.math("max", "max", [values[1], self.math("min", "min", [values[0], values[2]], node)], node)
        if not all(isinstance(v, StructValue) and v.type.vector for v in values[:2]):
            return None
        first = values[0]

        def dot(a: StructValue, b: StructValue) -> Any:
            total = None
            for (_, x), (_, y) in zip(a.fields, b.fields, strict=True):
                product = self.binary("*", x, y, span, node)
                total = product if total is None else self.binary("+", total, product, span, node)
            return total

        self.note("KR103", f"`{name}` is the one of helper_math.h", node)
        if name == "dot":
            return dot(first, values[1])
        if name == "length":
            return self.math("sqrtf", "sqrt", [dot(first, first)], node)
        if name == "normalize":
            scale = self.temporary(self.math("rsqrtf", "rsqrt", [dot(first, first)], node), "scale", node)
            return self.binary("*", first, scale, span, node)
        if name == "cross" and len(first.fields) == 3:
            a, b = [[x for _, x in v.fields] for v in values]
            parts = []
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                left, right = self.binary("*", a[j], b[k], span), self.binary("*", a[k], b[j], span)
                parts.append((first.fields[i][0], self.binary("-", left, right, span)))
            return StructValue(first.type, tuple(parts))
        return None

    # --- parameters

    # --- user functions

    def user_call(
        self, name: str, found: list[Definition], explicit: list[Any], arguments: list[Tree], node: Tree
    ) -> Any:
        """Call the best of the functions called ``name``."""
        d, scope, parameters, returns = self._choose(name, found, explicit, arguments, node)
        if mark(d, scope) in self.program.active:
            raise self.refuse("KR209", f"`{name}` calls itself", node, "write the recursion as a loop")
        if len(arguments) < len(parameters):
            defaults = [p.default for p in parameters[len(arguments) :]]
            arguments = [*arguments, *[strip(x) for x in defaults if x is not None]]  # type: ignore[list-item]
        discard = self.call_discarded
        bound = [self._argument(p, a) for p, a in zip(parameters, arguments, strict=False)]
        self.call_discarded = discard
        tree = self.program.load(d)
        modes = [self._mode(p, b) for p, b in zip(parameters, bound, strict=True)]
        simple_return = isinstance(returns, ScalarType) or returns == VOID
        open_template = any(isinstance(b, Bound) for b in scope.values())
        if any(m is None for m in modes) or not simple_return or open_template:
            return self._inline(d, tree, scope, parameters, bound, returns, node)
        try:
            return self._out_of_line(d, scope, parameters, bound, tuple(modes), returns, discard, node)
        except OpenWidth:
            if not any(isinstance(b, Const) for b in bound):
                raise
            return self._inline(d, tree, scope, parameters, bound, returns, node)

    def _mode(self, p: Parameter, bound: Any) -> Any:
        """How an out-of-line function takes an argument; None where it must be lowered in place."""
        match bound:
            case Const() | Var() if isinstance(p.type, ScalarType | Reference):
                return ("value", bound.type)
            case VarPlace(_, t) if isinstance(p.type, Reference):
                return ("reference", t)
            case Cell(_, _, t) if isinstance(p.type, Reference) and isinstance(t, ScalarType):
                return ("value", t) if p.const else ("reference", t)
            case Constant(c):
                return ("value", c.type)
            case PointerValue(array, prefix, offset, to) if isinstance(p.type, Pointer):
                if bound.arms is not None or bound.raw is not None or bound.stored is not None or bound.packed:
                    return None
                if bound.bytes_of is not None:
                    return None
                if bound.target is not None:
                    return ("pointer", to) if isinstance(bound.target, VarPlace) else None
                if not array or prefix or "." in array or offset is not None:
                    return None
                if isinstance(to, ScalarType):
                    return ("array", to, 1)
                if isinstance(to, Struct) and to.vector:
                    return ("vectors", to, 2)
                if isinstance(to, Array) and isinstance(to.of, ScalarType) and offset is None:
                    return ("rows", to, 2)
                return None
            case Group() | Lambda() | Text() | StructValue() | StructPlace() | PointerPlace() | Alias() | NoValue():
                return None
        if isinstance(getattr(bound, "type", None), ScalarType) and isinstance(p.type, ScalarType | Reference):
            return ("value", bound.type)
        return None

    def _out_of_line(
        self,
        d: Definition,
        scope: dict[str, Any],
        parameters: list[Parameter],
        bound: list[Any],
        modes: tuple[Any, ...],
        returns: CType,
        discard: bool,
        node: Tree,
    ) -> Any:
        instance = self.program.lowering.instance(self, d, scope, parameters, modes, returns, node)
        if instance.inline:
            return self._inline(d, self.program.load(d), scope, parameters, bound, returns, node)
        span = self.span(node)
        args: list[Any] = []
        back: list[tuple[Any, Var]] = []
        for b, mode in zip(bound, modes, strict=True):
            if mode[0] == "value":
                v = self.read(b, node) if isinstance(b, Cell | VarPlace | Constant) else b
                args.append(cast(v, mode[1]))
            elif mode[0] == "reference":
                if isinstance(b, VarPlace):
                    args.append(Var(b.name, b.type, span=span))
                else:
                    kept = self.temporary(self.read(b, node), "t", node)
                    args.append(kept)
                    back.append((b, kept))
            elif mode[0] == "pointer":
                args.append(Var(b.target.name, b.target.type, span=span))
            else:
                self.flush_before_effects(instance)
                offset = signed(b.offset) if b.offset is not None else None
                args.append(ArrayRef(b.array, offset, span=span))
        for g in instance.globals_used.values():
            self.globals_used.setdefault(g.name, g)
            args.append(
                ArrayRef(g.name, span=span)
                if not isinstance(g.place, VarPlace)
                else Var(g.name, g.place.type, span=span)
            )
        if isinstance(returns, ScalarType) and returns == FLOAT64:
            self.saw_double = True
        name = instance.function.name
        if instance.pure and isinstance(returns, ScalarType):
            return Call(name, tuple(args), returns, span=span)
        if returns == VOID or discard:
            self.emit(
                CallStmt(name, tuple(args), span=span) if returns == VOID else self._ignored(name, args, returns, span)
            )
            for place, kept in back:
                self.write(place, kept, node)
            return NoValue()
        assert isinstance(returns, ScalarType)
        result = self.fresh(f"{d.name}_result")
        self.emit(CallStmt(name, tuple(args), (result,), (returns,), span=span))
        for place, kept in back:
            self.write(place, kept, node)
        return Var(result, returns, span=span)

    def _ignored(self, name: str, args: list[Any], returns: Any, span: Any) -> CallStmt:
        return CallStmt(name, tuple(args), (self.fresh("unused"),), (returns,), span=span)

    def flush_before_effects(self, instance: Any) -> None:
        """A call that writes comes after the side effects of its own arguments: C leaves no other order to rely on."""

    # --- in place

    # --- methods and operators
