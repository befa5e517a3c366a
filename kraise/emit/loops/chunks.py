"""``--max-intermediate``: what would be a broadcast over more indices than inputs and outputs have is mapped in chunks.

A value needs an intermediate over a set of indices where an operation that is no contraction holds them all. Where that
set is larger than those of the loads and of the result, the outermost index becomes the rounds of a fold that carries
nothing, and emission writes it as ``jax.lax.map(jax.checkpoint(row), …, batch_size=chunk)``: of a chunk of rounds the
intermediates exist at once, in the gradient they are made again.

The cost model, one row a quantity:

    elements of one intermediate of one round   the extents of its other indices, multiplied
    intermediates that live at once             one an operation over all the indices (its value or its cotangent)
    bytes of an element                         the type's; where the type follows an argument, that argument's
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq

Indices = frozenset[str]
Homes = dict[eq.Axis, tuple[int, set[eq.Version]]]  # where the map of an axis stands; what is made since
_PER_ELEMENT = 4  # bytes, where no argument tells


def chunked(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with the outermost index of its large intermediates as a fold that carries nothing."""
    if not kernel.memory.limit:
        return kernel
    work = _Chunks()
    body = work.body(kernel.body)
    more: list[eq.Stmt] = []
    returns = tuple(v if isinstance(v, eq.Version) else work.returned(v, more) for v in kernel.returns)
    body = (*body, *more)
    if not work.count:
        return kernel
    note = (
        f"{', '.join(dict.fromkeys(work.indices))} in chunks whose intermediates stay within "
        f"{kernel.memory.shown()}; the gradient makes them again (--max-intermediate)"
    )
    return replace(kernel, body=body, returns=returns, notes=(*kernel.notes, note))


def has_broadcast(kernel: eq.Kernel) -> bool:
    """Whether some value needs an intermediate over more indices than the loads and the result have."""
    free = tree.Free()
    writes = [s for s in tree.statements(kernel.body) if isinstance(s, eq.Write)]
    values = [*(s.value for s in writes), *(v for v in kernel.returns if not isinstance(v, eq.Version))]
    return any(_outer(free, s) for s in writes) or any(_inner_reduction(free, v) for v in values)


def materialised(free: tree.Free, value: eq.Expr) -> dict[eq.Expr, Indices]:
    """The operations below ``value`` that become arrays, with their indices: not the products under a plain sum."""
    found: dict[eq.Expr, Indices] = {}
    stack: list[tuple[eq.Expr, bool]] = [(value, False)]
    seen: set[tuple[eq.Expr, bool]] = set()
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        node, summed = item
        match node:
            case eq.Reduce(op="add", body=body, where=None):
                stack.append((body, True))
            case eq.Op(name="mul", args=args) if summed:
                stack += [(a, True) for a in args]
            case eq.Op(name="neg", args=(a,)) if summed:
                stack.append((a, True))
            case eq.Op(name="div", args=(a, b)) if summed:
                stack += [(a, True), (b, False)]
            case eq.Op(args=args):
                if node.type.is_inexact or node.type.kind == "number":
                    found[node] = free(node)
                stack += [(a, False) for a in args]
            case eq.Read():
                pass  # its subscripts are integers of its own rank
            case _:
                stack += [(c, False) for c in tree.children(node)]
    return found


def _largest(free: tree.Free, value: eq.Expr) -> Indices:
    sets = materialised(free, value).values()
    return max(sets, key=lambda s: (len(s), sorted(s)), default=frozenset())


def _exceeds(free: tree.Free, value: eq.Expr, rank: int) -> Indices | None:
    """The indices of the largest intermediate, where they are more than those of a load and of the result."""
    largest = _largest(free, value)
    loads = [n for n in tree.walk(value) if isinstance(n, eq.Read)]
    ranks = [len(frozenset().union(*(free(s) for s in n.subscripts))) for n in loads if n.subscripts]
    return largest if len(largest) > max([rank, *ranks]) else None


def _outer(free: tree.Free, s: eq.Write) -> eq.Axis | None:
    """The axis of a store over which its value can be mapped."""
    if not s.axes:
        return None
    largest = _exceeds(free, s.value, len(s.axes))
    return s.axes[0] if largest is not None and s.axes[0].name in largest else None


def _inner_reduction(free: tree.Free, value: eq.Expr) -> eq.Reduce | None:
    """A reduction that depends on nothing outside, with others in it or over several axes: its first can be mapped."""
    for node in tree.walk(value):
        if isinstance(node, eq.Reduce) and not free(node) and node.op in ("add", "min", "max"):
            largest = _exceeds(free, node, 0)
            if largest is not None and node.axes[0].name in largest:
                return node
    return None


class _Free(tree.Free):
    """Free indices but those of the loops around, which have one value in a round."""

    def __init__(self, rounds: Indices):
        super().__init__()
        self.rounds = rounds

    def __call__(self, node: eq.Expr) -> Indices:
        return super().__call__(node) - self.rounds


class _Chunks:
    def __init__(self) -> None:
        self.free = _Free(frozenset())
        self.count = 0
        self.taken: list[str] = []
        self.indices: list[str] = []

    def body(self, body: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
        """``body`` with its large intermediates mapped. Stores of one axis share a map where none reads another's."""
        out: list[eq.Stmt] = []
        homes: Homes = {}
        for s in body:
            if isinstance(s, eq.Fold):
                around = self.free
                self.free = _Free(around.rounds | ({s.axis.name} if s.axis is not None else set()))
                s = replace(s, body=self.body(s.body))
                self.free = around
            elif isinstance(s, eq.Write):
                s = self._write(s, out, homes)
            for _, since in homes.values():
                since |= _made(s)
            out.append(s)
        return tuple(out)

    def _write(self, s: eq.Write, out: list[eq.Stmt], homes: Homes) -> eq.Write:
        axis = _outer(self.free, s)
        if axis is not None:
            kept = eq.Output(self._name(f"{s.after.array}.rows"), s.axes[1:], s.value, s.value.type)
            return replace(s, value=self._mapped(axis, kept, out, homes))
        return replace(s, value=self._parted(s.value, s.after.array, out, homes))

    def returned(self, value: eq.Expr, out: list[eq.Stmt]) -> eq.Expr:
        """A returned value; ``out`` takes the map before it."""
        return self._parted(value, "total", out, {})

    def _parted(self, value: eq.Expr, wish: str, out: list[eq.Stmt], homes: Homes) -> eq.Expr:
        """``value`` with a reduction over several axes made of the parts of its first one."""
        total = _inner_reduction(self.free, value)
        if total is None:
            return value
        first, *rest = total.axes
        part = eq.Reduce(total.op, tuple(rest), total.body, total.where, total.type) if rest else total.body
        kept = eq.Output(self._name(f"{wish}.parts"), (), part, part.type)
        where = None if rest else total.where  # it holds no other index than the first
        whole = eq.Reduce(total.op, (first,), self._mapped(first, kept, out, homes), where, total.type)
        return tree.substitute(value, {total: whole}, {})

    def _name(self, wish: str) -> str:
        """A name for an output, unique among those of the kernel."""
        self.count += 1
        wish = wish.replace(".", "_")
        self.taken.append(wish)
        same = self.taken.count(wish)
        return wish if same == 1 else f"{wish}_{same}"

    def _mapped(self, axis: eq.Axis, kept: eq.Output, out: list[eq.Stmt], homes: Homes) -> eq.FoldResult:
        reads = {n.version for n in tree.walk(kept.value) if isinstance(n, eq.Read)}
        home = homes.get(axis)
        fold = out[home[0]] if home is not None and not reads & home[1] else None
        if isinstance(fold, eq.Fold) and home is not None and not _folds(kept.value):
            out[home[0]] = replace(fold, outputs=(*fold.outputs, kept))
        else:
            fold = eq.Fold(f"map.{self.count}", axis, (), (), (), outputs=(kept,), mapped=True)
            homes[axis] = (len(out), set())
            out.append(fold)
            self.indices.append(axis.name)
        return eq.FoldResult(fold.name, kept.name, (*kept.axes, axis), kept.type)


def _made(s: eq.Stmt) -> set[eq.Version]:
    match s:
        case eq.Write(after=after):
            return {after}
        case eq.New(version=version):
            return {version}
        case eq.Fold(arrays=arrays):
            return {c.result for c in arrays}
    return set()


def _folds(value: eq.Expr) -> bool:
    return any(isinstance(n, eq.FoldResult) for n in tree.walk(value))


def batch(ctx: Context, fold: eq.Fold) -> Py:
    """How many rounds of a map make a chunk, as static text: the limit over the bytes that one round needs."""
    assert fold.axis is not None
    axes: dict[str, eq.Axis] = {a.name: a for o in fold.outputs for a in o.axes}
    for o in fold.outputs:
        axes |= {a.name: a for n in tree.walk(o.value) for a in tree.axes_of(n)}
    found: dict[eq.Expr, Indices] = {}
    for o in fold.outputs:
        found |= materialised(ctx.free, o.value)
    largest = max(found.values(), key=lambda s: (len(s), sorted(s)))
    live = sum(1 for held in found.values() if held == largest)
    parts: list[Py] = [py.number(live)] if live > 1 else []
    parts += [ctx.extent(axes[n]) for n in axes if n in largest and n != fold.axis.name]
    parts.append(_itemsize(ctx, fold))
    below = parts[0]
    for p in parts[1:]:
        below = py.Bin("*", below, p)
    rounds = py.Bin("//", _bytes(ctx.kernel.memory.limit), py.Bin("+", below, py.number(1)))
    return py.Bin("+", rounds, py.number(1))  # an index without a range is no division by zero, and no chunk is empty


def _itemsize(ctx: Context, fold: eq.Fold) -> Py:
    bits = 0
    for o in fold.outputs:
        for node in tree.walk(o.value):
            if isinstance(node, eq.Read) and not node.type.is_integer:
                if node.type.bits is None:
                    return Atom(f"{ctx.param_text(node.version.array)}.dtype.itemsize")
                bits = max(bits, node.type.bits)
    return py.number(bits // 8 or _PER_ELEMENT)


def _bytes(limit: int) -> Py:
    for power in (30, 20, 10):
        if limit % (1 << power) == 0:
            unit: Py = py.Bin("**", py.number(2), py.number(power))
            return unit if limit == 1 << power else py.Bin("*", py.number(limit >> power), unit)
    return py.number(limit)
