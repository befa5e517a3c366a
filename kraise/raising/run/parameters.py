"""What a function's parameters and locals are when its run starts."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType, StructType
from kraise.raising.run.context import Context
from kraise.raising.run.state import State


def enter_parameter(st: State, name: str, t: object) -> None:
    """Gives a scalar parameter (a scalar member of a struct parameter) its value in ``st``."""
    if isinstance(t, ScalarType):
        st.env[name] = eq.Param(name, t)
    elif isinstance(t, StructType) and not t.is_array:
        for member, inner in t.members:
            enter_parameter(st, f"{name}.{member}", inner)


def array_names(function: k.Function) -> list[str]:
    """The names of the array parameters, members of structs included, in order."""
    out: list[str] = []

    def visit(name: str, t: object, many: bool) -> None:
        if isinstance(t, ArrayType) or (many and isinstance(t, ScalarType)):
            out.append(name)
        elif isinstance(t, StructType):
            for member, inner in t.members:
                visit(f"{name}.{member}", inner, many or t.is_array)

    for p in function.params:
        visit(p.name, p.type, False)
    return out


def collect_types(cx: Context, stmts: tuple[k.Stmt, ...]) -> None:
    """Notes the types of the locals that ``stmts`` assign."""
    for s in stmts:
        match s:
            case k.Assign(name=name, type=t):
                cx.types[name] = t
            case k.If(body=a, orelse=b):
                collect_types(cx, a)
                collect_types(cx, b)
            case k.For(body=a) | k.While(body=a):
                collect_types(cx, a)
