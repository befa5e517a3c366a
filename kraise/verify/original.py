"""The kernel as its own language runs it: C++ compiled here, Python as it stands or in numba's simulator.

An oracle that shares nothing with the front ends and the interpreter. Each kernel runs in a process of its own, so that
an access out of bounds ends that process and not ours.
"""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.types import StructType
from kraise.verify.facts import Slot, slots
from kraise.verify.interpreter import flatten_arguments

SECONDS = 240
HERE = Path(__file__).parent
STUBS = (  # headers that hold what cuda_shim.h holds
    *(f"cuda{x}.h" for x in ("", "_runtime", "_runtime_api", "_fp16", "_bf16", "_profiler_api")),
    *(f"hip/hip_{x}.h" for x in ("runtime", "runtime_api", "fp16")),
    *(f"{x}.h" for x in ("device_launch_parameters", "device_functions", "driver_types", "cooperative_groups")),
    *(f"{x}.h" for x in ("math_constants", "math_functions", "vector_types", "vector_functions")),
    *(f"{x}.h" for x in ("helper_cuda", "helper_functions", "cutil", "curand", "curand_kernel")),
)
FLAGS = ["-std=c++20", "-O1", "-w", "-fpermissive", "-fPIC", "-shared", "-pthread", "-ffp-contract=off"]


class Unavailable(Exception):
    """The original cannot be run here; the message says why, in one line."""


@dataclass
class Original:
    """How to run the kernels of one file as they stand.

    CUDA C: ``text`` without its host functions, ``calls`` and ``variables`` as C++ spells them, ``meets`` if threads
    wait for each other. Python: ``text`` is the file's, ``path`` where it lies.
    """

    language: str
    text: str
    path: str = ""
    calls: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    meets: bool = True
    defines: Iterable[str] = ()
    include_dirs: Iterable[str] = ()

    def run(
        self,
        function: k.Function,
        arguments: Mapping[str, Any],
        grid: tuple[int, ...],
        block: tuple[int, ...],
        shared: int | None = None,
    ) -> dict[str, np.ndarray]:
        """The arrays by slot path after the kernel ran on copies, and ``result 0``. Raises Unavailable."""
        run = self._run_python if self.language == "python" else self._run_compiled
        with tempfile.TemporaryDirectory(prefix="kraise_") as folder:
            return run(Path(folder), function, arguments, _triple(grid), _triple(block), shared)

    def _run_compiled(
        self,
        folder: Path,
        function: k.Function,
        arguments: Mapping[str, Any],
        grid: tuple[int, ...],
        block: tuple[int, ...],
        shared: int | None,
    ) -> dict[str, np.ndarray]:
        compiler = shutil.which("g++") or shutil.which("clang++")
        if compiler is None:
            raise Unavailable("there is no C++ compiler here (g++ and clang++ were looked for)")
        if function.name not in self.calls:
            raise Unavailable(f"`{function.name}` is no function of the C++ file")
        flat = flatten_arguments(function, arguments)
        paths = [(s, np.array(flat[s.path], _dtype(s), order="C")) for p in function.params for s in slots(p)]
        for stub in STUBS:
            (folder / stub).parent.mkdir(exist_ok=True)
            (folder / stub).write_text("")
        source, library = folder / "original.cpp", folder / "original.so"
        source.write_text(self._wrapped(function, flat))
        where = [f"-I{d}" for d in (HERE, folder, *self.include_dirs)]
        command = [compiler, *FLAGS, *(f"-D{d}" for d in self.defines), *where, "-o", str(library), str(source)]
        done = _process(command, "the compiler")
        for _ in range(20):  # a header that is not here: the kernels need nothing of it, or the compiler says what
            missing = re.search(r"fatal error: '?([\w/+-]+\.\w+)'?(?:: No such file| file not found)", done.stderr)
            if not done.returncode or missing is None or (folder / missing[1]).exists():
                break
            (folder / missing[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / missing[1]).write_text("")
            done = _process(command, "the compiler")
        if done.returncode:
            message = next((x for x in done.stderr.splitlines() if "error" in x), done.stderr.strip()[:200])
            message = re.sub(r"^.*?original\.cpp:", "line ", message)
            raise Unavailable(f"the compiler does not take the original: {message[:240]}")
        result = np.zeros(2, np.float64)
        job = {"library": str(library), "arrays": [a for _, a in paths] + [result], "geometry": (*grid, *block)}
        arrays = _in_process(folder, _RUN_LIBRARY, job)
        out = {s.path: a for (s, _), a in zip(paths, arrays, strict=False) if s.ndim is not None}
        return out | ({"result 0": arrays[-1][0]} if function.returns else {})

    def _wrapped(self, function: k.Function, flat: Mapping[str, Any]) -> str:
        """The text with one entry that takes pointers to all arguments, laid flat, and the launch."""
        static = {n: str(int(flat[n])) for n in function.static if n in flat}
        call = re.sub(r"\{(\w+)\}", lambda m: static.get(m[1], m[0]), self.calls[function.name])
        before, after, passed, place = [], [], [], 0
        templated = set(re.findall(r"\{(\w+)\}", self.calls[function.name]))
        for n, p in enumerate(function.params):
            mine = slots(p)
            first, place = place, place + len(mine)
            if p.name in templated:
                continue
            spelled = self.variables.get(p.name)
            if spelled and all(q.name in self.variables or q.name in templated for q in function.params[n:]):
                for j, s in enumerate(mine, first):  # a variable of the device
                    what = ".".join((spelled, *s.path.split(".")[1:]))
                    before.append(f"  std::memcpy((void *)&{what}, kr_a[{j}], sizeof({what}));")
                    after.append(f"  std::memcpy(kr_a[{j}], (void *)&{what}, sizeof({what}));")
                continue
            kind = f"std::remove_reference_t<decltype(argument_<{n}>({call}))>"
            before.append(f"  using kr_P{n} = {kind};")
            if not isinstance(p.type, StructType):
                if mine[0].ndim is not None:
                    passed.append(f"(kr_P{n})kr_a[{first}]")
                else:
                    passed.append(f"*(std::remove_cv_t<kr_P{n}> *)kr_a[{first}]")
                continue
            before.append(f"  using kr_S{n} = std::remove_cv_t<std::remove_pointer_t<kr_P{n}>>;")
            count = len(np.asarray(flat[mine[0].path])) if p.type.is_array else 1
            before.append(f"  std::vector<kr_S{n}> kr_s{n}({count});")
            each = f"  for (int kr_i = 0; kr_i < {count}; kr_i++)"
            for j, s in enumerate(mine, first):
                member = f"kr_s{n}[kr_i].{s.path.partition('.')[2]}"
                size = np.array(flat[s.path], _dtype(s)).nbytes // max(
                    count, 1
                )  # an array's member may be shorter here
                before.append(f"{each} put_({member}, (char *)kr_a[{j}], kr_i, {size});")
                if s.ndim is not None:
                    after.append(f"{each} take_({member}, (char *)kr_a[{j}], kr_i, {size});")
            passed.append(f"whole_<kr_P{n}>(kr_s{n})")
        run = f"{call}({', '.join(passed)})"
        last = place
        parts = ['#include "cuda_shim.h"', '#line 1 "original.cpp"', _shared_arrays(self.text), '#line 1 "wrapper"']
        parts += ['extern "C" void kraise_go_(void **kr_a, const int *kr_g) {', *before]
        if function.kind == "plain":
            parts.append(f"  returned_([&] {{ return {run}; }}, (double *)kr_a[{last}]);")
        else:
            parts.append(f"  launch_([&] {{ {run}; }}, kr_g, {str(self.meets).lower()});")
        return "\n".join([*parts, *after, "}", ""])

    def _run_python(
        self,
        folder: Path,
        function: k.Function,
        arguments: Mapping[str, Any],
        grid: tuple[int, ...],
        block: tuple[int, ...],
        shared: int | None,
    ) -> dict[str, np.ndarray]:
        path = folder / "original_source.py"
        path.write_text(self.text, encoding="utf-8")
        values = [arguments[p.name] for p in function.params if p.name in arguments]
        job: dict[str, Any] = {
            "path": str(path),
            "home": self.path,
            "name": function.name,
            "values": values,
            "kernel": function.kind,
        }
        job |= {"grid": grid, "block": block, "shared": shared}
        values, returned = _in_process(folder, _RUN_PYTHON, job)
        names = [p.name for p in function.params if p.name in arguments]
        out = {n: v for n, v in zip(names, values, strict=True) if isinstance(v, np.ndarray)}
        for n, v in enumerate(returned):
            out[f"result {n}"] = np.asarray(v)
        return out


def _shared_arrays(text: str) -> str:
    """Dynamic shared memory as a static array that is large enough."""
    text = re.sub(r"\bextern\s+__shared__([^;\[]*)\[\s*\]", r"static \1[12288]", text)
    return re.sub(r"\bstatic\s+__shared__", "__shared__", text)


def _dtype(slot: Slot) -> np.dtype:
    name = str(slot.element)
    if name == "bfloat16":
        raise Unavailable("the C++ compiler here knows no bfloat16")
    return np.dtype(name)


def _triple(extents: tuple[int, ...] | int) -> tuple[int, ...]:
    extents = (extents,) if isinstance(extents, int) else tuple(extents)
    return (*extents, *(1,) * (3 - len(extents)))


def _process(command: list[str], who: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{who} took more than {SECONDS} seconds") from None


def _in_process(folder: Path, program: str, job: dict[str, Any]) -> Any:
    """What ``program`` makes of the job in a Python of its own."""
    (folder / "job").write_bytes(pickle.dumps(job))
    done = _process([sys.executable, "-c", program, str(folder / "job"), str(folder / "answer")], "the original")
    if done.returncode or not (folder / "answer").exists():
        last = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[-1]
        if last.startswith("ModuleNotFoundError"):
            raise Unavailable(f"the original needs a module that is not installed here ({last[:200]})")
        if done.returncode < 0:
            last = f"it was ended by signal {-done.returncode}"
        raise Unavailable(f"the original did not run to its end: {last[:200]}")
    return pickle.loads((folder / "answer").read_bytes())


_RUN_LIBRARY = """
import ctypes, pickle, sys
job = pickle.load(open(sys.argv[1], "rb"))
pointers = (ctypes.c_void_p * len(job["arrays"]))(*(a.ctypes.data for a in job["arrays"]))
ctypes.CDLL(job["library"]).kraise_go_(pointers, (ctypes.c_int * 6)(*job["geometry"]))
pickle.dump(job["arrays"], open(sys.argv[2], "wb"))
"""

_RUN_PYTHON = """
import os, pickle, sys
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import importlib.util
job = pickle.load(open(sys.argv[1], "rb"))
sys.path.insert(0, job["home"])
spec = importlib.util.spec_from_file_location("original_source", job["path"])
module = importlib.util.module_from_spec(spec)
sys.modules["original_source"] = module
spec.loader.exec_module(module)
call = getattr(module, job["name"])
if job["kernel"] == "kernel":
    grid, block = ([int(n) for n in job[g]] for g in ("grid", "block"))
    launch = (tuple(grid), tuple(block)) + ((0, 8 * int(job["shared"])) if job["shared"] else ())
    call = call[launch]
returned = call(*job["values"])
returned = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
pickle.dump((job["values"], returned), open(sys.argv[2], "wb"))
"""
