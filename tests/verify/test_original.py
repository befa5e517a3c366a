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
