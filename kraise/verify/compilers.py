"""The compiler for an original: nvcc where it can run what it makes (there is a GPU), else the machine's C++ compiler
with ``cuda_shim.h`` in place of the toolkit."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

SECONDS = 240
ENOUGH = 4  # as many kernels cost more than to have their header compiled once
HERE = Path(__file__).parent
STUBS = (  # headers that hold what cuda_shim.h holds
    *(f"cuda{x}.h" for x in ("", "_runtime", "_runtime_api", "_fp16", "_bf16", "_profiler_api")),
    *(f"hip/hip_{x}.h" for x in ("runtime", "runtime_api", "fp16")),
    *(f"{x}.h" for x in ("device_launch_parameters", "device_functions", "driver_types", "cooperative_groups")),
    *(f"{x}.h" for x in ("math_constants", "math_functions", "vector_types", "vector_functions")),
    *(f"{x}.h" for x in ("helper_cuda", "helper_functions", "cutil", "curand", "curand_kernel")),
)
CUB = ("cub/cub.cuh", "hipcub/hipcub.hpp", *(f"cub/{w}/{w}_{x}.cuh" for w, x in (
    ("block", "reduce"), ("block", "scan"), ("block", "load"), ("block", "store"), ("warp", "reduce"), ("warp", "scan"),
)))  # fmt: skip
_CXX = ["-std=c++20", "-O1", "-w", "-fpermissive", "-fPIC", "-shared", "-ffp-contract=off"]
_NVCC = ["-std=c++20", "-O1", "-w", "-arch=native", "-Xcompiler", "-fPIC", "-shared", "-fmad=false"]


_BUILT = count(1)  # in this process


class Unavailable(Exception):
    """The original cannot be run here; the message says why, in one line."""


@dataclass(frozen=True)
class Compiler:
    """A compiler, and whether what it makes runs on a GPU."""

    path: str
    on_gpu: bool

    def build(self, folder: Path, source: str, defines: Iterable[str], include_dirs: Iterable[str]) -> Path:
        """A shared library of ``source``. Raises Unavailable."""
        file, library = folder / ("original.cu" if self.on_gpu else "original.cpp"), folder / "original.so"
        file.write_text(source)
        for stub in () if self.on_gpu else (*STUBS, *CUB):
            (folder / stub).parent.mkdir(parents=True, exist_ok=True)
            (folder / stub).write_text('#include "cub_shim.h"\n' if stub in CUB else "")
        first = [] if self.on_gpu or next(_BUILT) < ENOUGH else precompiled(self.path)
        where = [f"-I{d}" for d in (*first, HERE, folder, *include_dirs)]
        flags = _NVCC if self.on_gpu else _CXX
        command = [self.path, *flags, *(f"-D{d}" for d in defines), *where, "-o", str(library), str(file)]
        done = run(command, "the compiler")
        for _ in range(20):  # a header that is not here: the kernels need nothing of it, or the compiler says what
            missing = re.search(r"fatal error: '?([\w/+-]+\.\w+)'?(?:: No such file| file not found)", done.stderr)
            if not done.returncode or missing is None or (folder / missing[1]).exists():
                break
            (folder / missing[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / missing[1]).write_text("")
            done = run(command, "the compiler")
        if done.returncode:
            message = next((x for x in done.stderr.splitlines() if "error" in x), done.stderr.strip()[:200])
            message = re.sub(r"^.*?original\.(cpp|cu)[:(]", "line ", message)
            raise Unavailable(f"the compiler does not take the original: {message[:240]}")
        return library


@cache
def _header_folder() -> tempfile.TemporaryDirectory[str]:
    """Kept until the process ends, and made only where a header is compiled."""
    return tempfile.TemporaryDirectory(prefix="kraise_header_")


@cache
def precompiled(path: str) -> list[str]:
    """The folder of this process with ``cuda_shim.h`` as g++ has read it, which is most of what it does for a kernel
    (GCC manual, "Using Precompiled Headers"; where it does not fit, the header is read); none where it is not made."""
    folder = _header_folder().name
    header = [path, *_CXX, "-x", "c++-header", str(HERE / "cuda_shim.h"), "-o", f"{folder}/cuda_shim.h.gch"]
    return [] if run(header, "the compiler").returncode else [folder]


def compiler_for(kernel: bool) -> Compiler:
    """nvcc for a ``kernel`` where there is a GPU, else g++ or clang++. Raises Unavailable."""
    nvcc = shutil.which("nvcc")
    if kernel and nvcc is not None and has_gpu():
        return Compiler(nvcc, True)
    found = shutil.which("g++") or shutil.which("clang++")
    if found is None:
        raise Unavailable("there is no C++ compiler here (g++ and clang++ were looked for)")
    return Compiler(found, False)


def has_gpu() -> bool:
    """Whether nvidia-smi lists a GPU."""
    smi = shutil.which("nvidia-smi")
    try:
        return smi is not None and "GPU " in run([smi, "-L"], "nvidia-smi").stdout
    except (OSError, Unavailable):
        return False


def run(command: list[str], who: str) -> subprocess.CompletedProcess[str]:
    """The finished process. Raises Unavailable where it takes too long."""
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{who} took more than {SECONDS} seconds") from None
