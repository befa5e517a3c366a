"""``explain --hlo``: XLA's kernels of an emitted function, counted; launches on each other's results are one fusion."""

import subprocess
import sys

from kraise import pipeline
from kraise.verify.hlo import count

SOURCE = """
from numba import cuda

@cuda.jit
def double(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2.0 * x[i]

@cuda.jit
def square(y, z, n):
    i = cuda.grid(1)
    if i < n:
        z[i] = y[i] * y[i] + 1.0

def both(x, n):
    y = cuda.device_array_like(x)
    z = cuda.device_array_like(x)
    double[(n + 255) // 256, 256](x, y, n)
    square[(n + 255) // 256, 256](y, z, n)
    return z

def steps(x, n, rounds):
    y = cuda.device_array_like(x)
    for _ in range(rounds):
        double[(n + 255) // 256, 256](x, y, n)
        square[(n + 255) // 256, 256](y, x, n)
    return x
"""


def compiled(**asked):
    done = pipeline.translate(SOURCE, "a.py")
    found, problems = pipeline.compiled(done, pipeline.Request(**asked))
    assert not problems
    return found


def test_two_launches_are_one_fusion():
    arguments, kernels = compiled(shapes={"x": (1024,), "y": (1024,), "z": (1024,)}, values={"n": 1024})["both"]
    assert arguments == "x: float32[1024], n = 1024"
    assert kernels == "1 fusion, 0 loops"


def test_a_time_loop_is_one_loop():
    assert ", 1 loop" in compiled(shapes={"x": (64,)}, values={"n": 64, "rounds": 9})["steps"][1]


def test_sizes_that_are_left_open_are_inferred():
    assert compiled()["both"][1] == "1 fusion, 0 loops"


def test_what_a_fusion_holds_is_not_counted():
    text = """
HloModule jit_f

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %m = f32[4]{0} multiply(%p, %p)
}

%body (s: (s32[], f32[4], f32[4], f32[4], f32[4])) -> (s32[], f32[4], f32[4], f32[4], f32[4]) {
  %s = (s32[], f32[4]{0}, f32[4]{0}, f32[4]{0}, /*index=4*/f32[4]{0}) parameter(0)
  %x = f32[4]{0} get-tuple-element(%s), index=1
  %d = f32[4]{0} dot(%x, %x), lhs_contracting_dims={0}
  ROOT %t = (s32[], f32[4]{0}) tuple(%d, %d)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0)
  %f = f32[4]{0} fusion(%x.1), kind=kLoop, calls=%fused
  %w = (s32[], f32[4]{0}, f32[4]{0}, f32[4]{0}, /*index=4*/f32[4]{0}) while(%f), condition=%test, body=%body
  ROOT %g = f32[4]{0} get-tuple-element(%w), index=1
}
"""
    assert count(text) == {"fusion": 1, "while": 1, "dot": 1}


def test_the_verb(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(SOURCE)
    run = [sys.executable, "-m", "kraise", "explain", str(path)]
    shown = subprocess.run([*run, "--hlo", "--set", "n=5"], capture_output=True, text=True, check=True).stdout
    assert shown.count("compiled with ") == 4 and "1 fusion, 0 loops" in shown
    refused = subprocess.run([*run, "--set", "n=5"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--hlo" in refused.stderr
