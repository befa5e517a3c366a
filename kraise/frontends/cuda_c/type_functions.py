"""Types used as functions, and pointers seen as another type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.bit_functions import BitFunctions
from kraise.frontends.cuda_c.byte_rows import as_bytes, as_elements, in_elements
from kraise.frontends.cuda_c.c_types import Array, Collective, CType, Pointer, Struct, Void
from kraise.frontends.cuda_c.carriers import carried
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.copied import as_word, seen_in_words
from kraise.frontends.cuda_c.packed import numbers_in, vectors_in
from kraise.frontends.cuda_c.trees import Node
from kraise.frontends.cuda_c.values import PointerValue, StructValue, held
from kraise.ir.kernel import Const
from kraise.ir.types import INT32, UINT32, ScalarType


class TypeFunctions(BitFunctions):
    """T(a, b), make_float3(a, b, c), (float4 *)p."""

    def construct(self, t: CType, arguments: list[Any], node: Tree) -> Any:
        """``T(a, b)``, ``make_float3(a, b, c)``, ``T x(a)``."""
        if isinstance(t, Collective):
            return t  # whatever storage it works in
        if isinstance(t, Struct):
            built = self.construct_struct(t, arguments, node)
            if built is not None:
                return built
            if t.vector and arguments:
                values: list[Any] = []
                for a in arguments:
                    v = self.value(a)
                    values += [x for _, x in v.fields] if isinstance(v, StructValue) else [v]
                if len(values) == 1 and len(t.members) > 1:
                    values *= len(t.members)
                if t.name == "uint3" and len(values) < 3:
                    values += [Const(1, UINT32)] * (3 - len(values))
                if len(values) < len(t.members):
                    raise self.refuse("KR104", f"too few values for {t.name}", node)
                pairs = zip(t.members, values, strict=False)
                return StructValue(t, tuple((n, self.convert(v, m, node)) for (n, m), v in pairs))
            if len(arguments) == 1:
                return self.convert(self.value(arguments[0]), t, node)
            if not arguments:
                return self.zero(t, node)
            pairs2 = zip(t.members, arguments, strict=False)
            return StructValue(t, tuple((n, self.convert(self.value(a), m, node)) for (n, m), a in pairs2))
        if not arguments:
            return self.zero(t, node)
        if len(arguments) == 1:
            return self.cast_to(self.value(arguments[0]), t, node)
        raise self.refuse("KR104", "a number is made of several values", node)

    def cast_pointer(self, v: PointerValue, t: Pointer, node: Node) -> PointerValue:
        """A pointer seen as another type: what changes nothing, bytes of shared memory, float4 <-> float."""
        if v.inner is not None and t.to != v.to:  # as the vectors that there are
            v = replace(v, to=v.inner, packed=0, inner=None)
        if t.to != v.to and (kept := carried(self, v.target)) is not None:
            v = kept
        to, old = t.to, v.to
        if v.bytes_of is not None and not isinstance(to, Void):
            whole = as_elements(self, v, to, node)
            if whole is None:
                reason = "memory is read as another type than it was written as"
                raise self.refuse("KR299", reason, node, "use an array of that type")
            return whole
        if to == old or isinstance(to, Void) or (isinstance(old, Void) and not v.array):
            return replace(v, to=to if not isinstance(to, Void) else old)
        if v.raw is not None and v.offset is None and not v.packed and not v.raw.typed:
            same = any(isinstance(a, Struct) and a.vector and a.members[0][1] == b for a, b in ((to, old), (old, to)))
            if not same:
                return replace(v, to=to)  # its first access gives the array its type
        behind = in_elements(self, v, to)
        if behind is not None:
            return behind
        words = (
            None if isinstance(to, Struct) and to.members[:1] and to.members[0][1] == old else seen_in_words(v, to, old)
        )
        if words is not None:
            return words
        plain = v.target is None and v.array and v.packed == 0
        if plain and isinstance(to, ScalarType) and isinstance(old, ScalarType) and to.bits == old.bits:
            if "bool" not in (to.kind, old.kind):
                stored = v.stored or old
                return replace(v, to=to, stored=stored if stored != to else None)
        elif v.target is None and v.array and v.stored is None and v.arms is None:
            if plain and v.raw is None and (n := vectors_in(to, old)):
                assert isinstance(old, Struct)
                return replace(v, to=to, packed=n, inner=old)
            if plain and (n := numbers_in(to, old)):
                return replace(v, to=to, packed=n)
            if v.packed > 0 and isinstance(old, Struct) and not old.vector and held(v) == to:
                return replace(v, to=to, packed=0)
            if plain and isinstance(old, Array) and old.of == to and (rows := fold(old.extent)) is not None:
                n = int(rows.value.real)  # (float *)s of float s[16][17]: its rows one behind the other
                offset = self.binary("*", v.offset, Const(n, INT32)) if v.offset is not None else None
                return replace(v, to=to, packed=-n, offset=offset)
            if isinstance(old, Struct) and old.vector and isinstance(to, ScalarType) and old.members[0][1] == to:
                if v.packed > 0:
                    return replace(v, to=to, packed=0)
                n = len(old.members)
                if v.raw is not None:
                    self.used_as(v.raw, old, node)
                offset = self.binary("*", v.offset, Const(n, INT32)) if v.offset is not None else None
                return replace(v, to=to, packed=-n, offset=offset)
        in_bytes = as_bytes(v, to) if self.sizes_given is not None else None
        if in_bytes is not None:
            return in_bytes
        word = as_word(v, to, old)
        if word is not None:
            return word
        if isinstance(to, Array) and isinstance(old, ScalarType):
            raise self.refuse("KR299", "an array is seen with more axes", node, "write the subscript out")
        raise self.refuse(
            "KR299", "memory is read as another type than it was written as", node, "use an array of that type"
        )
