"""Shared and local arrays, barriers, blocks as axes: what staging leaves, and the twins that are races."""

import textwrap

import pytest

from kraise.diagnostics import Refused
from kraise.frontends import python
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.walk import statement_expressions, topological
from kraise.options import Options
from kraise.raising import raise_function


def raised(body, parameters="x, y, n", constants="T = 8"):
    """The equations of a kernel with this body."""
    head = f"from numba import cuda, float32\n{constants}\n\n@cuda.jit\ndef kernel({parameters}):\n"
    module, found = python.read(head + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n", "kernel.py")
    assert not found, [d.reason for d in found]
    return raise_function(module, module.function("kernel"), Options())


def refusal(body, parameters="x, y, n"):
    """The codes with which a kernel is refused."""
    with pytest.raises(Refused) as refused:
        raised(body, parameters)
    return {d.code for d in refused.value.diagnostics}


def nodes(kernel, kind):
    return [n for s in kernel.body for n in topological(statement_expressions(s)) if isinstance(n, kind)]


def arrays(kernel):
    return {n.version.array for n in nodes(kernel, eq.Read)}


def launch_parameters(kernel):
    return {n.name for n in nodes(kernel, eq.Param) if n.name.split(".")[0] in ("grid", "block", "threads")}


MIRROR = """
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    s[t] = x[i]
    {barrier}
    y[i] = s[cuda.blockDim.x - 1 - t]
"""

TILES = """
    s = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    acc = 0.0
    for tile in range((n + T - 1) // T):
        j = tile * T + t
        s[t] = x[j] if j < n else 0.0
        {first}
        for k in range(T):
            acc += s[k]
        {second}
    if i < n:
        y[i] = acc
"""

TREE = """
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    w = cuda.blockDim.x // 2
    while w > 0:
        if t < {bound}:
            s[t] {op}= s[t + w]
        {barrier}
        w //= 2
    if t == {cell}:
        {end}
"""

SYNC = "cuda.syncthreads()"
TREES = {"bound": "w", "op": "+", "barrier": SYNC, "cell": 0, "end": "cuda.atomic.add(y, 0, s[0])"}


def test_block_is_an_axis_where_it_matters():
    kernel = raised(MIRROR.format(barrier=SYNC))
    assert arrays(kernel) == {"x"} and kernel.launch == "required"
    assert launch_parameters(kernel) == {"grid.x", "block.x"}


def test_missing_barrier_is_a_race():
    assert refusal(MIRROR.format(barrier="")) == {"KR201"}


def test_tiles_are_the_whole_range():
    kernel = raised(TILES.format(first=SYNC, second=SYNC))
    (total,) = nodes(kernel, eq.Reduce)
    assert len(total.axes) == 1 and total.where is None and not launch_parameters(kernel)
    assert isinstance(total.axes[0].hi, eq.Param) and total.axes[0].hi.name == "n"


@pytest.mark.parametrize("left", ["first", "second"])
def test_tiles_need_both_barriers(left):
    barriers = {"first": SYNC, "second": SYNC} | {left: ""}
    assert refusal(TILES.format(**barriers)) == {"KR201"}


def test_tree_is_a_reduction():
    kernel = raised(TREE.format(**TREES))
    (write,) = kernel.body
    assert isinstance(write, eq.Write) and write.accumulate == "add" and not launch_parameters(kernel)
    axes = [*write.axes, *(a for r in nodes(kernel, eq.Reduce) for a in r.axes)]
    assert [a.hi.name for a in axes] == ["n"]
    assert any("power of two" in a for a in kernel.assumptions)


def test_tree_block_by_block_checks_its_size():
    kernel = raised(TREE.format(**TREES | {"end": "y[cuda.blockIdx.x] = s[0]"}))
    assert kernel.launch == "required" and len(kernel.checks) == 1 and "power of two" in kernel.checks[0][1]


@pytest.mark.parametrize(
    "change",
    [
        {"barrier": ""},  # the rounds race
        {"bound": "w + 1"},  # a thread reads what its neighbour writes
        {"cell": 1, "end": "cuda.atomic.add(y, 0, s[1])"},  # half-combined
    ],
)
def test_tree_twins_are_refused(change):
    refusal(TREE.format(**TREES | change))


def test_a_tree_that_is_no_sum_stays_a_loop_of_steps():
    (loop,) = (s for s in raised(TREE.format(**TREES | {"op": "-"})).body if isinstance(s, eq.Fold))
    assert loop.axis is not None and len(loop.arrays) == 1


def test_divergent_barrier():
    body = """
        s = cuda.shared.array(64, float32)
        i = cuda.grid(1)
        if i < n - 1:
            s[cuda.threadIdx.x] = x[i]
            cuda.syncthreads()
            y[i] = s[0]
    """
    assert refusal(body) == {"KR206"}
    assert refusal(body.replace("i < n - 1", "x[i] < n")) == {"KR206"}
    whole = raised(body.replace("i < n - 1", "i < n"))  # n of whole blocks, or no thread count is right
    assert "n must be a multiple of 64" in {text for _, text in whole.checks}


def test_uniform_condition_around_a_barrier():
    body = """
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        if n > 3:
            s[t] = x[t]
            cuda.syncthreads()
            y[t] = s[cuda.blockDim.x - 1 - t]
    """
    assert arrays(raised(body)) == {"x"}


def test_value_of_an_earlier_round_stays_a_carried_array():
    body = """
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        for k in range(n):
            v = s[cuda.blockDim.x - 1 - t]
            cuda.syncthreads()
            s[t] = v * 0.5 + x[t]
            cuda.syncthreads()
        y[t] = s[t]
    """
    kernel = raised(body)
    assert "s" in arrays(kernel) and any(isinstance(s, eq.Fold) for s in kernel.body)


def test_local_array_is_its_values():
    body = """
        i = cuda.grid(1)
        t = cuda.local.array(2, float32)
        if i < n:
            t[0] = x[i]
            t[1] = t[0] * 2.0
            y[i] = t[1] + t[0]
    """
    kernel = raised(body)
    assert arrays(kernel) == {"x"} and not any(isinstance(s, eq.New) for s in kernel.body)


def test_partly_filled_array_keeps_what_was_there():
    body = """
        s = cuda.shared.array(T, float32)
        t = cuda.threadIdx.x
        s[t] = 1.0
        cuda.syncthreads()
        if t < 3:
            s[t] = x[t]
        cuda.syncthreads()
        y[t] = s[T - 1 - t]
    """
    kernel = raised(body)
    (choice,) = [n for n in nodes(kernel, eq.Op) if n.name == "select"]
    assert {type(a) for a in choice.args[1:]} == {eq.Read, eq.Const}


SCAN = """
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    w = 1
    while w < cuda.blockDim.x:
        v = 0.0
        if t >= w:
            v = s[t - w]
        {between}
        s[t] += v
        {after}
        w *= 2
    if i < n:
        y[i] = s[t]
"""


def test_running_sums_of_a_block():
    kernel = raised(SCAN.format(between=SYNC, after=SYNC))
    assert len(nodes(kernel, eq.Scan)) == 1 and arrays(kernel) == {"x"}


@pytest.mark.parametrize("left", ["between", "after"])
def test_running_sums_need_both_barriers(left):
    barriers = {"between": SYNC, "after": SYNC} | {left: ""}
    assert refusal(SCAN.format(**barriers)) == {"KR201"}


STRIDES = """
    r = cuda.blockIdx.x
    t = cuda.threadIdx.x
    for c in range(t, x.shape[1], cuda.blockDim.x):
        y[r, c] = x[r, c] + 1.0
    for c in range({start}, x.shape[1], cuda.blockDim.x):
        y[r, c] = y[r, c] * y[r, c]
"""


def test_a_thread_meets_itself_across_strided_loops():
    kernel = raised(STRIDES.format(start="t"), "x, y")
    assert arrays(kernel) == {"x"} and "block.x" not in launch_parameters(kernel)


def test_another_thread_is_met_across_strided_loops():
    assert refusal(STRIDES.format(start="t + 1"), "x, y") <= {"KR201", "KR205"}


def test_register_beside_its_cell():
    body = TREE.format(**TREES | {"end": "y[cuda.blockIdx.x] = v"})
    body = body.replace("s[t] = x[i] if i < n else 0.0", "v = x[i] if i < n else 0.0\n    s[t] = v")
    kernel = raised(body.replace("s[t] += s[t + w]", "v = v + s[t + w]\n            s[t] = v"))
    assert arrays(kernel) == {"x"} and nodes(kernel, eq.Reduce)


def test_sixteen_cells_mean_sixteen_threads():
    body = TREE.format(**TREES).replace("cuda.blockDim.x // 2", "8")
    kernel = raised(body)
    assert "a block has 16 threads along x" in kernel.assumptions


COUNTS = """
    s = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    if t < T:
        s[t] = {fill}
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(s, x[i], 1.0)
    cuda.syncthreads()
    if t < {bound}:
        cuda.atomic.add(y, t, s[t])
"""


def test_counts_of_each_block_are_one_count():
    kernel = raised(COUNTS.format(fill="0.0", bound="T"))
    (write,) = kernel.body
    assert isinstance(write, eq.Write) and write.accumulate == "add" and not launch_parameters(kernel)


def test_counts_that_are_not_just_passed_on():
    assert "s" in arrays(raised(COUNTS.format(fill="1.0", bound="T")))


def test_counts_of_which_some_cells_are_passed_on():
    (write,) = raised(COUNTS.format(fill="0.0", bound="3")).body
    assert isinstance(write, eq.Write) and write.where is not None and "< 3" in render_expr(write.where)


def test_a_count_of_threads_counts_them_all():
    body = """
        s = cuda.shared.array(1, float32)
        t = cuda.threadIdx.x
        if t == 0:
            s[0] = 0.0
        cuda.syncthreads()
        cuda.atomic.add(s, 0, 1.0)
        cuda.syncthreads()
        y[t] = s[0]
    """
    assert "s" in arrays(raised(body))
