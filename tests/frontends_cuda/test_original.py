"""verify --original: kernels beside what the C++ compiler makes of them, and what is said where it cannot. The samples
are compared in tests/test_samples.py."""

import shutil

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify import compilers, original
from kraise.verify.cases import load_case
from tests.corpus import SAMPLES

needs_compiler = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler")


def rows_of(source, file, *, case, text=None):
    done = pipeline.translate(source, file)
    if text is not None:
        done = pipeline.Translation(text(done.text), done.raised, done.diagnostics, done.module, done.source)
    request = pipeline.Request(case=str(case), gradients=False, original=True)
    reports, problems = pipeline.verify(done, request, file, source)
    assert not problems
    return [row for report in reports for row in report.rows if row.check == "original"]


CASE = """
[kernel.twice.args]
x = { shape = [5], dtype = "float32", range = [-1.0, 1.0] }
y = { shape = [5], dtype = "float32", fill = 0.0 }
n = 5
"""
CUDA_TEXT = """
__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
NUMBA_TEXT = """
from numba import cuda

@cuda.jit
def twice(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2.0 * x[i]
"""
PLAIN_TEXT = """
def twice(x, y, n):
    for i in range(n):
        y[i] = 2.0 * x[i]
"""


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    return path


@needs_compiler
def test_a_wrong_module_is_found(case):
    [row] = rows_of(CUDA_TEXT, "k.cu", case=case, text=lambda t: t.replace("2.0 *", "2.5 *"))
    assert row.status == "failed"


@pytest.mark.parametrize("source", [NUMBA_TEXT, PLAIN_TEXT], ids=["numba", "plain"])
def test_python_runs_as_it_stands(source, case):
    if "numba" in source:
        pytest.importorskip("numba")
    [row] = rows_of(source, "k.py", case=case)
    assert row.status == "ok", row
    [row] = rows_of(source, "k.py", case=case, text=lambda t: t.replace("2.0 *", "2.5 *"))
    assert row.status == "failed"


def test_a_missing_compiler_is_one_line(case, monkeypatch):
    monkeypatch.setattr(compilers.shutil, "which", lambda name: None)
    [row] = rows_of(CUDA_TEXT, "k.cu", case=case)
    assert row.status == "skipped" and "no C++ compiler" in row.message and "\n" not in row.message


def test_a_missing_module_is_one_line(case):
    source = "import no_such_module_at_all\n" + PLAIN_TEXT
    [row] = rows_of(source, "k.py", case=case)
    assert row.status == "skipped" and "no_such_module_at_all" in row.message and "\n" not in row.message


@needs_compiler
def test_what_the_compiler_refuses_is_one_line(case):
    source = CUDA_TEXT.replace("{\n", "{\n    float4 unused = some_function_of_a_library();\n", 1)
    ready = original.Original("cuda_c", source, calls={"twice": "twice"})
    function = pipeline.translate(CUDA_TEXT, "k.cu").source.function("twice")
    with pytest.raises(original.Unavailable, match="does not take the original: .*some_function_of_a_library"):
        ready.run(function, load_case(case).arguments(), (1,), (8,))


@needs_compiler
def test_threads_of_a_block_meet_at_barriers_and_in_warps():
    source = """
__global__ void reverse(int *x, int *votes) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    x[t] = s[blockDim.x - 1 - t] + __shfl_down_sync(0xffffffff, t, 1);
    votes[t] = __popc(__ballot_sync(0xffffffff, t % 5 == 0));
}
"""
    function = pipeline.translate(source, "k.cu").source.function("reverse")
    given = {"x": np.arange(64, dtype=np.int32), "votes": np.zeros(64, np.int32)}
    out = original.Original("cuda_c", source, calls={"reverse": "reverse"}).run(function, given, (1,), (64,), 64)
    t = np.arange(64)
    assert (out["x"] == 63 - t + np.where(t % 32 == 31, t, t + 1)).all()
    assert (out["votes"] == np.where(t < 32, 7, 6)).all()


BFLOAT_TEXT = """
#include <cuda_bf16.h>
__global__ void twice(const __nv_bfloat16 *x, __nv_bfloat16 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hadd(x[i], __float2bfloat16(1.0f / 3.0f));
}
"""


@needs_compiler
def test_bfloat16_rounds_in_the_shim_as_it_does_here(case):
    [row] = rows_of(BFLOAT_TEXT, "k.cu", case=case.with_name(_bfloat(case).name))
    assert row.status == "ok" and row.error == 0.0, row


def _bfloat(case):
    other = case.with_name("bfloat.toml")
    other.write_text(CASE.replace("float32", "bfloat16"))
    return other


FAKE_NVCC = """#!/bin/sh
for last in "$@"; do :; done
echo "$@" >> {folder}/calls
cp "$last" {folder}/seen.cu
while [ "$1" != "-o" ]; do shift; done
g++ -x c++ -shared -fPIC -o "$2" {folder}/stand_in.cpp
"""
STAND_IN = """
extern "C" void kraise_go_(void **a, const int *g) {
    float *x = (float *)a[0], *y = (float *)a[1];
    for (int i = 0; i < *(int *)a[2]; i++) y[i] = FACTOR * x[i];
}
"""


def _executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


@needs_compiler
@pytest.mark.parametrize(
    ("gpus", "factor", "status"), [("GPU 0: one", 2, "ok"), ("GPU 0: one", 3, "failed"), ("", 3, "ok")]
)
def test_nvcc_is_taken_where_there_is_a_gpu_too(case, tmp_path, monkeypatch, gpus, factor, status):
    _executable(tmp_path / "nvcc", FAKE_NVCC.format(folder=tmp_path))
    _executable(tmp_path / "nvidia-smi", f"#!/bin/sh\necho '{gpus}'\n")
    (tmp_path / "stand_in.cpp").write_text(STAND_IN.replace("FACTOR", str(factor)))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    [row] = rows_of(CUDA_TEXT, "k.cu", case=case)
    assert row.status == status, row
    if not gpus:  # nothing could run what nvcc makes: the shim and g++ (factor 3 of the stand-in is not seen)
        assert not (tmp_path / "calls").exists()
        return
    seen = (tmp_path / "seen.cu").read_text()
    assert '#include "cuda_gpu.h"' in seen and "twice<<<dim3(" in seen and "device_(kr_a[0], 20)" in seen
    assert "cuda_shim.h" not in seen and "-shared" in (tmp_path / "calls").read_text()


@needs_compiler
def test_a_gpu_that_fails_is_one_line(case, tmp_path, monkeypatch):
    _executable(tmp_path / "nvcc", "#!/bin/sh\necho 'original.cu(3): error: no such type' >&2\nexit 1\n")
    _executable(tmp_path / "nvidia-smi", "#!/bin/sh\necho GPU 0: one\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    [row] = rows_of(CUDA_TEXT, "k.cu", case=case)
    assert row.status == "skipped" and "no such type" in row.message and "\n" not in row.message


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("name", ["cuda_particle_structs", "cuda_constant_filter"])
def test_the_wrapper_for_a_gpu_is_what_nvcc_takes(name, monkeypatch, tmp_path):
    """Compiled for real; what comes out is run only where there is a GPU."""
    monkeypatch.setattr(compilers, "has_gpu", lambda: True)
    sample = next(s for s in SAMPLES if s.name == name)
    source, file = sample.source.read_text(), str(sample.source)
    rows = rows_of(source, file, case=sample.folder / "case.toml")
    assert all(row.status == "ok" or "CUDA: " in row.message for row in rows if row.status != "note"), rows
