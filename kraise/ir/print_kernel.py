"""Kernel IR as readable text, for tests and for people: one statement a line, types at declarations."""

from __future__ import annotations

from kraise.ir.kernel import (
    ArrayRef,
    Assign,
    Atomic,
    Barrier,
    Break,
    Call,
    CallStmt,
    Cast,
    Const,
    Continue,
    For,
    Function,
    Hw,
    If,
    Load,
    LocalArray,
    Module,
    Op,
    Param,
    Return,
    Shape,
    Store,
    Var,
    Warp,
    While,
)
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import ArrayType, StructType

_HARDWARE = {"thread": "thread", "block": "block", "blockDim": "block_dim", "gridDim": "grid_dim"}
# how tightly an operator binds; operands that bind less get parentheses
_TIGHT = {
    "select": 0, "or": 1, "and": 2, "not": 3, "lt": 4, "le": 4, "gt": 4, "ge": 4, "eq": 4, "ne": 4, "or_": 5, "xor": 6,
    "and_": 7, "shl": 8, "shr": 8, "add": 9, "sub": 9, "mul": 10, "div": 10, "floordiv": 10, "mod": 10, "neg": 11,
    "invert": 11, "pow": 12,
}  # fmt: skip


def module_text(module: Module) -> str:
    """A whole module: constants, then functions."""
    parts = []
    for c in module.constants:
        value = c.values[0] if c.shape == () else f"{list(c.values)} : {c.shape}"
        parts.append(f"const {c.name}: {c.type} = {value}")
    return "\n".join([*parts, *(function_text(f) for f in module.functions)]) + "\n"


def function_text(function: Function) -> str:
    """One function."""
    params = ", ".join(_param(p) for p in function.params)
    returns = ", ".join("array" if r is None else str(r) for r in function.returns)
    head = f"{function.kind} {function.name}({params})" + (f" -> {returns}" if returns else "") + ":"
    return "\n".join([head, *_block(function.body, 1)])


def _param(param: Param) -> str:
    default = "" if param.default is None else f" = {expr_text(param.default)}"
    return f"{'&' if param.by_reference else ''}{param.name}: {type_text(param.type)}{default}"


def type_text(type_) -> str:
    """``float32[2]`` for an array of two axes; a struct by its name."""
    match type_:
        case ArrayType(element=element, ndim=ndim):
            return f"{element}[{ndim}]"
        case StructType(name=name, is_array=is_array):
            return name + ("[1]" if is_array else "")
    return str(type_)


def _block(body: tuple, depth: int) -> list[str]:
    lines = [line for s in body for line in statement_lines(s, depth)]
    return lines or ["  " * depth + "pass"]


def statement_lines(s, depth: int = 0) -> list[str]:
    """A statement as lines, indented by two blanks a level."""
    pad = "  " * depth

    def nested(head: str, body: tuple, orelse: tuple) -> list[str]:
        lines = [pad + head, *_block(body, depth + 1)]
        return [*lines, pad + "else:", *_block(orelse, depth + 1)] if orelse else lines

    match s:
        case Assign():
            return [f"{pad}{s.name}: {s.type} = {expr_text(s.value)}"]
        case Store():
            return [f"{pad}{s.array}[{_list(s.subscripts)}] = {expr_text(s.value)}"]
        case Atomic():
            result = f"{s.result}: {s.type} = " if s.result else ""
            return [f"{pad}{result}atomic {s.name} {s.array}[{_list(s.subscripts)}], {_list(s.values)}"]
        case If():
            return nested(f"if {expr_text(s.condition)}:", s.body, s.orelse)
        case For():
            head = f"{'parallel ' if s.parallel else ''}for {s.var} in {expr_text(s.start)} .. {expr_text(s.stop)}"
            step = "" if isinstance(s.step, Const) and s.step.value == 1 else f" step {expr_text(s.step)}"
            return nested(f"{head}{step}:", s.body, s.orelse)
        case While() if s.test_last:
            return [pad + "do:", *_block(s.body, depth + 1), f"{pad}while {expr_text(s.condition)}"]
        case While():
            return nested(f"while {expr_text(s.condition)}:", s.body, s.orelse)
        case Break() | Continue():
            return [pad + type(s).__name__.lower()]
        case Return():
            return [f"{pad}return {_list(s.values)}".rstrip()]
        case Barrier():
            return [f"{pad}barrier {s.scope}"]
        case LocalArray():
            return [pad + _local_array(s)]
        case CallStmt():
            names = ", ".join(f"{n}: {t}" for n, t in zip(s.results, s.types, strict=False))
            return [f"{pad}{names + ' = ' if names else ''}call {s.function}({_list(s.args)})"]
    return [pad + repr(s)]


def _local_array(s: LocalArray) -> str:
    extents = "dynamic" if s.dynamic else _list(s.shape)
    text = f"{s.space} {s.name}: {s.element}[{extents}]"
    if s.like:
        text += f" like {s.like}"
    if s.fill is not None:
        text += f" filled {expr_text(s.fill)}"
    return text + (f" = {{{_list(s.values)}}}" if s.values else "")


def _list(items: tuple) -> str:
    return ", ".join(expr_text(i) for i in items)


def expr_text(e) -> str:
    """An expression, with the parentheses that it needs."""
    match e:
        case Const():
            return e.name or repr(e.value)
        case Var():
            return e.name
        case Hw():
            return f"{_HARDWARE.get(e.kind, e.kind)}.{'xyz'[e.axis]}"
        case Load():
            return f"{e.array}[{_list(e.subscripts)}]"
        case Shape():
            return f"{e.array}.shape[{e.axis}]"
        case Cast():
            return f"{e.type}({expr_text(e.arg)})"
        case Call():
            return f"{e.function}({_list(e.args)})"
        case Warp():
            return f"warp.{e.name}({_list(e.args)})"
        case ArrayRef():
            return f"&{e.array}" + ("" if e.offset is None else f" + {_wrapped(e.offset, 10)}")
        case Op():
            return _operation(e)
    return repr(e)


def _operation(e: Op) -> str:
    tight = _TIGHT.get(e.name)
    row = OPERATIONS.get(e.name)
    if tight is None or row is None:
        return f"{e.name}({_list(e.args)})"
    if e.name == "select":
        condition, yes, no = e.args
        return f"{_wrapped(yes, 1)} if {_wrapped(condition, 1)} else {_wrapped(no, 0)}"
    symbol = {"and": "and", "or": "or", "not": "not "}.get(e.name) or row.infix or row.prefix
    if len(e.args) == 1:
        return symbol + _wrapped(e.args[0], tight)
    left, right = e.args
    if e.name == "pow":
        return f"{_wrapped(left, 13)} ** {_wrapped(right, 12)}"
    first = tight + 1 if tight == 4 else tight
    return f"{_wrapped(left, first)} {symbol} {_wrapped(right, tight + 1)}"


def _wrapped(e, least: int) -> str:
    text = expr_text(e)
    tight = _TIGHT.get(e.name, 13) if isinstance(e, Op) else 13
    if isinstance(e, Const) and not e.name and text.startswith("-"):
        tight = 11
    return f"({text})" if tight < least else text
