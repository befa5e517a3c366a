"""Host IR as text for readers: what ``explain`` shows of a host function."""

from __future__ import annotations

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.print_kernel import expr_text
from kraise.ir.types import NUMBER

_INFIX = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "tdiv": "/"},
    **{"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "and", "or": "or", "tmod": "%"},
}


def render_host(host: h.Host) -> str:
    """The statements of a host function, then what was left out of it and why."""
    lines = _block(host.body, 0)
    if host.dropped:
        lines += ["", "no part in the values:"]
        for d in host.dropped:
            line = f"line {d.span.line}: " if d.span is not None else ""
            text = d.text if len(d.text) <= 60 else d.text[:57] + "..."
            lines.append(f"  {line}{text}  ({d.what})")
    return "\n".join(lines)


def text(e: h.Expr | h.Chosen | k.ArrayRef) -> str:
    """An expression."""
    match e:
        case h.Whole(array=array, offset=None, count=None):
            return array
        case h.Whole(array=array, offset=offset, count=count):
            low = "" if offset is None else text(offset)
            high = "" if count is None else text(count) if offset is None else f"{low} + {text(count)}"
            return f"{array}[{low}:{high}]"
        case h.Chosen(names=names, index=index):
            return f"({', '.join(names)})[{text(index)}]"
        case k.ArrayRef(array=array, offset=offset):
            return array if offset is None else f"{array} + {text(offset)}"
        case h.Record(struct=struct, members=args) | h.Structs(struct=struct, members=args):
            return f"{struct.name}({', '.join(map(text, args))})"
        case h.Library(name=name, args=args):
            return f"{name}({', '.join(map(text, args))})"
        case k.Op(name=name, args=(a, b)) if name in _INFIX:
            return f"({text(a)} {_INFIX[name]} {text(b)})"
        case k.Op(name=name, args=args):
            return f"{name}({', '.join(map(text, args))})"
        case k.Cast(type=kind, arg=arg):
            return text(arg) if kind == NUMBER else f"{kind}({text(arg)})"
    return expr_text(e)


def _block(body: tuple[h.Stmt, ...], depth: int) -> list[str]:
    return [line for stmt in body for line in _statement(stmt, depth)]


def _statement(stmt: h.Stmt, depth: int) -> list[str]:
    pad = "    " * depth
    match stmt:
        case h.Assign(name=name, value=value):
            return [f"{pad}{name} = {text(value)}"]
        case h.Alloc(name=name, shape=shape, fill=fill, like=like, element=element):
            extents = f"like {like}" if shape is None else f"[{', '.join(map(text, shape))}]"
            kind = "" if element == NUMBER else f" of {element}"
            return [f"{pad}{name} = new {extents}{kind}" + ("" if fill is None else f", filled with {text(fill)}")]
        case h.Bind(name=name, value=value):
            return [f"{pad}{name} = new memory with {text(value)}"]
        case h.Update(array=array, value=value, offset=offset, count=count):
            return [f"{pad}{text(h.Whole(array, offset, count))} := {text(value)}"]
        case h.Store(array=array, subscripts=subscripts, value=value):
            return [f"{pad}{array}[{', '.join(map(text, subscripts))}] := {text(value)}"]
        case h.Point(names=names, sources=sources):
            return [f"{pad}{', '.join(names)} -> {', '.join(map(text, sources))}"]
        case h.Launch(function=function, args=args, grid=grid, block=block, results=results):
            geometry = "" if grid is None else f"<{_extents(grid)}, {_extents(block or ())}>"
            head = f"{', '.join(results)} = " if results else ""
            return [f"{pad}{head}{function}{geometry}({', '.join(map(text, args))})"]
        case h.CallHost(function=function, args=args, results=results):
            head = f"{', '.join(results)} = " if results else ""
            return [f"{pad}{head}{function}({', '.join(map(text, args))})"]
        case h.For(var=var, start=start, stop=stop, step=step, body=body):
            bounds = f"{text(start)}, {text(stop)}, {text(step)}"
            return [f"{pad}for {var} in range({bounds}):", *_block(body, depth + 1)]
        case h.While(condition=condition, body=body, test_last=last):
            word = "do while" if last else "while"
            return [f"{pad}{word} {text(condition)}:", *_block(body, depth + 1)]
        case h.If(condition=condition, body=body, orelse=orelse):
            lines = [f"{pad}if {text(condition)}:", *_block(body, depth + 1)]
            return lines + ([f"{pad}else:", *_block(orelse, depth + 1)] if orelse else [])
        case h.Break():
            return [f"{pad}break"]
        case h.Return(values=values):
            return [f"{pad}return {', '.join(map(text, values))}".rstrip()]
    return []


def _extents(items: tuple[k.Expr, ...]) -> str:
    shown = [text(x) for x in items]
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
