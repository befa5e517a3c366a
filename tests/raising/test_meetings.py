"""Barriers of the whole grid order what blocks do; blocks of the size that the source counts on."""

import pytest

from tests.raising.test_warps import raised, refusal, sums

RELAX = """
    for (int r = 0; r < n; ++r) {{
        if (i > 0 && i < m - 1) y[i] = x[i - 1] + x[i + 1];
        {first}
        if (i > 0 && i < m - 1) x[i] = y[i];
        {second}
    }}
"""
GRID = {"first": "cooperative_groups::this_grid().sync();", "second": "cooperative_groups::this_grid().sync();"}
PARAMETERS = "float *x, float *y, int n, int m"


def test_blocks_that_meet_may_read_what_others_wrote():
    raised(RELAX.format(**GRID), parameters=PARAMETERS)


@pytest.mark.parametrize("place", ["first", "second"])
@pytest.mark.parametrize("instead", ["", "__syncthreads();"])
def test_a_meeting_of_one_block_orders_nothing_between_blocks(place, instead):
    assert "KR201" in refusal(RELAX.format(**GRID | {place: instead}), parameters=PARAMETERS)


def test_a_meeting_of_the_grid_under_a_condition_of_the_block_is_refused():
    body = "if (blockIdx.x < 2) cooperative_groups::this_grid().sync();\nif (i < n) y[i] = x[i];"
    assert refusal(body) == {"KR206"}


ROWS = """
    float s = 0.0f;
    for (int c = threadIdx.x; c < n; c += {step}) s += x[blockIdx.x * n + c];
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x == 0) y[blockIdx.x] = s;
"""


TURNED = "if ({}) return; y[i] = 2 * x[i]; cooperative_groups::this_grid().sync(); x[i] = y[n - 1 - i];"


def test_threads_beyond_the_last_element_are_none_of_a_launch_that_meets():
    raised(TURNED.format("i >= n"), parameters=PARAMETERS)
    for guard in ("i < 1 || i >= n", "i >= n || x[i] > 0", "i < n"):
        assert refusal(TURNED.format(guard), parameters=PARAMETERS) == {"KR206"}


def test_lanes_that_step_by_their_number_count_on_blocks_of_that_number():
    kernel = raised(ROWS.format(step=32))
    assert any("32 threads" in text for _, text in kernel.checks)


def test_other_steps_overlap_and_are_refused():
    assert refusal(ROWS.format(step=16))


PLANE = """
    extern __shared__ float s[];
    int me = threadIdx.y * blockDim.x + threadIdx.x;
    s[me] = x[(blockIdx.x * blockDim.y + threadIdx.y) * n + {column}];
    {barrier}
    for (int h = blockDim.x * blockDim.y / 2; h > 0; h /= 2) {{ if (me < h) s[me] += s[me + h]; __syncthreads(); }}
    if (me {first} 0) y[blockIdx.x] = {stored};
"""
SOUND = {"column": "threadIdx.x", "barrier": "__syncthreads();", "first": "==", "stored": "s[0]"}


def test_a_block_of_two_axes_is_summed_over_both():
    kernel = raised(PLANE.format(**SOUND))
    (write,) = (s for s in kernel.body if hasattr(s, "value"))
    assert len(write.value.axes) == 2


@pytest.mark.parametrize("first", [">=", "!="])
def test_threads_that_store_one_value_do_not_race(first):
    """A block of one thread has none but the first."""
    kernel = raised(PLANE.format(**SOUND | {"first": first}))
    (write,) = (s for s in kernel.body if hasattr(s, "value"))
    assert (write.where is None) == (first == ">=")


RACY = [{"barrier": ""}, *({"first": first, "stored": "s[0] + me"} for first in (">=", "!="))]


@pytest.mark.parametrize("change", RACY)
def test_its_racy_twins_are_refused(change):
    assert refusal(PLANE.format(**SOUND | change))


TILES = """
    __shared__ float s[8][8];
    int c = threadIdx.x, r = threadIdx.y;
    s[r][c] = x[blockIdx.x * 64 + r * 8 + c];
    __syncthreads();
    for (int h = 4; h > 0; h /= 2) {{ if (r < h) s[r][c] += s[r + h][c]; __syncthreads(); }}
    for (int h = 4; h > 0; h /= 2) {{ if ({row}c < h) s[{at}][c] += s[{at}][c + h]; {barrier} }}
    if (r == 0 && c == 0) y[blockIdx.x] = s[0][0];
"""
ROW = {"row": "r == 0 && ", "at": "0", "barrier": "__syncthreads();"}


@pytest.mark.parametrize("change", [{}, {"at": "r"}])
def test_columns_first_then_one_row(change):
    kernel = raised(TILES.format(**ROW | change))
    assert not [s for s in kernel.body if hasattr(s, "body")]


@pytest.mark.parametrize("change", [{"barrier": ""}, {"row": ""}])
def test_a_row_that_all_rows_of_threads_sum_is_a_race(change):
    assert refusal(TILES.format(**ROW | change))


SCAN = """
    __shared__ float total[32];
    int w = threadIdx.x / 32;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 1; d < 32; d *= 2) {{ float u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }}
    if (lane == 31) total[w] = v;
    {first}
    if (w == 0) {{
        float t = lane < blockDim.x / 32 ? total[lane] : 0.0f;
        for (int d = 1; d < 32; d *= 2) {{ float u = __shfl_up_sync(~0u, t, d); if (lane >= d) t += u; }}
        total[lane] = t;
    }}
    {second}
    if (w > 0) v += total[w - 1];
    if (i < n) y[i] = v;
"""
TWICE = {"first": "__syncthreads();", "second": "__syncthreads();"}


def test_a_scan_of_warps_and_of_their_totals_is_one_scan_of_the_block():
    kernel = raised(SCAN.format(**TWICE))
    (write,) = kernel.body
    assert sums(kernel) == ["add"] and not any("warp" in a.name for a in write.axes)


@pytest.mark.parametrize("change", [{"first": ""}, {"second": ""}, {"second": "__syncwarp();"}])
@pytest.mark.long_cases("change1", "change2")
def test_its_twins_without_a_barrier_are_refused(change):
    assert refusal(SCAN.format(**TWICE | change))


GROUP = """
    extern __shared__ float s[];
    cooperative_groups::{kind} g = cooperative_groups::this_thread_block();
    float v = i < n ? x[i] : 0.0f;
    for (int h = g.size() / 2; h > 0; h /= 2) {{
        s[g.thread_rank()] = v;
        {first}
        if (g.thread_rank() < h) v += s[g.thread_rank() + h];
        g.sync();
    }}
    if (g.thread_rank() == 0) atomicAdd(y, v);
"""


@pytest.mark.parametrize("kind", ["thread_group", "thread_block"])
def test_groups_by_their_general_name(kind):
    assert sums(raised(GROUP.format(kind=kind, first="g.sync();"))) == ["add"]
    assert refusal(GROUP.format(kind=kind, first=""))
