"""Phases of neighbours that change places: n of them sort n cells; fewer, or other pairs, stay a loop."""

import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """
__global__ void f({kind} *s, int n) {{
  int t = threadIdx.x;
  for (int p = 0; p < {phases}; p++) {{
    int i = 2 * t + ((p + {first}) & 1);
    if (i + {reach} < n && s[i] {order} s[i + 1]) {{ {kind} v = s[i]; s[i] = s[i + 1]; s[i + 1] = v; }}
    __syncthreads();
  }}
}}
"""
PLAIN = {"kind": "float", "phases": "n", "first": 0, "reach": 1, "order": ">"}
CASES = {
    "as many phases as cells": ({}, (4, 5, 1), True),
    "odd pairs first": ({"first": 1, "kind": "int"}, (5, 4), True),
    "one phase less": ({"phases": "n - 1"}, (5,), False),
    "the last cell left out": ({"reach": 2}, (5,), False),
    "the greatest first": ({"order": "<"}, (5,), False),
}


@pytest.mark.parametrize("name", CASES)
def test_phases_of_neighbours(name):
    changed, sizes, taken = CASES[name]
    done = pipeline.translate(KERNEL.format(**PLAIN | changed), "k.cu")
    assert done.text and ("jnp.sort(" in done.text) == taken, done.text or done.diagnostics
    for n in sizes:
        agrees(done, pipeline.Request(shapes={"s": (6,)}, values={"n": n}, grid=(1,), block=(4,)))
