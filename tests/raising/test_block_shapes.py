"""Threads of a block of several axes that are numbered through."""

import pytest

from tests.hostile.judge import judge

KERNEL = """__global__ void k(const int *x, int *y, int n) {{
  int t = threadIdx.x + {row} * threadIdx.y, i = blockIdx.x * {block} + t;
  if (i < n) {body}
}}"""
BODIES = {
    "stores": "y[i] = x[i] * (threadIdx.y + 1);",
    "the largest": "atomicMax(y, x[i] * (threadIdx.y + 1));",
    "sums": "atomicAdd(y, x[i]);",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_block_is_as_wide_as_its_rows(body):
    """It had ``block`` threads along x: each element was visited by threads of several rows."""
    source = KERNEL.format(row=4, block=12, body=BODIES[body])
    assert judge(source, "cu", "x=i[30]<-9:9 y=i[30] n=30", [((3,), (4, 3))]) == "right"


def test_numbers_that_are_no_digits_tell_no_size():
    source = KERNEL.format(row=4, block=10, body=BODIES["sums"])
    assert judge(source, "cu", "x=i[30]<-9:9 y=i[30] n=30", [((3,), (4, 3)), ((3,), (2, 5))]) == "right"


@pytest.mark.parametrize("further", ["8", "blockDim.x"])
def test_elements_are_shared_out(further):
    """Blocks of sixteen threads would add most elements twice."""
    first = f"if (i < n) atomicAdd(y, x[i]); if (i + {further} < n) atomicAdd(y, x[i + {further}]);"
    source = f"__global__ void k(const int *x, int *y, int n) {{ int i = blockIdx.x * 16 + threadIdx.x; {first} }}"
    assert judge(source, "cu", "x=i[40]<-9:9 y=i[1] n=40", [((3,), (8,))]) == "right"


def test_cells_that_are_stored_are_shared_out():
    body = "int i = blockIdx.x * 16 + threadIdx.x; if (i < n) y[i] = 2 * x[i]; if (i + 8 < n) y[i + 8] = x[i + 8] - i;"
    source = f"__global__ void k(const int *x, int *y, int n) {{ {body} }}"
    assert judge(source, "cu", "x=i[40]<-9:9 y=i[40] n=40", [((3,), (8,))]) == "right"


def test_a_neighbour_that_is_loaded_shares_nothing_out():
    body = "int i = blockIdx.x * 8 + threadIdx.x; if (i < n) y[i] = x[i] - x[i + 4];"
    source = f"__global__ void k(const int *x, int *y, int n) {{ {body} }}"
    assert judge(source, "cu", "x=i[44]<-9:9 y=i[40] n=40", [((5,), (8,))]) == "right"
