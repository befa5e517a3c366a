"""What the statements of a loop may store, and what they leave as it is."""

from __future__ import annotations

from kraise.ir import kernel as k


def still(e: k.Expr, body: tuple[k.Stmt, ...]) -> bool:
    """Whether ``e`` loads nothing that ``body`` may store, and calls nothing."""
    stored = stores(body)
    stack: list[object] = [e]
    while stack:
        x = stack.pop()
        match x:
            case k.Load(array=a, subscripts=subs):
                if a in stored:
                    return False
                stack.extend(subs)
            case k.Op(args=args):
                stack.extend(args)
            case k.Cast(arg=a):
                stack.append(a)
            case k.Call() | k.Warp():
                return False
    return True


def stores(stmts: tuple[k.Stmt, ...]) -> set[str]:
    """The arrays that ``stmts`` may write (every array passed to a call counts)."""
    out: set[str] = set()
    for s in stmts:
        match s:
            case k.Store(array=a) | k.Atomic(array=a):
                out.add(a)
            case k.If(body=a, orelse=b):
                out |= stores(a) | stores(b)
            case k.For(body=a) | k.While(body=a):
                out |= stores(a)
            case k.CallStmt(args=args):
                out |= {a.array for a in args if isinstance(a, k.ArrayRef)}
    return out
