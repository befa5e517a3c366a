"""Whether a result depends on the launch, and what the launch must be for it (contract, section 1)."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import reduce
from operator import mul

from kraise.analysis.conditions import classify, conjuncts
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, statement_expressions, substitute, topological
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context
from kraise.raising.threads import indices as threads
from kraise.raising.threads import planes
from kraise.raising.threads.hardware import hardware
from kraise.raising.threads.limits import limits
from kraise.raising.threads.reach import reached
from kraise.raising.threads.row_views import asks_for, by_launch
from kraise.raising.threads.told import hinted, launched


def launch_of(cx: Context, stmts: tuple[eq.Stmt, ...]) -> tuple[str, tuple[tuple[str, eq.Expr], ...]]:
    """Whether the result depends on the launch, and the extent that an unguarded index has by default."""
    used = {
        n.name
        for s in stmts
        for n in topological(statement_expressions(s))
        if isinstance(n, eq.Param) and n.name.partition(".")[0] in ("grid", "block", "threads") and "." in n.name
    }
    if not used:
        return "", ()
    defaults = [(name, one) for name, one in cx.single.items() if name in used]
    for axis, letter in enumerate(threads.AXES):
        for name in (f"threads.{letter}", f"grid.{letter}"):
            wanted = name in used and name not in cx.single
            extent = _extent_written(cx, stmts, _thread_name(cx, axis), name) if wanted else None
            if extent is not None:
                defaults.append((name, extent))
    if {n for n, _ in defaults} == used and _ordered(dict(defaults)):
        return "optional", tuple(defaults)
    return "required", ()


def counted_on(
    cx: Context, stmts: tuple[eq.Stmt, ...], accesses: list[Access], launch: str
) -> tuple[tuple[tuple[int, eq.Expr], ...], tuple[tuple[eq.Param, eq.Expr], ...], tuple[tuple[eq.Expr, str], ...]]:
    """What a launch is taken to be that the function does not take, as far as it does not: how much it has at least
    (:func:`covered`, :func:`least`), and conditions."""
    if launch:
        return (), () if launch == "required" else least(cx, stmts, accesses), ()
    covers = tuple(c for c in covered(cx, stmts, accesses) if c[0] not in cx.persistent)
    counted = tuple(dict.fromkeys((*least(cx, stmts, accesses), *_of_a_block(cx, accesses))))
    return covers, counted, tuple(of_launch(c) for c in cx.checks if where_given("", c) is None)


def covered(cx: Context, stmts: tuple[eq.Stmt, ...], accesses: list[Access]) -> tuple[tuple[int, eq.Expr], ...]:
    """How many threads a launch is taken to have at least, by axis: what the guards let through. Nothing for threads
    that look at the size of the grid: they share the work whatever it is. Where threads of two axes may be one index
    (``4 * y + x``), a guard of the source must say it of the one."""
    told = _told(accesses)
    several = len(set(cx.axes.values())) > 1
    shared = {axis for kind, axis in hardware(cx.function.body) if kind == "gridDim"}
    found: dict[tuple[int, eq.Expr], None] = {}
    for a in _written_over(stmts):
        axis, whole = cx.axes.get(a.name), cx.extents.get(a.name) == ("blockDim", "gridDim")
        if axis is not None and axis not in shared and whole and (not several or _ends_at(a, told)):
            found[axis, a.hi] = None
        if a.name in cx.dealt:
            each = to_poly(cx.dealt[a.name])
            found[0, eq.Op("floordiv", (to_expr(to_poly(a.hi) + each + -1), to_expr(each)), INT)] = None
    return tuple(found)


def least(cx: Context, stmts: tuple[eq.Stmt, ...], accesses: list[Access]) -> tuple[tuple[eq.Param, eq.Expr], ...]:
    """How many threads, blocks, or threads of a block a launch is taken to have at least: what guards of the source let
    through of an index that is a thread's, a block's, or a thread's in its block and nothing else, or of the digits of
    a thread's (:func:`_taken_apart`); one, where they share out what there is (:func:`_some`)."""
    told, used = _told(accesses), {*hardware(cx.function.body)}
    heads = {("blockDim", "gridDim"): "threads", ("gridDim",): "grid", ("blockDim",): "block"}
    found: dict[tuple[eq.Param, eq.Expr], None] = {}
    for a in _written_over(stmts):
        head = heads.get(cx.extents.get(a.name, ()))
        if head is None or a.name in (cx.dealt.keys() | cx.whole_rows | cx.strides.keys() | cx.digits.keys()):
            continue
        axis, strides = cx.axes[a.name], "blockDim" if head == "block" else "gridDim"
        if axis not in cx.persistent and (strides, axis) not in used and _ends_at(a, told) and not by_launch(_ends(a)):
            found[eq.Param(f"{head}.{threads.AXES[axis]}", INT), a.hi] = None
    return (*found, *_taken_apart(cx, stmts, used), *_some(cx, stmts))


def _of_a_block(cx: Context, accesses: list[Access]) -> Iterator[tuple[eq.Param, eq.Expr]]:
    """The threads of a block that store under nothing but a guard on their number in it (``if (t < 4) s[t] = 0``):
    where the result is the same for blocks of all sizes, each has them."""
    zero = eq.Const(0, INT)
    for axis, letter in enumerate(threads.AXES):
        own = cx.threads.get(("thread", axis))
        for path in dict.fromkeys(a.path for a in accesses if a.write):
            guards = [c for c in path if not (isinstance(c, eq.Op) and c.name == "ge" and c.args[1] == zero)]
            fact = classify(guards[0]) if len(guards) == 1 and own is not None else None
            last = None if fact is None or fact.kind != "ge" else fact.poly + to_poly(own)  # type: ignore[arg-type]
            if last is None or last.indices() or (last.value is not None and last.value < 1):
                continue
            extent = to_expr(last + 1)
            if not by_launch((extent,)):
                yield eq.Param(f"block.{letter}", INT), extent


def _taken_apart(
    cx: Context, stmts: tuple[eq.Stmt, ...], used: Set[tuple[str, int]]
) -> dict[tuple[eq.Param, eq.Expr], None]:
    """The threads whose digits (``i / w``, ``i % w``) guards let through: one more than the number of the last."""
    found: dict[tuple[eq.Param, eq.Expr], None] = {}
    ends = {a.name: a.hi for a in _written_over(stmts)}
    last: dict[eq.Expr, eq.Expr] = {eq.Index(n, INT): to_expr(to_poly(hi) + -1) for n, hi in ends.items()}
    for axis, letter in enumerate(threads.AXES):
        own, block, size = (cx.threads.get((kind, axis)) for kind in ("thread", "block", "blockDim"))
        if own is None or block is None or size is None or axis in cx.persistent or ("gridDim", axis) in used:
            continue
        number = to_poly(own) + to_poly(block) * to_poly(size)
        names = number.indices()
        if names and names <= ends.keys() & cx.digits.keys():
            if asks_for((ends[n] for n in sorted(names)), ("threads.", "block.", "grid.", "warps.")):
                continue  # no guard says where they end
            extent = to_poly(substitute(to_expr(number), last)) + 1
            found[eq.Param(f"threads.{letter}", INT), to_expr(extent)] = None
    return found


def _some(cx: Context, stmts: tuple[eq.Stmt, ...]) -> dict[tuple[eq.Param, eq.Expr], None]:
    """One block and one thread, where those of a launch share out elements however many they are, and there are some:
    a launch of ``n / 32`` blocks has none for few."""
    one = eq.Const(1, INT)
    shared = [*cx.shared_ends]
    shared += [
        ((a.name,), to_expr(to_poly(a.hi) - to_poly(a.lo)))
        for a in _written_over(stmts)
        if cx.axes.get(a.name) in cx.persistent and cx.extents.get(a.name) == ("gridDim",)
    ]
    found: dict[tuple[eq.Param, eq.Expr], None] = {}
    for names, elements in shared:
        for name in (cx.whole_of.get(n, n) for n in names):
            for head in cx.extents.get(name, ()):
                number = eq.Param(f"{head.removesuffix('Dim')}.{threads.AXES[cx.axes[name]]}", INT)
                found[number, eq.Op("min", (elements, one), INT)] = None
    return found


def _written_over(stmts: tuple[eq.Stmt, ...]) -> Iterator[eq.Axis]:
    """The axes of stores, and those that they sum over."""
    for s in stmts:
        if isinstance(s, eq.Write):
            yield from s.axes
            yield from (a for n in topological(statement_expressions(s)) if isinstance(n, eq.Reduce) for a in n.axes)


def _ends(a: eq.Axis) -> tuple[eq.Expr, ...]:
    """What an axis ends at: the least of these."""
    return a.hi.args if isinstance(a.hi, eq.Op) and a.hi.name == "min" else (a.hi,)


def _ends_at(a: eq.Axis, told: set[Poly]) -> bool:
    """Whether a guard says that an axis ends there."""
    return any(to_poly(e) - to_poly(eq.Index(a.name, INT)) - 1 in told for e in _ends(a))


def _told(accesses: list[Access]) -> set[Poly]:
    """What guards say is not negative."""
    return {f.poly for a in accesses for c in a.path if (f := classify(c)) is not None and f.kind == "ge"}


def _ordered(defaults: dict[str, eq.Expr]) -> bool:
    """Whether no extent is taken from one that is taken from it: a flat array of ``grid.y`` rows of ``grid.x`` gives
    neither."""
    open_ = dict(defaults)
    while open_:
        ready = [n for n, e in open_.items() if not _extents_of(e) & open_.keys()]
        if not ready:
            return False
        for n in ready:
            del open_[n]
    return True


def _extents_of(e: eq.Expr) -> set[str]:
    return {n.name for n in topological((e,)) if isinstance(n, eq.Param)}


def _thread_name(cx: Context, axis: int) -> str:
    v = cx.threads.get(("thread", axis))
    if v is None:
        return ""
    return next((n for n in cx.thread_names if n in free_indices(v)), "")


def guessed(cx: Context, ways: threads.Ways, body: tuple[k.Stmt, ...]) -> bool:
    """Whether the source asks how many threads a block has (``blockDim``) along an axis of which only a guess says it:
    no launch in the file does, nor an array of which every thread fills a cell and all cells are read."""
    told = {*launched(cx.module, cx.function), *hinted(cx.module, cx.function)}
    asked = {axis for kind, axis in hardware(cx.function.body) if kind == "blockDim"} - told
    open_ = {axis: abs(n) for axis, n in ways.items() if abs(n) > 1 and axis in asked}
    cells, full = (limits(body, guarded=True), reached(body, certainly=True)) if open_ else ({}, {})
    return any(not n == full.get(axis) == cells.get(axis) for axis, n in open_.items())


def whole_warps(cx: Context, stmts: tuple[eq.Stmt, ...]) -> None:
    """Where the launch is taken from what is written, that must be a number of whole warps."""
    threads = eq.Param("threads.x", INT)
    if cx.lane is not None and threads in topological(e for s in stmts for e in statement_expressions(s)):
        rest = eq.Op("mod", (threads, eq.Const(cx.warp, INT)), INT)
        text = f"the threads must be whole {'warps' if cx.warp == 32 else 'groups'} of {cx.warp}"
        cx.checks.append((eq.Op("eq", (rest, eq.Const(0, INT)), BOOL), text))


def covers_asked(conditions: tuple[eq.Expr, ...], launch: str, ndrange: tuple[tuple[str, eq.Expr], ...]) -> bool:
    """Whether what conditions ask of the launch has a value where none is given."""
    given = {name for name, _ in ndrange}
    asked = {n.name for n in topological(conditions) if isinstance(n, eq.Param)}
    return all(n in given or not n.startswith(("grid.",) if launch else ("grid.", "threads.")) for n in asked)


def where_given(launch: str, check: tuple[eq.Expr, str]) -> tuple[eq.Expr, str] | None:
    """A check of the launch, for a function that takes one or may take one; None where it takes none."""
    condition, text = check
    given = eq.Op("not", (eq.Param("block.given", BOOL),), BOOL)
    if isinstance(condition, eq.Op) and condition.name == "or" and condition.args[0] is given:
        return {"": None, "required": (condition.args[1], text)}.get(launch, check)
    if not by_launch((condition,)) or launch == "required":
        return check
    return (eq.Op("or", (given, condition), BOOL), text) if launch else None


def of_launch(check: tuple[eq.Expr, str]) -> tuple[eq.Expr, str]:
    """A check of the launch as who launches sees it: the launch is given."""
    condition, text = check
    given = eq.Op("not", (eq.Param("block.given", BOOL),), BOOL)
    if isinstance(condition, eq.Op) and condition.name == "or" and condition.args[0] is given:
        return condition.args[1], text
    return check


def _extent_written(cx: Context, stmts: tuple[eq.Stmt, ...], index: str, extent: str) -> eq.Expr | None:
    """The extent of the written array's axis whose subscript is ``index`` itself, or another that ends at
    ``extent``; arrays that the kernel made have no say."""
    for s in stmts:
        if isinstance(s, eq.Write) and s.after.array not in cx.made:
            at = next((a.name for a in s.axes if isinstance(a.hi, eq.Param) and a.hi.name == extent), None)
            if at is None and (rows := planes.written(s, extent)) is not None:
                count = _extent(s, rows[0], cx.tail(s.after.array), 0)
                return None if count is None else operation("mul", (rows[1], count), INT)
            if at is None and extent.startswith("grid"):
                continue
            index = at or index
            for d, sub in enumerate(s.subscripts):
                if isinstance(sub, eq.Index) and sub.name == index:
                    hi = next((a.hi for a in s.axes if a.name == index), None)
                    if hi is not None and _by_parts(hi, extent, cx.warp):
                        return None
                    by_warp = isinstance(hi, eq.Op) and hi.name == "floordiv"
                    return _extent(s, d, cx.tail(s.after.array), cx.warp if by_warp else 0)
    return None


def _by_parts(hi: eq.Expr, extent: str, warp: int) -> bool:
    """Whether the index runs over a part of the threads, every eighth of them; warps are counted by :func:`_extent`."""
    if isinstance(hi, eq.Op) and hi.name == "floordiv" and hi.args[1] is eq.Const(warp, INT):
        return False
    divided = [n for n in topological((hi,)) if isinstance(n, eq.Op) and n.name in ("floordiv", "tdiv")]
    return any(isinstance(x, eq.Param) and x.name == extent for n in divided for x in topological((n.args[0],)))


def _extent(s: eq.Write, d: int, tail: int, warp: int) -> eq.Expr:
    """The threads that an axis of what is written asks for (``warp``: its index is that of a warp
    of so many lanes), where a flat
    array (with ``tail`` axes of its type) is seen as rows too."""
    whole = eq.Const(warp or 32, INT)
    rows = [r for r in s.view[1 : len(s.view) - tail] if not (warp and r is whole)]
    size: eq.Expr = s.view[d] if s.view and d else eq.Shape(s.after.array, 0 if s.view else d, INT)
    if rows and not d:
        row = reduce(mul, map(to_poly, rows))
        own = frozenset().union(*map(free_indices, s.subscripts))
        # where a guard cuts the last row off there is a block for what is begun of it
        begun = s.where is not None and any(len(free_indices(c) & own) > 1 for c in conjuncts(s.where))
        # a product of sums reads better as it is
        whole_row = to_expr(row) if len(row.terms) == 1 else reduce(lambda a, b: eq.Op("mul", (a, b), INT), rows)
        size = eq.Op("floordiv", (to_expr(to_poly(size) + row - 1) if begun else size, whole_row), INT)
    return eq.Op("mul", (whole, size), INT) if warp and not s.view else size
