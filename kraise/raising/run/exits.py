"""Structured exits: ``return``, ``break`` and ``continue`` become flags and guards (raising.md, step 1).

After :func:`structure` a body holds no exit. What follows a statement that may have left is put under ``if not left``;
a flag is one boolean local, so an affine guard (``if i >= n: return``) comes out as the affine condition ``not (i >=
n)``. A ``for`` with a ``break`` becomes a loop whose body runs while the flag is clear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kraise.diagnostics import refuse
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import BOOL, ScalarType
from kraise.raising.run.liveness import assigned, exposed, reads

DONE = "$done"
ROUND = "$round"
TRUE, FALSE = k.Const(True, BOOL), k.Const(False, BOOL)


@dataclass
class Structured:
    """A body without exits, and which arrays (None for a scalar, then in local ``$ret<i>``) the function returns."""

    body: tuple[k.Stmt, ...]
    returns: tuple[k.ArrayRef | None, ...] = ()


@dataclass
class _Exits:
    """What is known while one function is rewritten: names of the flags in force, what was returned."""

    returns: list[k.ArrayRef | None] | None = None
    count: int = 0
    types: dict[str, ScalarType] = field(default_factory=dict)

    def flag(self, kind: str) -> str:
        self.count += 1
        return f"${kind}{self.count}"


def structure(function: k.Function) -> Structured:
    """``function``'s body with structured exits.

    Raises:
        Refused: its returns do not return the same arrays.
    """
    state = _Exits()
    body = _block(function.body, state, "", "", tail=True)
    if _assigns(body, DONE):
        # a value returned in some round of a loop is carried to the end
        early = [k.Assign(n, k.Const(0, t), t) for n, t in state.types.items()]
        body = (k.Assign(DONE, FALSE, BOOL), *early, *body)
    return Structured((*_counters(function, tuple(body)), *body), tuple(state.returns or ()))


def _counters(function: k.Function, body: tuple[k.Stmt, ...]) -> list[k.Assign]:
    """A first value for each variable of a loop that may be left, which is read behind the loop: where nothing else has
    given it one, the source means something only where there was a round."""
    found: dict[str, k.Assign] = {}
    open_ = exposed(body, frozenset()) - {p.name for p in function.params}
    for s in _statements(body):
        if isinstance(s, k.For) and s.var.endswith(ROUND):
            name = s.var.removesuffix(ROUND)
            others = {x.type for x in _statements(body) if isinstance(x, k.Assign) and x.name == name}
            if name in open_ and not others - {s.type}:
                found[name] = k.Assign(name, k.Const(0, s.type), s.type, span=s.span)
    return list(found.values())


def _statements(body: tuple[k.Stmt, ...]) -> Iterator[k.Stmt]:
    for s in body:
        yield s
        for inner in (getattr(s, "body", ()), getattr(s, "orelse", ())):
            yield from _statements(inner)


def leaves(stmts: tuple[k.Stmt, ...]) -> bool:
    """Whether a return, or a break or continue of the loop around, occurs in ``stmts``."""
    return any(_leaves(s, in_loop=False) for s in stmts)


def _leaves(s: k.Stmt, in_loop: bool) -> bool:
    match s:
        case k.Return():
            return True
        case k.Break() | k.Continue():
            return not in_loop
        case k.If(body=a, orelse=b):
            return any(_leaves(t, in_loop) for t in (*a, *b))
        case k.For(body=a, orelse=b) | k.While(body=a, orelse=b):
            return any(_leaves(t, True) for t in a) or any(_leaves(t, in_loop) for t in b)
    return False


def _always(stmts: tuple[k.Stmt, ...]) -> bool:
    """Whether every path through ``stmts`` leaves."""
    for s in stmts:
        match s:
            case k.Return() | k.Break() | k.Continue():
                return True
            case k.If(body=a, orelse=b) if b and _always(a) and _always(b):
                return True
    return False


def _assigns(stmts: tuple[k.Stmt, ...] | list[k.Stmt], name: str) -> bool:
    for s in stmts:
        match s:
            case k.Assign(name=n) if n == name:
                return True
            case k.If(body=a, orelse=b) | k.For(body=a, orelse=b) | k.While(body=a, orelse=b):
                if _assigns(a, name) or _assigns(b, name):
                    return True
    return False


def _not(flag: str) -> k.Expr:
    return k.Op("not", (k.Var(flag, BOOL),), BOOL)


def _block(stmts: tuple[k.Stmt, ...], state: _Exits, brk: str, cont: str, tail: bool) -> tuple[k.Stmt, ...]:
    """``stmts`` with exits taken out; ``brk``/``cont`` are the flags of the loop around, ``tail``: nothing follows."""
    out: list[k.Stmt] = []
    stmts = tuple(t for s in stmts for t in _tested_first(s))
    for at, s in enumerate(stmts):
        rest = stmts[at + 1 :]
        last = tail and not rest
        match s:
            case k.Return(values=values):
                out += _return(s, values, state, flag=not last)
                return tuple(out)
            case k.Break():
                out.append(k.Assign(brk, TRUE, BOOL, span=s.span))
                return tuple(out)
            case k.Continue():
                if not last:
                    out.append(k.Assign(cont, TRUE, BOOL, span=s.span))
                return tuple(out)
            case k.If(body=a, orelse=b) if _leaves(s, in_loop=False):
                if rest and _always(a):
                    a_new = _block(a, state, brk, cont, tail)
                    b_new = _block((*b, *rest), state, brk, cont, tail)
                    out.append(replace(s, body=a_new, orelse=b_new))
                    return tuple(out)
                if rest and b and _always(b):
                    a_new = _block((*a, *rest), state, brk, cont, tail)
                    out.append(replace(s, body=a_new, orelse=_block(b, state, brk, cont, tail)))
                    return tuple(out)
                out.append(replace(s, body=_block(a, state, brk, cont, last), orelse=_block(b, state, brk, cont, last)))
                if rest:
                    out += _guarded(rest, _flags(s, brk, cont), state, brk, cont, tail)
                return tuple(out)
            case k.While(test_last=True, condition=c, orelse=()) if constant(c) is False:
                out += _once(s, state, last)
                if rest and _has_return(s):
                    out += _guarded(rest, [DONE], state, brk, cont, tail)
                    return tuple(out)
            case k.For() | k.While():
                lines, alive = _loop(s, state)
                out += lines
                if s.orelse:  # what stands there may leave the loop around, as what follows may
                    other = s.orelse if alive is None else (k.If(alive, s.orelse, span=s.span),)
                    rest = (*other, *rest)
                if rest and any(map(_has_return, s.body)):
                    return (*out, *_guarded(rest, [DONE], state, brk, cont, tail))
                if s.orelse:
                    return (*out, *_block(rest, state, brk, cont, tail))
            case k.If(body=a, orelse=b):
                out.append(replace(s, body=_block(a, state, "", "", last), orelse=_block(b, state, "", "", last)))
            case _:
                out.append(s)
    return tuple(out)


def _guarded(
    rest: tuple[k.Stmt, ...], flags: list[str], state: _Exits, brk: str, cont: str, tail: bool
) -> list[k.Stmt]:
    body = _block(rest, state, brk, cont, tail)
    condition = _not(flags[0])
    for f in flags[1:]:
        condition = k.Op("and", (condition, _not(f)), BOOL)
    return [k.If(condition, body)]


def _flags(s: k.Stmt, brk: str, cont: str) -> list[str]:
    """The flags that ``s`` may set."""
    out = []
    if _has_return(s):
        out.append(DONE)
    if brk and _has_exit(s, k.Break):
        out.append(brk)
    if cont and _has_exit(s, k.Continue):
        out.append(cont)
    return out


def _has_return(s: k.Stmt) -> bool:
    match s:
        case k.Return():
            return True
        case k.If(body=a, orelse=b) | k.For(body=a, orelse=b) | k.While(body=a, orelse=b):
            return any(_has_return(t) for t in (*a, *b))
    return False


def _has_exit(s: k.Stmt, kind: type) -> bool:
    """Whether ``s`` holds a break or continue of the loop around it; what a loop has behind ``else`` is outside it."""
    match s:
        case k.If(body=a, orelse=b):
            return any(_has_exit(t, kind) for t in (*a, *b))
        case k.For(orelse=b) | k.While(orelse=b):
            return any(_has_exit(t, kind) for t in b)
    return isinstance(s, kind)


def _return(s: k.Return, values: tuple, state: _Exits, flag: bool) -> list[k.Stmt]:
    shape = [v if isinstance(v, k.ArrayRef) else None for v in values]
    if state.returns is not None and state.returns != shape:
        raise refuse(
            "KR299",
            "the returns of this function return different arrays",
            s.span,
            "return the same arrays on every path",
        )
    state.returns = shape
    for i, v in enumerate(values):
        if not isinstance(v, k.ArrayRef):
            known = state.types.get(f"$ret{i}", v.type)
            state.types[f"$ret{i}"] = v.type if known.is_integer or known.kind == "bool" else known
    out: list[k.Stmt] = [
        k.Assign(f"$ret{i}", v, v.type, span=s.span) for i, v in enumerate(values) if not isinstance(v, k.ArrayRef)
    ]
    if flag:
        out.append(k.Assign(DONE, TRUE, BOOL, span=s.span))
    return out


def constant(e: k.Expr) -> bool | None:
    """The truth of a condition that holds numbers only, None of any other."""
    match e:
        case k.Const(value=v):
            return bool(v)
        case k.Cast(arg=a):
            return constant(a)
        case k.Op(name="not", args=(a,)):
            inner = constant(a)
            return None if inner is None else not inner
        case k.Op(name="ne" | "eq" as name, args=(k.Const(value=a), k.Const(value=b))):
            return (a == b) is (name == "eq")
    return None


def _once(s: k.While, state: _Exits, last: bool) -> tuple[k.Stmt, ...]:
    """``do { … } while (0)``: its body once; ``break`` and ``continue`` both lead to its end."""
    leaves_it = any(_has_exit(t, k.Break) or _has_exit(t, k.Continue) for t in s.body)
    if not leaves_it:
        return _block(s.body, state, "", "", last)
    end = state.flag("break")
    return (k.Assign(end, FALSE, BOOL, span=s.span), *_block(s.body, state, end, end, last))


def _tested_last(s: k.For | k.While) -> k.For | k.While:
    """``while True: …; if c: break`` is ``do … while not c``, where nothing else leaves a round."""
    if not isinstance(s, k.While) or s.orelse or constant(s.condition) is not True or not s.body:
        return s
    *rest, test = s.body
    match test:
        case k.If(condition=c, body=(k.Break(),), orelse=()) if not leaves(tuple(rest)):
            return replace(s, condition=k.Op("not", (c,), BOOL, span=c.span), body=tuple(rest), test_last=True)
    return s


def _tested_first(s: k.Stmt) -> tuple[k.Stmt, ...]:
    """``while True: if c: break; …`` is ``while not c: …``, and ``if c: return`` a ``return`` behind it, where nothing
    else leaves the loop. Numbers that come before the test (``j = base + t; if j >= n: break``) are put into it, and
    are what they were behind the loop."""
    if not isinstance(s, k.While) or s.orelse or constant(s.condition) is not True:
        return (s,)
    at = next((n for n, t in enumerate(s.body) if not isinstance(t, k.Assign)), len(s.body))
    before = [t for t in s.body[:at] if isinstance(t, k.Assign)]
    test, rest = next(iter(s.body[at:]), None), s.body[at + 1 :]
    behind: tuple[k.Stmt, ...] = tuple(before)
    match test:
        case k.If(condition=c, body=(k.Break(),), orelse=()):
            c = _negated(c)
        case k.If(condition=c, body=(k.Return() as leave,), orelse=()) if not any(_has_exit(t, k.Break) for t in rest):
            c, behind = _negated(c), (*before, leave)
        case k.If(condition=c, body=a, orelse=(k.Break(),)):
            rest = (*a, *rest)
        case _:
            return (s,)
    again = any(t.name in reads(t.value) or t.name in assigned(tuple(before[n + 1 :])) for n, t in enumerate(before))
    if again or _asks(c) or any(isinstance(n, k.Load | k.Call | k.Warp) for n in walked(before)):
        return (s,)  # a step that comes before the test is not made twice
    known: dict[str, k.Expr] = {}
    for t in before:
        v = _with(t.value, known)
        known[t.name] = v if v.type == t.type else k.Cast(t.type, v)
    while rest and not behind:
        match rest[0]:  # another test behind it
            case k.If(condition=other, body=(k.Break(),), orelse=()) if not _asks(other):
                c, rest = k.Op("and", (c, _negated(other)), BOOL), rest[1:]
            case _:
                break
    return (replace(s, condition=_with(c, known), body=(*before, *rest), test_last=False), *behind)


def _negated(c: k.Expr) -> k.Expr:
    return c.args[0] if isinstance(c, k.Op) and c.name == "not" else k.Op("not", (c,), BOOL, span=c.span)


def _asks(c: k.Expr) -> bool:
    """Whether a condition is one that threads decide together, or that may do something."""
    return any(isinstance(n, k.Call | k.Warp) for n in walked(c))


def _with(e: k.Expr, known: dict[str, k.Expr]) -> k.Expr:
    return rewritten(e, lambda n: known.get(n.name) if isinstance(n, k.Var) else None)


def _has_rounds(s: k.For) -> bool:
    """Whether the numbers in a loop's head say that it has a round."""
    match s:
        case k.For(start=k.Const(value=int(a)), stop=k.Const(value=int(b)), step=k.Const(value=int(by))):
            return a < b if by > 0 else a > b
    return False


def _loop(s: k.For | k.While, state: _Exits) -> tuple[list[k.Stmt], k.Expr | None]:
    """The loop without exits and without its ``else``, and the condition of that (None: it always comes to it)."""
    s = _tested_last(s)
    breaks = any(_has_exit(t, k.Break) for t in s.body)
    continues = any(_has_exit(t, k.Continue) for t in s.body)
    returns = any(_has_return(t) for t in s.body)
    brk = state.flag("break") if breaks else ""
    cont = state.flag("continue") if continues else ""
    body = _block(s.body, state, brk, cont, tail=not (breaks or returns))
    if cont and _assigns(body, cont):
        body = (k.Assign(cont, FALSE, BOOL), *body)
    stops = ([brk] if breaks else []) + ([DONE] if returns else [])
    out: list[k.Stmt] = []
    if breaks:
        out.append(k.Assign(brk, FALSE, BOOL, span=s.span))
    alive: k.Expr | None = None
    for f in stops:
        alive = _not(f) if alive is None else k.Op("and", (alive, _not(f)), BOOL)
    if isinstance(s, k.For):
        if alive is not None:
            # the loop variable keeps the value it had when the loop was left
            fresh = f"{s.var}{ROUND}"
            body = (k.If(alive, (k.Assign(s.var, k.Var(fresh, s.type), s.type, span=s.span), *body)),)
            if _has_rounds(s):
                out.append(k.Assign(s.var, s.start, s.type, span=s.span))  # a round gives it one, whatever it was
            s = replace(s, var=fresh)
        out.append(replace(s, body=body, orelse=()))
    else:
        condition = s.condition if alive is None else k.Op("and", (alive, s.condition), BOOL)
        out.append(replace(s, condition=condition, body=body, orelse=()))
    return out, alive


def with_common_end(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``if c: a; v += 1`` / ``else: b; v += 1`` (what a ``continue`` leaves): one step behind both arms."""
    match body[-1:]:
        case (k.If(body=then, orelse=orelse) as last,) if then and orelse:
            first, second = with_common_end(then), with_common_end(orelse)
            if isinstance(first[-1], k.Assign) and first[-1] == second[-1]:
                arms = replace(last, body=first[:-1], orelse=second[:-1])
                return (*body[:-1], arms, first[-1])
    return body
