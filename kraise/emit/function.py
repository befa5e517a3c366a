"""One kernel as one function: signature, docstring, checks, statements, result."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial

from kraise.diagnostics import Refused
from kraise.emit import asked, bit_order, checked, emptied, guards, precision, tree
from kraise.emit.blocks import failing
from kraise.emit.context import Assign, Context, Def, Raw, Stmt
from kraise.emit.gradients import derivatives
from kraise.emit.hosts import shared_work
from kraise.emit.hosts.shared_work import Shared
from kraise.emit.loads import (
    declared,
    edges,
    flat_members,
    gathered_rows,
    halo,
    one_cell,
    picked,
    row_members,
    tile_rows,
    widened,
)
from kraise.emit.loads.rectangles import rectangles
from kraise.emit.loads.tables import tables_of
from kraise.emit.loads.views import whole
from kraise.emit.loops import chunks, first_cells, folds, longest, remat, rows_of_rounds, triangular
from kraise.emit.lower import Lowering
from kraise.emit.settled import settled
from kraise.emit.stores import (
    columns,
    exclusive,
    new_arrays,
    over_all,
    own_arrays,
    row_digits,
    summed,
    versions,
    whole_rows,
    writes,
)
from kraise.emit.stores.flat import counted_from_zero
from kraise.emit.stores.merge import merged
from kraise.emit.sums import between, members, neighbours, nothing, row_ends, summed_into, totals
from kraise.emit.sums.extrema import beside_places
from kraise.emit.sums.from_first import from_first
from kraise.emit.text import clashes, launch, layout_text, records, shapes
from kraise.emit.text import python as py
from kraise.emit.text.canonical import canonical
from kraise.emit.text.doc import CHECKPOINTED
from kraise.emit.text.head import Signature, signature
from kraise.emit.text.linear import Linear
from kraise.emit.text.names import TEXT_USES, Names, identifier
from kraise.emit.text.python import Atom, flat
from kraise.emit.text.rendering import Comments, Surroundings, render
from kraise.emit.text.shared_masks import shared
from kraise.ir import equations as eq


class FunctionText:
    """A function's lines and what it needs of the module around it."""

    def __init__(self, lines: list[str], context: Context | None = None):
        self.lines = lines
        self.needs = context.needs if context else set()
        self.constants = context.used_constants if context else set()
        self.helpers = context.used_helpers if context else set()
        self.statics = frozenset(identifier(s) for s in context.statics) if context else frozenset()
        self.fields = frozenset(context.fields) if context else frozenset()
        self.shapes = rectangles(context.kernel, context.whole) if context else {}
        self.sizes: dict[str, bool] = {}
        self.head = Signature(())
        # the function in two for a loop that leaves some parameters alone, and the text of these
        self.shared: Callable[[Set[str], Set[str]], Shared | None] = lambda fixed, sized: None
        self.in_two: Callable[[Shared], list[FunctionText]] = lambda shared: [self]


def emit_function(kernel: eq.Kernel, around: Surroundings) -> list[FunctionText]:
    """The text of one kernel's function, and those of the derivatives that it asks for."""
    kernel = exclusive.gathered(over_all.widened(longest.counted(kernel)))
    kernel = summed.of_values(from_first(shared(canonical(merged(kernel)))))
    kernel = chunks.chunked(triangular.solved(kernel))
    kernel = between.between(
        rows_of_rounds.in_rows(totals.of_running(row_ends.told_by_pointers(picked.picked(kernel))))
    )
    kernel = halo.padded(kernel, tables_of(around.module.constants, kernel.params))  # type: ignore[arg-type]
    kernel = tile_rows.in_tiles(kernel)
    kernel = gathered_rows.in_rows(edges.repeating(bit_order.turned(kernel)))
    kernel = flat_members.in_rows(members.together(kernel))
    kernel = own_arrays.fitted(row_digits.apart(columns.stacked(row_members.gathered(kernel))))
    kernel = counted_from_zero(first_cells.alone(kernel))
    parameters = tuple(identifier(p.name) for p in kernel.params)  # type: ignore[attr-defined]
    try:
        context, checks, body = _lowered(kernel, around, ())
        eager = True
    except Refused:
        context, checks, body = _lowered(kernel, around, (), eager=False)
        eager = False
    idle = guards.idle(context, kernel)
    assumed = guards.strongest((*idle, *guards.assumable(context, kernel)))
    if assumed:
        context, checks, body = _lowered(settled(kernel, assumed), around, assumed, eager)
    returns = emptied.early_returns(context, kernel, lambda rest: _lowered(rest, around, context.assumed)[::2])
    if known := tuple(s for e in returns for s in e.excluded()):
        context, checks, body = _lowered(settled(kernel, (*assumed, *known)), around, (*assumed, *known), eager)
    checks, body = _placed(checks, body)
    checks = [*triangular.checks(context, kernel), *checks]
    early = [*guards.early_return(context, kernel, assumed), *(e.text(context) for e in returns)]
    extents, body = shapes.named(context, [*checks, *early, *body])
    body = [*asked.of_type(context, kernel), *extents, *body]  # what has too few axes has no such extents
    if kernel.memory.remat == "full" and not kernel.memory.limit and chunks.has_broadcast(kernel):
        body = _rematerialised(context, parameters, body)
    body = precision.exact(body, around)
    comments = Comments(around.module)
    head_of = signature(context, kernel, parameters)
    if head_of.static or head_of.inline:
        context.needs.add("partial")
    throws = "checkify" in context.needs
    head = head_of.lines(identifier(kernel.name), around, throws)
    bare = "\n".join(render(body, 4, Comments(None), around))
    said = _docstring(kernel, context)
    lines = [*head, *said, *render(launch.told_apart(context, kernel), 4, Comments(None), around)]
    lines += launch.lines(context, kernel, bare)
    if body and isinstance(body[0], Def) and len(lines) > len(head):
        lines.append("")
    clashes.refuse_confused(kernel, parameters)
    clashes.refuse_shadowed(kernel, parameters, bare)
    lines += render(body, 4, comments, around)
    text = FunctionText(lines, context)
    text.sizes = {identifier(name): nothing for name, nothing in guards.sizes(context, kernel, assumed).items()}
    text.head = head_of
    if not throws:
        text.shared = partial(shared_work.split, identifier(kernel.name), head_of, body)
        text.in_two = lambda shared: [*_parts(shared, kernel, context, around), _composed(shared, said, around)]
    return [
        text,
        *derivative_texts(derivatives.derivatives(kernel, head_of, around.taken, context.needs), around, throws),
    ]


def _parts(shared: Shared, kernel: eq.Kernel, context: Context, around: Surroundings) -> list[FunctionText]:
    """What rounds of a loop share, and a round."""
    comments = Comments(around.module)
    texts = []
    for name, head, body, said in zip(
        shared.names, (shared.once, shared.rest), (shared.first, shared.body), shared_work.SAID, strict=True
    ):
        own = render(list(body), 4, comments, around)
        doc = docstring(said.format(name=shared.function), 4)
        texts.append(
            FunctionText([*head.lines(name, around), *doc, *launch.lines(context, kernel, "\n".join(own)), *own])
        )
    texts[0].needs, texts[0].constants, texts[0].helpers = context.needs, context.used_constants, context.used_helpers
    return texts


def _composed(shared: Shared, said: list[str], around: Surroundings) -> FunctionText:
    head = shared.whole.lines(shared.function, around)
    return FunctionText([*head, *said, *render(shared.composed(), 4, Comments(None), around)])


def derivative_texts(asked: list[derivatives.DerivativeText], around: Surroundings, throws: bool) -> list[FunctionText]:
    """The text of derivatives, each a function of its own."""
    texts = []
    for one in asked:
        below = render(precision.exact(one.body, around), 4, Comments(None), around)
        blank = [""] if isinstance(one.body[0], Def) else []
        texts.append(FunctionText([*one.head.lines(one.name, around, throws), *docstring(one.doc, 4), *blank, *below]))
    return texts


def _lowered(
    kernel: eq.Kernel, around: Surroundings, assumed: tuple[Linear, ...], eager: bool = True
) -> tuple[Context, list[Stmt], list[Stmt]]:
    """The context of a function, its checks and its statements.

    ``assumed`` are sums that are not negative; ``eager`` rebinds an array as soon as variables hold all that is needed
    of it.
    """
    kernel, widths = declared.at_head(kernel)
    parameters = {identifier(p.name) for p in kernel.params}  # type: ignore[attr-defined]
    names = Names(around.taken | parameters | {"grid", "block"} | set(checked.NAMES if around.module.checked else ()))
    context = Context(kernel, names, around.module.language, around.x64, around.module.constants)
    context.assumed = (*assumed, *guards.implied(kernel), *guards.checked_sizes(kernel))
    context.hosted = bool(around.module.hosts)
    context.whole = whole(kernel)
    context.neighbours = neighbours.pairs(kernel)
    context.whole_rows = whole_rows.rows(context)
    context.launch_rank = launch.rank_of(kernel)
    context.last_use, context.numbers = versions.last_uses(kernel)
    context.accessed = {v.array for v in context.last_use}
    values = tuple(v for v in kernel.returns if not isinstance(v, eq.Version))
    shared_by_two = dict.fromkeys(p.value for p in context.neighbours.values())
    context.count_uses(kernel.body, (*values, *shared_by_two))
    context.nonempty |= beside_places(kernel.body)
    context.reached = one_cell.reached(kernel)
    context.starts, context.into = nothing.started(kernel.body, values), summed_into.summed_into(kernel.body, values)
    for stmt in tree.statements(kernel.body):
        if isinstance(stmt, eq.Fold):
            for s in stmt.scalars:
                if s.name.startswith("$"):
                    context.hints[s.init] = s.name.strip("$").partition(".")[0] + "_first"
    for stmt in tree.statements(kernel.body):
        if isinstance(stmt, eq.Write) and not stmt.accumulate:
            context.hints.setdefault(stmt.value, stmt.after.array.split(".")[-1] + "_new")
    widened.widen(context, kernel)
    declared.convert(context, kernel)
    declared.widen(context, widths)
    low = Lowering(context)
    wanted = [(c, said) for c, said in kernel.checks if not (around.x64 and guards.asks_for_width(c))]
    checks = [_check(context, kernel, condition, said) for condition, said in wanted]

    def body_of(body: tuple[eq.Stmt, ...]) -> None:
        for at, stmt in enumerate(body):
            top = len(context.blocks) == 1
            context.following = (body[at + 1 :], kernel.returns) if top and eager else None
            match stmt:
                case eq.Write():
                    writes.write(low, stmt)
                case eq.New():
                    new_arrays.new(low, stmt)
                case eq.Fold():
                    folds.fold(low, stmt, body_of)
                case eq.Check():
                    checked.check(low, stmt)

    body_of(kernel.body)
    context.following = None
    result = records.returned(low, kernel)
    block = context.blocks[0]
    last = block.lines[-1] if block.lines else None
    spelled = flat(result)[1:-1] if isinstance(result, py.Tup) else flat(result)
    if isinstance(last, Assign) and last.target is not None and last.target == spelled:
        block.lines[-1] = Assign(None, last.value, last.mark)
    else:
        block.lines.append(Assign(None, result))
    return context, checks, _without_unused(block.lines, checks)


def _without_unused(lines: list[Stmt], checks: list[Stmt]) -> list[Stmt]:
    """The statements without values that nothing refers to: of a form that was tried, and left for another."""
    needed, out = folds.mentioned(checks), list[Stmt]()
    for line in reversed(lines):
        if isinstance(line, Assign) and (line.target or "").isidentifier() and line.target not in needed:
            continue
        needed |= folds.mentioned([line])
        out.insert(0, line)
    return out


def _rematerialised(context: Context, parameters: tuple[str, ...], body: list[Stmt]) -> list[Stmt]:
    """The statements as a function of the traced parameters that keeps nothing but these for the gradient."""
    name = context.names.fresh("forward")
    traced = tuple(p for p in parameters if p not in {identifier(s) for s in context.statics})
    run = py.Call(py.call("jax.checkpoint", Atom(name)), tuple(Atom(p) for p in traced))
    return [Def(name, traced, body), Assign(None, run)]


def _placed(checks: list[Stmt], body: list[Stmt]) -> tuple[list[Stmt], list[Stmt]]:
    """Checks go first, but after what gives a value to a name that they use."""
    first: list[Stmt] = []
    for check in checks:
        test = Raw(check.text) if isinstance(check, Raw) else check  # the words of its message are no names
        names = folds.mentioned([test])
        made = [k for k, line in enumerate(body) if isinstance(line, Assign) and line.target in names]
        if made:
            body = [*body[: made[-1] + 1], check, *body[made[-1] + 1 :]]
        else:
            first.append(check)
    return first, body


def _check(context: Context, kernel: eq.Kernel, condition: eq.Expr, message: str) -> Stmt:
    return failing(flat(_fails(context, condition)), f"{kernel.name}: {message}")


def _fails(context: Context, condition: eq.Expr) -> py.Py:
    """The test that a static condition does not hold."""
    match condition:
        case eq.Op(name="or", args=(eq.Op(name="not", args=(given,)), other)):
            return py.Bin("and", context.static(given), _fails(context, other))
        case eq.Op(name="or", args=(eq.Param(name="x64.given") as wide, other)):
            return py.Bin("and", _fails(context, other), py.Un("not", context.static(wide)))
        case eq.Op(name="lt", args=(a, eq.Const(value=2147483648))):
            return py.Bin(">=", context.static(a), Atom("2**31"))
        case eq.Op(name="eq", args=(a, eq.Const(value=0))):
            return context.static(a)
        case eq.Op(name="eq", args=(a, b)):
            return py.Bin("!=", context.static(a), context.static(b))
        case eq.Op(name="le", args=(a, b)):
            return py.Bin(">", context.static(a), context.static(b))
        case eq.Op(name="ge", args=(a, b)):
            return py.Bin("<", context.static(a), context.static(b))
    return py.Un("not", context.static(condition))


def _docstring(kernel: eq.Kernel, context: Context) -> list[str]:
    parts = [p for p in (kernel.doc.strip(), "\n".join(kernel.equations)) if p]
    kept = (remat.note(kernel.memory.remat),) if context.needs & set(remat.HELPERS) else ()
    finite = (f"{', '.join(context.finite)} must be finite everywhere",) if context.finite else ()
    notes = "\n".join((*kernel.assumptions, *finite, *kernel.notes, *kept))
    if "eqxi" in context.needs:
        notes += ("\n" if notes else "") + CHECKPOINTED
    text = "\n\n".join([*parts, notes] if notes else parts)
    return docstring(text, 4)


def docstring(text: str, indent: int) -> list[str]:
    """A docstring's lines; nothing in ``text`` can end it."""
    if not text.strip():
        return []
    clean = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    clean = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in clean)
    pad = " " * indent
    lines = [line.rstrip() for line in clean.strip().split("\n")]
    if lines[-1].endswith('"'):
        lines[-1] = lines[-1][:-1] + '\\"'
    if len(lines) > 1 and all(line.startswith(" ") for line in lines[1:] if line):
        lines.insert(0, "")  # the formatter would move the rest to the left
    lines[0] = f'{pad}"""{lines[0]}'
    lines[1:] = [pad + line if line else "" for line in lines[1:]]
    if len(lines) == 1:
        return [lines[0] + '"""']
    return [*lines, pad + '"""']


def emit_helper(helper: eq.Helper, around: Surroundings) -> FunctionText:
    """A scalar helper as a function that is applied lane by lane."""
    module, x64, taken = around.module, around.x64, around.taken
    parameters = tuple(identifier(p.name) for p in helper.params)
    names = Names(taken | set(parameters))
    kernel = eq.Kernel(helper.name, (), (), helper.body, (), doc=helper.doc)
    context = Context(kernel, names, module.language, x64)
    context.count_uses((), helper.body)
    low = Lowering(context)
    items = [low.lower(b, ()).py for b in helper.body]
    block = context.blocks[0]
    block.lines.append(Assign(None, items[0] if len(items) == 1 else py.Tup(tuple(items))))
    lines = layout_text.definition(identifier(helper.name), parameters, 0).split("\n")
    lines += docstring(helper.doc, 4)
    lines += render(block.lines, 4, Comments(None), around)
    return FunctionText(lines, context)


__all__ = ["TEXT_USES", "FunctionText", "Surroundings", "emit_function", "emit_helper"]
