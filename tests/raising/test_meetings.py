"""Barriers of the whole grid order what blocks do; blocks of the size that the source counts on."""

import pytest

from tests.raising.test_warps import raised, refusal

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


def test_lanes_that_step_by_their_number_count_on_blocks_of_that_number():
    kernel = raised(ROWS.format(step=32))
    assert any("32 threads" in text for _, text in kernel.checks)


def test_other_steps_overlap_and_are_refused():
    assert refusal(ROWS.format(step=16))
