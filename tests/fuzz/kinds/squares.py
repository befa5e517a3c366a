"""Blocks of two axes: tiles of rows and columns, transposes, products by tiles, trees along an axis, halos."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("squares", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    high, wide = w.pick((4, 4), (2, 4), (4, 2), (3, 4), (2, 2), (4, 8))
    w.dims = ["n", "m"]
    w.float_scalars, w.int_scalars = (["alpha"] if w.chance(0.3) else []), []
    w.inputs()
    w.spelled = {"n": "n", "m": "m"}
    at = w.pick("cuda.blockDim.{c}", "{size}", "{size}")
    lines = ["tx = cuda.threadIdx.x", "ty = cuda.threadIdx.y"]
    lines += [f"col = cuda.blockIdx.x * {at.format(c='x', size=wide)} + tx"]
    lines += [f"row = cuda.blockIdx.y * {at.format(c='y', size=high)} + ty"]
    way = w.rng.random()
    if way < 0.2 and high == wide:
        more = _transpose(w, high, real)
    elif way < 0.4 and high == wide:
        more = _product(w, high, real)
    elif way < 0.55:
        more = _halo(w, high, wide, real)
    else:
        more = _phases(w, high, wide, real)
    return writing.finished(w, [*lines, *more], ("m", "n"), (wide, high))


def _loaded(w: Writer, scope: Scope, cell: str, inside: str) -> list[str]:
    value = w.float(scope, 1)
    if w.chance(0.5):
        return [f"{cell} = {w.wrapped(value)} if {inside} else {w.pick('0.0', '0.0', '1.0')}"]
    return [f"if {inside}:", f"    {cell} = {value}", "else:", f"    {cell} = 0.0"]


def _phases(w: Writer, high: int, wide: int, real: str) -> list[str]:
    scope = Scope([Index("row", "n"), Index("col", "m")])
    pad = w.pick(0, 0, 1)
    lines = [f"tile = cuda.shared.array(({high}, {wide + pad}), {real})"]
    lines += [*_loaded(w, scope, "tile[ty, tx]", "row < n and col < m"), *w.barrier()]
    known = Scope()
    for _ in range(w.pick(1, 1, 2, 2, 3)):
        name, at = w.fresh("f", known), w.fresh("x", known)
        match w.rng.randrange(7):
            case 0:
                lines += [f"{name} = tile[{_place(w, 'ty', high)}, {_place(w, 'tx', wide)}]"]
            case 1:
                step = w.pick("{0} += {1}", "{0} = max({0}, {1})", "{0} += {1} * {1}", "{0} = 0.5 * {0} + {1}")
                along = w.pick(
                    (str(wide), f"tile[ty, {at}]"), (str(high), f"tile[{at}, tx]"), ("tx + 1", f"tile[ty, {at}]"),
                    ("ty", f"tile[{at}, tx]"),
                )  # fmt: skip
                lines += [f"{name} = 0.0", f"for {at} in range({along[0]}):", "    " + step.format(name, along[1])]
            case 2:
                lines += [f"{name} = tile[{_place(w, 'ty', high)}, {_place(w, 'tx', wide)}]", *w.barrier()]
                store = [
                    f"tile[ty, tx] = {w.pick(f'0.5 * {name}', f'{name} + tile[ty, tx]', f'{name} * {name} - 0.5')}"
                ]
                if w.chance(0.3):
                    test = w.pick("tx > 0", "ty > 0", "tx == ty", "(tx + ty) % 2 == 0", f"{name} > 0.0", "tx < ty")
                    store = [f"if {test}:", *indented(store)]
                lines += [*store, *w.barrier()]
            case 3:  # a tree along an axis
                axis, other, size = w.pick(("tx", "ty", wide), ("ty", "tx", high))
                if size & size - 1:
                    continue
                far = "tile[ty, tx + reach]" if axis == "tx" else "tile[ty + reach, tx]"
                join = w.pick(f"tile[ty, tx] += {far}", f"tile[ty, tx] = max(tile[ty, tx], {far})")
                inner = [f"if {axis} < reach:", f"    {join}", *w.barrier(), "reach //= 2"]
                lines += [f"reach = {size // 2}", "while reach > 0:", *indented(inner)]
                lines += [f"{name} = tile[{'ty, 0' if axis == 'tx' else '0, tx'}]", *w.barrier()]
            case 4:  # one row or column of threads works
                who, count, cell = w.pick(
                    ("ty == 0", high, "tile[{0}, tx]"), ("tx == 0", wide, "tile[ty, {0}]"),
                    (f"tx == {wide - 1}", wide, "tile[ty, {0}]"),
                )  # fmt: skip
                body = [f"{cell.format(at)} += {cell.format(at + ' - 1')}"]
                lines += [f"if {who}:", f"    for {at} in range(1, {count}):", *indented(indented(body)), *w.barrier()]
                lines += [f"{name} = tile[ty, tx]"]
            case 5:  # the threads by one number
                lines += [f"{at} = ty * {wide} + tx"]
                cell = f"tile[{at} // {wide}, ({at} + 1) % {wide}]"
                lines += [f"{name} = {w.pick(cell, f'tile[({at} + 1) % {high * wide} // {wide}, tx]')}"]
                known.frozen.add(at)
            case _:
                body = [f"{name} = 0.25 * (tile[ty, {_place(w, 'tx', wide)}] + tile[{_place(w, 'ty', high)}, tx])"]
                body += [*w.barrier(), f"tile[ty, tx] = {name}", *w.barrier()]
                lines += [f"for {at} in range({w.pick('2', '3')}):", *indented(body)]
        known.floats.append(name)
    return lines + _stores(w, Scope([Index("row", "n"), Index("col", "m")], floats=known.floats))


def _stores(w: Writer, scope: Scope) -> list[str]:
    for name in ("out", "res")[: w.pick(1, 1, 2)]:
        writing.output(w, name, *w.pick((("n", "m"), ("row", "col")), (("m", "n"), ("col", "row"))))
    return ["if row < n and col < m:", *indented(w.body(scope, w.pick(0, 0, 1)))]


def _place(w: Writer, lane: str, size: int) -> str:
    return w.pick(
        lane, lane, f"({lane} + 1) % {size}", f"{size - 1} - {lane}", f"min({lane} + 1, {size - 1})",
        f"max({lane} - 1, 0)", "0", f"{size - 1}", f"{lane} // 2",
    )  # fmt: skip


def _transpose(w: Writer, size: int, real: str) -> list[str]:
    scope = Scope([Index("row", "n"), Index("col", "m")])
    writing.output(w, "out", ("m", "n"), ("row2", "col2"))
    lines = [f"tile = cuda.shared.array(({size}, {size + w.pick(0, 1)}), {real})"]
    lines += ["if row < n and col < m:", f"    tile[ty, tx] = {w.float(scope, 2)}", *w.barrier()]
    lines += [f"row2 = cuda.blockIdx.x * {size} + ty", f"col2 = cuda.blockIdx.y * {size} + tx"]
    value = w.pick("tile[tx, ty]", "0.5 * tile[tx, ty] + 1.0", "tile[tx, ty] * tile[tx, ty]")
    out = "out[row2 * n + col2]" if w.c else "out[row2, col2]"
    op = w.pick("=", "=", "+=")
    return [*lines, "if row2 < m and col2 < n:", f"    {out} {op} {value}"]


def _product(w: Writer, size: int, real: str) -> list[str]:
    w.dims.append("k")
    w.spelled["k"] = "k"
    w.arrays = []
    for name, dims in (("x", ("n", "k")), ("y", ("k", "m"))):
        w.arrays.append(writing.Array(name, dims, flat=w.c))
    writing.output(w, "out", ("n", "m"), ("row", "col"))
    two = lambda name, a, b, pitch: f"{name}[({a}) * {pitch} + {b}]" if w.c else f"{name}[{a}, {b}]"  # noqa: E731
    body = [f"xs[ty, tx] = {two('x', 'row', f't * {size} + tx', 'k')} if row < n and t * {size} + tx < k else 0.0"]
    body += [f"ys[ty, tx] = {two('y', f't * {size} + ty', 'col', 'm')} if t * {size} + ty < k and col < m else 0.0"]
    term = w.pick("xs[ty, l] * ys[l, tx]", "xs[ty, l] * ys[l, tx]", "abs(xs[ty, l] - ys[l, tx])",
                  "xs[ty, l] * xs[ty, l] * ys[l, tx]", "xs[ty, l] * ys[l, tx] * 0.5")  # fmt: skip
    step = w.pick(f"acc += {term}", f"acc += {term}", f"acc = max(acc, {term})")
    body += [*w.barrier(), f"for l in range({size}):", f"    {step}", *w.barrier()]
    lines = [f"xs = cuda.shared.array(({size}, {size}), {real})", f"ys = cuda.shared.array(({size}, {size}), {real})"]
    lines += ["acc = 0.0", f"for t in range((k + {size - 1}) // {size}):", *indented(body)]
    value = w.pick("acc", "acc", f"0.5 * acc + {two('out', 'row', 'col', 'm')}", "acc if acc > 0.0 else 0.0")
    return [*lines, "if row < n and col < m:", f"    {two('out', 'row', 'col', 'm')} = {value}"]


def _halo(w: Writer, high: int, wide: int, real: str) -> list[str]:
    w.arrays = [writing.Array("x", ("n", "m"), flat=w.c)]
    writing.output(w, "out", ("n", "m"), ("row", "col"))
    cell = lambda a, b: f"x[({a}) * m + {b}]" if w.c else f"x[{a}, {b}]"  # noqa: E731
    fill = w.pick("0.0", "0.0", "1.0")
    load = lambda a, b, test: f"{cell(a, b)} if {test} else {fill}"  # noqa: E731
    lines = [f"tile = cuda.shared.array(({high + 2}, {wide + 2}), {real})"]
    lines += [f"tile[ty + 1, tx + 1] = {load('row', 'col', 'row < n and col < m')}"]
    lines += ["if tx == 0:", f"    tile[ty + 1, 0] = {load('row', 'col - 1', 'row < n and 0 < col and col - 1 < m')}"]
    lines += [
        f"if tx == {wide - 1}:",
        f"    tile[ty + 1, {wide + 1}] = {load('row', 'col + 1', 'row < n and col + 1 < m')}",
    ]
    lines += ["if ty == 0:", f"    tile[0, tx + 1] = {load('row - 1', 'col', '0 < row and row - 1 < n and col < m')}"]
    lines += [
        f"if ty == {high - 1}:",
        f"    tile[{high + 1}, tx + 1] = {load('row + 1', 'col', 'row + 1 < n and col < m')}",
    ]
    near = [
        "tile[ty, tx + 1]",
        "tile[ty + 2, tx + 1]",
        "tile[ty + 1, tx]",
        "tile[ty + 1, tx + 2]",
        "tile[ty + 1, tx + 1]",
    ]
    w.rng.shuffle(near)
    terms = near[: w.rng.randint(2, 5)]
    value = w.pick(" + ".join(terms), f"max({terms[0]}, {terms[1]})", f"0.25 * ({' + '.join(terms)}) - {terms[0]}",
                   " * ".join(terms[:2]))  # fmt: skip
    guard = w.pick("row < n and col < m", "row < n and col < m", "0 < row and row < n - 1 and 0 < col and col < m - 1")
    out = "out[row * m + col]" if w.c else "out[row, col]"
    return [*lines, *w.barrier(), f"if {guard}:", f"    {out} {w.pick('=', '=', '+=')} {value}"]
