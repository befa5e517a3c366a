"""The interpreter against an independent meaning: the samples' own Python in numba's CUDA simulator."""

import os
import subprocess
import sys
from pathlib import Path


def test_samples_mean_what_their_python_does():
    program = [sys.executable, str(Path(__file__).with_name("simulator.py"))]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_header_that_is_not_here_is_empty(tmp_path):
    from kraise import pipeline

    source = '#include <cublas_v2.h>\n#include "lib/none.h"\n__global__ void f(float *x, int n) {\n'
    source += "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] += 1;\n}\n"
    done = pipeline.translate(source, str(tmp_path / "k.cu"))
    request = pipeline.Request(original=True, gradients=False)
    (report,), _ = pipeline.verify(done, request, str(tmp_path / "k.cu"), source)
    assert report.ok and any(row.check == "original" and row.status == "ok" for row in report.rows)


NUMBA = """
from numba import cuda
@cuda.jit
def f(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1
"""


def test_a_kernel_of_numba_runs_on_the_gpu_or_else_in_the_simulator(monkeypatch):
    """The first process is told to compile; where numba finds no GPU after all, a second one simulates."""
    from kraise import pipeline
    from kraise.verify import original

    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setattr(original, "has_gpu", lambda: True)
    asked = []
    run = original._in_process
    monkeypatch.setattr(original, "_in_process", lambda f, p, job: asked.append(job["simulated"]) or run(f, p, job))
    request = pipeline.Request(original=True, gradients=False)
    (report,), _ = pipeline.verify(pipeline.translate(NUMBA, "k.py"), request, "k.py", NUMBA)
    assert any(row.check == "original" and row.status == "ok" for row in report.rows)
    assert asked in ([False], [False, True])  # this machine may have a GPU
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    asked.clear()
    pipeline.verify(pipeline.translate(NUMBA, "k.py"), request, "k.py", NUMBA)
    assert asked == [True]
