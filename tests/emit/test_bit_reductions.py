"""Exclusive and inclusive or, and, of bits: as reductions of a ufunc, from rows, warps and blocks."""

# ruff: noqa: E501 (kernels on one line)

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void f(const {t} *x, {t} *y, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
WARP = "{t} v = i < n ? x[i] : {none}; for (int o = 16; o > 0; o >>= 1) v {op}= __shfl_xor_sync(~0u, v, o); if (i < n) y[i] = v;"
BLOCK = (
    "__shared__ {t} s[32]; int t = threadIdx.x; s[t] = i < n ? x[i] : {none}; __syncthreads(); "
    "for (int o = 16; o > 0; o >>= 1) {{ if (t < o) s[t] {op}= s[t + o]; __syncthreads(); }} if (t == 0) y[blockIdx.x] = s[0];"
)
ROW = "if (i < n) {{ {t} a = 5; for (int k = 0; k < 3; k++) if (x[3 * i + k] > 3) a {op}= x[3 * i + k]; y[i] = a; }}"
CASES = {
    "xor of a warp": (WARP, "^", "int", "0", "bitwise_xor.reduce"),
    "or of a block": (BLOCK, "|", "unsigned", "0", "bitwise_or.reduce"),
    "and of a block, unsigned": (BLOCK, "&", "unsigned", "~0u", "bitwise_and.reduce"),
    "and of those in a row that count, unsigned": (ROW, "&", "unsigned", "", "bitwise_and.reduce"),
    "xor of those in a row that count": (ROW, "^", "unsigned short", "", "bitwise_xor.reduce"),
}


def translated(body, op, t, none):
    done = pipeline.translate(HEAD.format(t=t, body=body.format(t=t, op=op, none=none)), "k.cu")
    assert done.text is not None, done.diagnostics
    return done


@pytest.mark.parametrize("name", CASES)
def test_bits_are_reduced(name):
    body, op, t, none, form = CASES[name]
    done = translated(body, op, t, none)
    assert f"jnp.{form}(" in done.text and "lax." not in done.text
    agrees(done, pipeline.Request(shapes={"x": (120,), "y": (40,)}, values={"n": 40}, grid=(2,), block=(32,)), name)


def test_what_shifts_between_is_none():
    """``a = (a << 1) ^ x[k]``, a checksum: each round needs the one before."""
    done = translated(ROW.replace("a {op}= x[3 * i + k]", "a = (a << 1) ^ x[3 * i + k]"), "^", "unsigned", "")
    assert "bitwise_xor.reduce" not in done.text
    agrees(done, pipeline.Request(shapes={"x": (120,), "y": (40,)}, values={"n": 40}, grid=(2,), block=(32,)))


ATOMIC = (
    "__shared__ unsigned s; if (threadIdx.x == 0) s = 0; __syncthreads(); if (i < n) atomic{op}(&s, x[i]); __syncthreads(); "
    "if (threadIdx.x == 0) y[blockIdx.x] = s;"
)
SCAN = "unsigned v = i < n ? x[i] : 0; for (int d = 1; d < 32; d <<= 1) { unsigned u = __shfl_up_sync(~0u, v, d); if (threadIdx.x % 32 >= d) v ^= u; } if (i < n) y[i] = v;"
ONE = "unsigned v = __reduce_{op}_sync(~0u, i < n ? x[i] : 0); if (threadIdx.x % 32 == 0 && i < n) y[i / 32] = v;"
WHOLE = {
    "a block's cell": (ATOMIC.replace("{op}", "Xor"), "bitwise_xor.reduce"),
    "a scan of a warp": (SCAN, "associative_scan(jnp.bitwise_xor"),
    "one instruction": (ONE.replace("{op}", "or"), "bitwise_or.reduce"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_bits_of_all(name):
    body, form = WHOLE[name]
    done = translated(body.replace("{", "{{").replace("}", "}}"), "", "unsigned", "")
    assert form in done.text and "planes" not in done.text
    agrees(done, pipeline.Request(shapes={"x": (120,), "y": (40,)}, values={"n": 40}, grid=(2,), block=(32,)), name)
