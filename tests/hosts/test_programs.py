"""Programs of several files: one call with ``--entry`` reads them as one."""

import os
from pathlib import Path

import numpy as np
import pytest

from kraise.cli.inputs import collect
from kraise.cli.programs import elsewhere, programs
from kraise.cli.run import translate_one
from kraise.options import Options
from kraise.verify.load import load_module

FILES = {
    "heat.h": "#pragma once\n#define TPB 64\nvoid heat_steps(float *u, float *v, float r, int n, int steps);\n"
    "__global__ void scale(float *u, float a, int n);\n",
    "heat.cu": '#include "heat.h"\n'
    "__global__ void step(const float *u, float *v, float r, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i > 0 && i < n - 1) v[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1]);\n}\n"
    "__global__ void scale(float *u, float a, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) u[i] *= a;\n}\n"
    "void heat_steps(float *u, float *v, float r, int n, int steps) {\n"
    "    for (int s = 0; s < steps; s++) {\n"
    "        step<<<(n + TPB - 1) / TPB, TPB>>>(u, v, r, n);\n"
    "        step<<<(n + TPB - 1) / TPB, TPB>>>(v, u, r, n);\n    }\n}\n",
    "main.cu": '#include <stdlib.h>\n#include "heat.h"\n'
    "int main(int argc, char **argv) {\n"
    "    int n = argc > 1 ? atoi(argv[1]) : 20;\n"
    "    float *h = (float *)calloc(n, sizeof(float)), *u, *v;\n    h[n / 2] = 1.0f;\n"
    "    cudaMalloc(&u, n * sizeof(float)); cudaMalloc(&v, n * sizeof(float));\n"
    "    cudaMemcpy(u, h, n * sizeof(float), cudaMemcpyHostToDevice);\n"
    "    cudaMemcpy(v, h, n * sizeof(float), cudaMemcpyHostToDevice);\n"
    "    heat_steps(u, v, 0.25f, n, 3);\n    scale<<<(n + TPB - 1) / TPB, TPB>>>(u, 2.0f, n);\n"
    "    cudaMemcpy(h, u, n * sizeof(float), cudaMemcpyDeviceToHost);\n    free(h);\n    return 0;\n}\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("given", [("main.cu", "heat.cu"), ("heat.cu", "main.cu"), (".",)])
def test_a_program_of_two_files_is_one_module(folder, given):
    inputs, findings = collect(given)
    (one,) = programs(inputs, ("main",))
    done = translate_one(one, Options(only=("main",)))
    assert not findings and os.path.basename(one.path) == "main.cu"
    assert {"main", "heat_steps", "step", "scale"} <= set(done.raised), done.findings
    assert str(folder) not in done.text  # the same bytes wherever it lies
    u = np.zeros(20, np.float64)
    u[10] = 1.0
    for _ in range(6):
        u[1:-1] += 0.25 * (u[:-2] - 2 * u[1:-1] + u[2:])
    np.testing.assert_allclose(load_module(done.text).main(), 2 * u, rtol=1e-5)


def test_without_an_entry_each_file_is_its_own(folder):
    inputs, _ = collect(("main.cu", "heat.cu"))
    assert programs(inputs, ()) == inputs
    assert programs(inputs, ("scale",)) == inputs  # a kernel: declared in one file, defined in the other


def test_two_programs_are_not_one(folder):
    Path("other.cu").write_text("int main() { return 0; }\n")
    inputs, _ = collect(("main.cu", "heat.cu", "other.cu"))
    assert programs(inputs, ("main",)) == inputs


def test_a_main_alone_says_what_to_give(folder):
    done = translate_one(collect(("main.cu",))[0][0], Options(only=("main",)))
    assert "main" not in done.raised
    assert any(d.code == "KR213" and "heat_steps" in d.reason and "--entry" in (d.hint or "") for d in done.findings)
    assert elsewhere("main.cu", "main").endswith("kraise translate main.cu heat.cu --entry main")
