"""What the threads compute together apart from what they do with it: Kernel IR made ready for the simulation."""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import resolve


def opened(cx: Context, st: State, stmts: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``stmts`` with ``if c: (shuffles); y[i] = v`` as ``if c: (shuffles)`` and ``if c: y[i] = v``: what the threads
    compute together apart from what they do with it."""
    out: list[k.Stmt] = []
    made = [s for s in stmts if isinstance(s, k.LocalArray) and s.space == "shared" and _anywhere(s)]
    stmts = (*made, *(s for s in stmts if s not in made))
    in_step = any(by_warps(s) for s in stmts)
    for at, s in enumerate(stmts):
        if in_step and isinstance(s, k.Store) and _shared(cx, st, s.array) and not isinstance(s.value, k.Var):
            # no barrier of the block keeps it from what follows: the run begins with it, and with a value that is known
            name = f"$stored{at}"
            out.append(k.Assign(name, s.value, s.value.type, span=s.span))
            s = replace(s, value=k.Var(name, s.value.type, span=s.span))
        parts = _parts(cx, st, s) if isinstance(s, k.If) and not s.orelse and touches(cx, st, s) else (s,)
        out += parts
    return tuple(out)


def _anywhere(s: k.LocalArray) -> bool:
    """Whether the array may be made at the start of the block: its size is no local's."""
    return not s.values and s.fill is None and not any(reads(n) for n in s.shape)


def _parts(cx: Context, st: State, s: k.If) -> tuple[k.Stmt, ...]:
    body = opened(cx, st, s.body)
    cut = next((n for n, inner in enumerate(body) if not _within(cx, st, inner)), len(body))
    joint = max((n + 1 for n, inner in enumerate(body[:cut]) if shuffles(inner)), default=0)
    if any(_computed(inner) for inner in body[joint:cut]):
        cut = joint or cut  # what one thread makes of the sum, and leaves in a cell for the others
    together = 0 < cut < len(body) and any(touches(cx, st, inner) for inner in body[:cut])
    stored = {resolve(cx, st, x.array) for x in walked(body[:cut]) if isinstance(x, k.Store | k.Atomic)}
    changed = any(isinstance(x, k.Load) and resolve(cx, st, x.array) in stored for x in walked(s.condition))
    if changed or not together or reads(s.condition) & set(assigned(body[:cut])) or not _within(cx, st, s.condition):
        return (s,) if body == s.body else (replace(s, body=body),)
    return (replace(s, body=body[:cut]), replace(s, body=body[cut:]))


def _computed(s: k.Stmt) -> bool:
    """Whether more than a local or a cell is stored."""
    return any(isinstance(x, k.Store) and not isinstance(x.value, k.Var | k.Load) for x in walked(s))


def _within(cx: Context, st: State, x: object) -> bool:
    """Whether ``x`` touches shared arrays and locals only."""
    stack: list[object] = [x]
    while stack:
        node = stack.pop()
        match node:
            case k.Store(array=a) | k.Load(array=a) | k.Atomic(array=a):
                if not _shared(cx, st, a):
                    return False
            case k.CallStmt() | k.Call() | k.LocalArray():
                return False
        if isinstance(node, tuple | list):
            stack.extend(node)
        elif hasattr(node, "__dataclass_fields__"):
            stack.extend(getattr(node, f) for f in node.__dataclass_fields__ if f not in ("span", "type"))
    return True


def _shared(cx: Context, st: State, array: str) -> bool:
    local = st.locals.get(resolve(cx, st, array))
    return array in cx.shared if local is None else local.shared


def starts(cx: Context, st: State, s: k.Stmt) -> bool:
    """Whether a joint computation may begin with ``s``."""
    if isinstance(s, k.Store):
        local = st.locals.get(resolve(cx, st, s.array))
        return local is not None and local.shared and isinstance(s.value, k.Var | k.Load | k.Op)
    return isinstance(s, k.Assign | k.If | k.While | k.For) and touches(cx, st, s)


def touches(cx: Context, st: State, s: object) -> bool:
    """Whether a warp primitive, or a store to a shared array, occurs in ``s``."""
    stack: list[object] = [s]
    while stack:
        x = stack.pop()
        match x:
            case k.Warp():
                return True
            case k.Store(array=a) | k.Atomic(array=a):
                if _shared(cx, st, a):
                    return True
            case tuple() | list():
                stack.extend(x)
            case k.If(body=a, orelse=b):
                stack += [a, b]
            case k.For(body=a) | k.While(body=a):
                stack.append(a)
            case k.Assign(value=v):
                stack.append(v)
            case k.Op(args=a):
                stack.append(a)
            case k.Cast(arg=a):
                stack.append(a)
    return False


def shuffles(s: object) -> bool:
    """Whether a warp primitive occurs in ``s``."""
    return any(isinstance(x, k.Warp) for x in walked(s))


def by_warps(s: object) -> bool:
    """Whether lanes of a warp wait for each other in ``s``."""
    return any(isinstance(x, k.Barrier) and x.scope == "warp" for x in walked(s))
