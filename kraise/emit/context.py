"""What the parts of the emitter share while one function is written: names, blocks, array versions, statics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from kraise.diagnostics import refuse
from kraise.emit import tree
from kraise.emit.blocks import Assign, Block, Def, Do, Doubt, Frame, Pair, Pieces, Raw, Row, Stmt, Val, least, sizes_in
from kraise.emit.loads.tables import tables_of
from kraise.emit.loads.widths import Widths
from kraise.emit.text import launch
from kraise.emit.text import python as py
from kraise.emit.text.linear import STATIC_INFIX, Linear, linear, nonnegative, print_sum, round_its_type, static_cast
from kraise.emit.text.names import IMPORTED, OWN, Names, identifier
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.records import Field, not_made, record_of, static_field
from kraise.ir import equations as eq
from kraise.ir.types import FLOAT64, INT32, INT64, NUMBER, ArrayType, ScalarType, StructType


class Context:
    """The state of one function; see the module's docstring."""

    def __init__(self, kernel: eq.Kernel, names: Names, language: str, x64: bool, constants: tuple[object, ...] = ()):
        self.kernel = kernel
        self.names = names
        self.language, self.x64 = language, x64
        self.integral = {c.name for c in constants if c.type.is_integer}  # type: ignore[attr-defined]
        self.free = tree.Free()
        self.blocks: list[Block] = [Block("")]
        self.statics: set[str] = set()
        self.fields: set[Field] = set()  # static members of structs
        self.used_constants, self.used_helpers = set[str](), set[str]()
        self.needs: set[str] = set()
        self.wide: dict[eq.Version, Py] = {}  # arrays of narrow integers as what is computed with
        self.finite: dict[str, None] = {}  # arrays of which masked-out elements are multiplied by zero
        self.elements: dict[str, ScalarType] = {}
        self.ndim: dict[str, int] = {}
        self.tables = tables_of(constants, kernel.params)  # type: ignore[arg-type]
        self.params = {p.name for p in kernel.params}  # type: ignore[attr-defined]
        self.extents: dict[str, tuple[eq.Expr, ...]] = {}
        self.versions: dict[eq.Version, Py] = {}
        self.lazy: dict[eq.Version, Callable[[], Py]] = {}
        self.blank: set[eq.Version] = set()  # new arrays of zeros
        self.like: dict[str, str] = {n: kind[5:] for n, kind in kernel.must_be if kind.startswith("like ")}
        self.under: dict[tuple[eq.Version, tuple[eq.Expr, ...]], eq.Version] = {}
        self.last_use: dict[eq.Version, int] = {}
        self.accessed: set[str] = set()  # the others (of which sizes are used) may have any number of axes
        self.numbers: dict[int, int] = {}
        # versions that a later store or fold builds on, and the carried scalars that something uses after their fold
        self.written: set[eq.Version] = set()
        self.wanted: set[tuple[str, str]] = set()
        self.folded: dict[tuple[str, str, str], tuple[str, Frame]] = {}
        self.fold_depth: dict[str, int] = {}
        self.wishes: dict[eq.Expr, eq.Name] = {}
        for n in kernel.names:
            expr = eq.Shape(n.expr.array, n.expr.axis, INT32) if isinstance(n.expr, eq.Shape) else n.expr
            self.wishes.setdefault(expr, n)
        self.uses: Counter[eq.Expr] = Counter()
        self.inline: dict[object, Val] = {}
        self.nonempty, self.constant = set[eq.Expr](), set[eq.Expr]()  # over a value at least; without a derivative
        self.starts, self.into = dict[eq.Expr, eq.Const | None](), dict[eq.Expr, eq.Version]()  # see function.py
        self.reached: dict[tuple[str, int], list[Linear]] = {}  # see loads/one_cell
        self.following: tuple[tuple[eq.Stmt, ...], tuple[object, ...]] | None = None  # None: in a loop
        self.rows: dict[eq.Version, tuple[Py, bool, bool]] = {}  # kept back by stores/joined
        self.whole_rows: dict[eq.Version, Row] = {}  # see stores/whole_rows
        self.pieces: dict[eq.Version, Pieces] = {}  # see stores/pieces
        self.rebound, self.aliases = set[eq.Version](), set[eq.Expr]()  # whose variable holds another one now
        self.doubts: list[Doubt] = []
        self.widths = Widths(kernel.body)
        self.neighbours: dict[eq.Expr, Pair] = {}  # values that are computed at two places
        self.whole: frozenset[tuple[str, tuple[eq.Expr, ...]]] = frozenset()  # views that their array surely fills
        self.hints: dict[eq.Expr, str] = {}  # names for values that the source does not name: where they are stored
        self.clamped: list[Linear] = []  # sums that may be negative and were cut off at zero
        self.assumed: tuple[Linear, ...] = ()  # those that the function's head excludes
        self.asked: set[str] = set()  # the parameters that the text takes for sizes
        self.depths: dict[eq.Expr, int] = {}
        self.generators = self.lazy_arms = 0  # generator expressions, arms of conditional ones around the current place
        self.hosted = False  # functions of the module call this one with sizes that may be no numbers of Python's
        self.sizes: set[str] | None = None
        self.sources: dict[tuple[str, str], tuple[eq.Expr, ...]] | None = None
        for p in kernel.params:
            self._declare(p.name, p.type)  # type: ignore[attr-defined]
        for c in constants:
            if c.shape:  # type: ignore[attr-defined]
                self._declare_table(c)

    def _declare_table(self, constant: object) -> None:
        """A table of the module: a tuple there, an array here where something reads it."""
        name, kind, shape = constant.name, constant.type, constant.shape  # type: ignore[attr-defined]
        if name in self.ndim:
            return  # a parameter hides it
        self.elements[name], self.ndim[name] = kind, len(shape)
        self.extents[name] = tuple(eq.Const(n, INT32) for n in shape)

        def make() -> Py:
            self.used_constants.add(name)
            dtype = (Atom(f"jnp.{kind}"),) if kind.bits is not None and kind not in (FLOAT64, INT64) else ()
            local = self.names.fresh(name.lower())
            self.blocks[0].lines.append(Assign(local, py.call("jnp.array", Atom(identifier(name)), *dtype)))
            return Atom(local)

        self.lazy[eq.Version(name, 0)] = make

    def _declare(self, path: str, kind: object, outer: int = 0) -> None:
        """Element and axes of an array parameter; ``outer`` are the axes of the structs that it is a member of."""
        match kind:
            case ArrayType(element=element, ndim=ndim):
                self.elements[path], self.ndim[path] = element, ndim + outer
            case ScalarType() if outer:
                self.elements[path], self.ndim[path] = kind, outer
            case StructType(members=members, is_array=is_array):
                for name, member in members:
                    self._declare(f"{path}.{name}", member, outer + is_array)

    def table_entry(self, node: eq.Read) -> Py:
        """An entry of a table of the module at constant positions (of its rows, where it is seen in rows)."""
        text: Py = Atom(identifier(node.version.array))
        self.used_constants.add(node.version.array)
        at = [s.value for s in node.subscripts if isinstance(s, eq.Const)]
        for radix in node.view[1:]:
            assert isinstance(radix, eq.Const)
            at[:2] = [at[0] * radix.value + at[1]]  # type: ignore[operator]
        for s in at:
            text = py.Sub(text, (py.number(s),))  # type: ignore[arg-type]
        return text

    # --- uses ------------------------------------------------------------------------------

    def count_uses(self, body: Iterable[eq.Stmt], extra: Iterable[eq.Expr]) -> None:
        """Counts how many places hold each expression."""
        seen: set[eq.Expr] = set()

        def visit(root: eq.Expr) -> None:
            stack = [root]
            while stack:
                node = stack.pop()
                self.uses[node] += 1
                if node not in seen:
                    seen.add(node)
                    stack.extend(tree.children(node))

        for stmt in tree.statements(tuple(body)):
            for root in tree.statement_roots(stmt):
                visit(root)
            if isinstance(stmt, eq.Write):
                self.written.add(stmt.before)
            elif isinstance(stmt, eq.Fold):
                self.written.update(c.outside for c in stmt.arrays)
                self.written.update(c.exit for c in stmt.arrays)
        for root in extra:
            visit(root)
        self.wanted = {(n.fold, n.name) for n in seen if isinstance(n, eq.FoldResult)}

    # --- integers that are known when the function is traced ------------------------------------

    def static(self, value: eq.Expr | Linear) -> Py:
        """An integer expression over constants, static parameters and shapes as Python text."""
        return print_sum(value if isinstance(value, Linear) else linear(value), self._static_atom)

    def _static_atom(self, atom: eq.Expr) -> Py:
        match atom:
            case eq.Const(value=value, name=name):
                if name:
                    self.used_constants.add(name)
                    return Atom(identifier(name))
                return py.number(value)
            case eq.Param(name="x64.given"):
                return Atom("jax.config.jax_enable_x64")
            case eq.Param(name="grid.given" | "block.given" as name):
                return py.Bin("is not", Atom(name.split(".")[0]), py.NONE)
            case eq.Param(name=name):
                field = static_field(self.kernel.params, name)
                if field is not None:
                    self.fields.add(field)
                elif record_of(self.kernel.params, name) is None:
                    self.statics.add(name.split(".")[0])
                return Atom(self.param_text(name))
            case eq.Shape(array=array, axis=axis) if array in self.extents and array not in self.params:
                return self.static(self.extents[array][axis])
            case eq.Shape():
                return self.shape(atom)
            case eq.Index(name=name) if self.is_unrolled(name):
                return Atom(next(b.index_text for b in reversed(self.blocks) if b.index == name))
            case eq.Cast(arg=arg, type=kind):
                return static_cast(self.static(arg), arg, kind)
            case eq.Op(name=name, args=args) if name in STATIC_INFIX:
                a, b = (
                    self.static(x) if name in ("add", "sub", "mul") else round_its_type(self.static(x), x) for x in args
                )
                if name in ("tdiv", "tmod") and not self.never_negative(linear(args[0])):
                    return py.cut(name, a, b)
                return py.Bin(STATIC_INFIX[name], a, b)
            case eq.Op(name="min" | "max" as name, args=args):
                texts: list[Py] = []
                for text in (round_its_type(self.static(x), x) for x in args):
                    texts += text.args if isinstance(text, py.Call) and text.func == Atom(name) else (text,)
                return py.call(name, *texts)
            case eq.Op(name="neg", args=(a,)):
                return py.Un("-", self.static(a))
            case eq.Op(name="abs", args=(a,)):
                return py.call("abs", self.static(a))
            case eq.Op(name="not", args=(a,)):
                return py.Un("not", self.static(a))
            case eq.Op(name="bit_length", args=(a,)):
                return py.method(self.static(a), "bit_length")
            case eq.Op(name="select"):
                return self._static_choice(atom)
        raise refuse("KR301", f"an extent or a bound depends on a value that is not static: {type(atom).__name__}")

    def _static_choice(self, node: eq.Op) -> Py:
        """A choice between integers gets a variable of its own at the top."""
        known = self.blocks[0].variables.get(node)
        if known is None:
            c, a, b = node.args
            text = py.IfExp(self.static(c), self.static(a), self.static(b))
            if isinstance(text.condition, py.Bin) and text.condition.op == "is not":
                text = py.IfExp(py.Bin("is", text.condition.left, py.NONE), text.orelse, text.then)
            wish = self.wishes.get(node)
            known = (self.names.fresh(wish.name if wish else "threads"), ())
            self.blocks[0].lines.append(Assign(known[0], text))
            self.blocks[0].variables[node] = known
        return Atom(known[0])

    def is_static(self, value: eq.Expr | Linear, number: bool = False) -> bool:
        """Whether :meth:`static` can print it; as a ``number`` that Python has in every round."""
        lin = value if isinstance(value, Linear) else linear(value)
        return all(self._static_ok(atom, number) for atom, _ in lin.terms)

    def _static_ok(self, atom: eq.Expr, number: bool) -> bool:
        match atom:
            case eq.Const() | eq.Shape():
                return True
            case eq.Param(type=kind):
                return not kind.is_inexact
            case eq.Index(name=name):
                return self.is_unrolled(name) and not (number and self.is_moving(name))
            case eq.Cast(arg=arg, type=kind):
                return not kind.is_inexact and self.is_static(arg, number)
            case eq.Op(name=name, args=args):
                known = name in STATIC_INFIX or name in ("min", "max", "neg", "abs", "not", "select", "bit_length")
                number = number or name not in ("add", "sub", "mul", "neg", "shl")
                return known and all(self.is_static(a, number) for a in args)
        return False

    def is_unrolled(self, index: str) -> bool:
        """Whether an index is that of a Python loop around the current place."""
        return any(b.index == index and b.unrolled for b in self.blocks)

    def is_moving(self, index: str) -> bool:
        """Whether an index is that of a loop that may be one of the device's."""
        return any(b.index == index and b.moving for b in self.blocks)

    def shape(self, node: eq.Shape) -> Py:
        """``x.shape[k]``; :mod:`kraise.emit.text.shapes` gives it a name."""
        return py.Sub(Atom(f"{self.param_text(node.array)}.shape"), (py.number(node.axis),))

    def param_text(self, name: str) -> str:
        """A parameter's (or a member's) spelling; ``grid.x`` where the launch is a tuple."""
        head, _, rest = name.partition(".")
        if head in ("grid", "block") and rest in ("x", "y", "z"):
            return launch.extent_text(self, head, rest)
        if head == "threads" and rest in ("x", "y", "z"):
            return launch.threads_text(self, rest)
        mark = OWN if head in IMPORTED else ""  # not the module of that name
        return mark + ".".join(identifier(part) for part in name.split("."))

    launch_rank = 1

    def extent(self, axis: eq.Axis) -> Py:
        """The number of points of an axis as static text."""
        size = self.size(axis)
        if size is not None:
            return self.at_least_zero(size)
        return py.call("len", py.call("range", *self.range_arguments(axis)))

    def at_least_zero(self, value: Linear) -> Py:
        """A bound or an extent as text, zero where it would be negative."""
        text = self.static(value)
        if self.never_negative(value):
            return text
        self.clamped.append(value)
        return py.call("max", text, py.number(0))

    def never_negative(self, value: Linear) -> bool:
        """Whether a bound or an extent is 0 or more on every call that gets as far."""
        smallest = least(value, self.blocks)
        good = nonnegative(smallest)
        self.asked |= sizes_in(smallest) if good else set()
        return good or any(nonnegative(smallest - a) for a in self.assumed)

    def first_of(self, axis: eq.Axis) -> Py:
        """The extent of an axis's first place: one, none where the axis may be empty."""
        size = self.size(axis)
        if size is None or nonnegative(least(size, self.blocks) + -1):
            return py.number(1)
        return py.call("min", self.at_least_zero(size), py.number(1))

    def size(self, axis: eq.Axis) -> Linear | None:
        """The number of points of an axis with step 1."""
        return linear(axis.hi) - linear(axis.lo) if axis.step == 1 else None

    def shape_of(self, axes: Frame) -> Py:
        """The extents of axes as a shape: that of an array where they are exactly its own."""
        sizes = [self.size(a) for a in axes]
        first = sizes[0].terms[0][0] if sizes and sizes[0] is not None and sizes[0].terms else None
        if isinstance(first, eq.Shape) and self.ndim.get(first.array) == len(axes) and first.array in self.accessed:
            own = [linear(eq.Shape(first.array, k, INT32)) for k in range(len(axes))]
            if all(s is not None and s.same(o) for s, o in zip(sizes, own, strict=True)):
                return Atom(f"{self.param_text(first.array)}.shape")
        parts = tuple(self.extent(a) for a in axes)
        return parts[0] if len(parts) == 1 else py.Tup(parts)

    def range_arguments(self, axis: eq.Axis) -> tuple[Py, ...]:
        """``hi`` / ``lo, hi`` / ``lo, hi, step``: the arguments of ``range`` and ``arange``."""
        lo, hi = linear(axis.lo), self.static(axis.hi)
        if axis.step != 1:
            return (self.static(lo), hi, py.number(axis.step))
        return (hi,) if lo.same(Linear()) else (self.static(lo), hi)

    # --- arrays ------------------------------------------------------------------------------

    def array(self, version: eq.Version) -> Py:
        """The variable that holds an array version."""
        found = self.versions.get(version)
        if version in self.rebound:
            raise refuse("KR302", f"an old version of array {version.array} is read after its variable was rebound")
        if found is None and version in self.lazy:
            found = self.versions[version] = self.lazy.pop(version)()
        if found is None:
            if version.number == 0 and version.array in self.ndim:
                found = Atom(self.param_text(version.array))
                self.versions[version] = found
            else:
                raise not_made(version)
        return found

    def element(self, array: str) -> ScalarType:
        """An array's element type; NUMBER where it is that of the argument."""
        return self.elements.get(array, NUMBER)

    def array_extents(self, version: eq.Version, view: tuple[eq.Expr, ...]) -> tuple[Linear, ...]:
        """The extents of an array version (or of the view under which it is read)."""
        if view:
            self.asked |= set().union(*(sizes_in(linear(v)) for v in view))
            return tuple(linear(v) for v in view)
        made = self.extents.get(version.array)
        if made is not None:
            return tuple(linear(e) for e in made)
        rank = self.ndim.get(version.array, 1)
        array = next((k[10:] for n, k in self.kernel.must_be if n == version.array and "shaped as" in k), version.array)
        return tuple(linear(eq.Shape(array, k, INT32)) for k in range(rank))

    # --- blocks ----------------------------------------------------------------------------

    def emit(self, stmt: Stmt, depth: int | None = None) -> None:
        """Appends a statement to a block (the innermost one if no depth is given)."""
        self.blocks[-1 if depth is None else depth].lines.append(stmt)

    def enter(self, block: Block) -> None:
        """Statements go to ``block`` from here on."""
        self.blocks.append(block)
        self.inline = {}
        self.depths = {}

    def leave(self) -> None:
        """Statements go to the block around the innermost one again; texts made within it are forgotten."""
        self.blocks.pop()
        self.inline = {}
        self.depths = {}

    def depth(self, node: eq.Expr) -> int:
        """The outermost block in which a value is known."""
        found = self.depths.get(node)
        if found is not None:
            return found
        out = 0
        for part in tree.walk(node):
            out = max(out, self._own_depth(part))
        self.depths[node] = out
        return out

    def _own_depth(self, part: eq.Expr) -> int:
        match part:
            case eq.Index(name=name):
                at = [block.index == name for block in self.blocks]
            case eq.Read(version=version):
                at = [version in block.bound for block in self.blocks]
            case eq.CarryIn(fold=fold):
                at = [block.fold == fold for block in self.blocks]
            case eq.FoldResult(fold=fold):
                return self.fold_depth.get(fold, 0)
            case _:
                return 0
        return at.index(True) if True in at else 0


__all__ = ["Assign", "Block", "Context", "Def", "Do", "Frame", "Raw", "Stmt", "Val"]
