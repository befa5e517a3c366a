"""Calls of Python host functions in the spelling that the tables have.

``np.arange(n, dtype=np.float32)`` is ``np.arange(n).astype(np.float32)``, ``np.array(x, np.float32)`` has its type as
a keyword.

Side condition, checked: a range of whole numbers begins at one (NumPy counts in the type that is asked for).
"""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import dotted, placed, rebuilt, walk

_RANGES = ("numpy.arange", "cupy.arange", "numpy.linspace", "cupy.linspace")


def with_one_spelling(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with these calls as the tables know them."""

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Call(func=func, args=args) if (name := scope.imports.qualified(dotted(func))) in _RANGES:
                kinds = [a for a in args if a.keyword is not None and a.keyword.value == "dtype"]
                places = [a for a in args if a.keyword is None]
                if name.endswith("arange") and len(places) == 4:
                    kinds = [places[3]]
                if len(kinds) != 1 or not _begins_whole(scope, places, kinds[0].value):
                    return None
                left = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in args if a is not kinds[0]]
                range_ = placed(scope.source, inner.with_changes(args=left), inner)
                made = cst.Call(cst.Attribute(range_, cst.Name("astype")), [cst.Arg(kinds[0].value)])
                placed(scope.source, made.func, inner)
                return placed(scope.source, made, inner)
        return None

    return rebuilt(scope.source, node, change)  # type: ignore[no-any-return]


def _begins_whole(scope: HostScope, places: list[cst.Arg], kind: cst.BaseExpression) -> bool:
    if "int" not in scope.text(kind):
        return True
    first = [places[0].value, *(p.value for p in places[2:3])] if len(places) > 1 else []
    return not any(isinstance(n, cst.Float | cst.Divide) for v in first for n in walk(v))
