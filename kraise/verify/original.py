"""The kernel as its own language runs it: C++ compiled here; Python as it stands, on the GPU or in numba's simulator.

An oracle that shares nothing with the front ends and the interpreter. Each kernel runs in a process of its own, so that
an access out of bounds ends that process and not ours.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.types import StructType
from kraise.verify.cases import named_dtype
from kraise.verify.compilers import Unavailable, compiler_for, has_gpu
from kraise.verify.compilers import run as run_process
from kraise.verify.facts import Slot, slots
from kraise.verify.interpreter import flatten_arguments


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
        compiler = compiler_for(function.kind != "plain")
        if function.name not in self.calls:
            raise Unavailable(f"`{function.name}` is no function of the C++ file")
        if "__shared__" in self.text and re.search(r"\bvolatile\b", self.text):
            raise Unavailable("the lanes of a warp run in step where shared memory is volatile: not so what g++ makes")
        flat = flatten_arguments(function, arguments)
        paths = [(s, np.array(flat[s.path], _dtype(s), order="C")) for p in function.params for s in slots(p)]
        wrapper = _Wrapper(self, function, flat, compiler.on_gpu)
        library = compiler.build(folder, wrapper.text(), self.defines, self.include_dirs)
        result = np.zeros(2, np.float64)
        bytes_shared = 8 * (12_288 // 2 if shared is None else max(int(shared), 1)) if compiler.on_gpu else 0
        geometry = (*grid, *block, bytes_shared)
        arrays = [a for _, a in paths] + [result]
        job = {"library": str(library), "arrays": [bytearray(a.tobytes()) for a in arrays], "geometry": geometry}
        back = _in_process(folder, _RUN_LIBRARY, job)
        arrays = [np.frombuffer(raw, a.dtype).reshape(a.shape) for raw, a in zip(back, arrays, strict=True)]
        out = {s.path: a for (s, _), a in zip(paths, arrays, strict=False) if s.ndim is not None}
        return out | ({"result 0": arrays[-1][0]} if function.returns else {})

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
        values, returned = _on_gpu_or_simulated(folder, job)
        names = [p.name for p in function.params if p.name in arguments]
        out = {n: v for n, v in zip(names, values, strict=True) if isinstance(v, np.ndarray)}
        for n, v in enumerate(returned):
            out[f"result {n}"] = np.asarray(v)
        return out


class _Wrapper:
    """The text with one entry that takes pointers to all arguments, laid flat, and the launch (three extents of the
    grid, three of the block, the bytes of dynamic shared memory)."""

    def __init__(self, original: Original, function: k.Function, flat: Mapping[str, Any], on_gpu: bool):
        self.original, self.function, self.flat, self.on_gpu = original, function, flat, on_gpu
        static = {n: str(int(flat[n])) for n in function.static if n in flat}
        spelled = original.calls[function.name]
        self.call = re.sub(r"\{(\w+)\}", lambda m: static.get(m[1], m[0]), spelled)
        self.templated = set(re.findall(r"\{(\w+)\}", spelled))
        self.before: list[str] = []
        self.after: list[str] = []
        self.passed: list[str] = []

    def text(self) -> str:
        """The whole file."""
        place, variables = 0, self.original.variables
        for n, p in enumerate(self.function.params):
            first, mine = place, slots(p)
            place += len(mine)
            if p.name in self.templated:
                continue
            rest = self.function.params[n:]
            if p.name in variables and all(q.name in variables or q.name in self.templated for q in rest):
                for j, s in enumerate(mine, first):
                    self._variable(variables[p.name], s, j)
            elif isinstance(p.type, StructType):
                self._struct(n, p.type, first, mine)
            else:
                self._plain(n, first, mine[0])
        arguments = ", ".join(self.passed)
        if self.on_gpu:
            launch = "dim3(kr_g[0], kr_g[1], kr_g[2]), dim3(kr_g[3], kr_g[4], kr_g[5]), kr_g[6]"
            run = [f"  {self.call}<<<{launch}>>>({arguments});", "  check_(cudaGetLastError());"]
            run.append("  check_(cudaDeviceSynchronize());")
        elif self.function.kind == "plain":
            run = [f"  returned_([&] {{ return {self.call}({arguments}); }}, (double *)kr_a[{place}]);"]
        else:
            run = [f"  launch_([&] {{ {self.call}({arguments}); }}, kr_g, {str(self.original.meets).lower()});"]
        header, source = "cuda_gpu.h", self.original.text
        if not self.on_gpu:
            header, source = "cuda_shim.h", _shared_arrays(source)
        parts = [f'#include "{header}"', '#line 1 "original.cpp"', source, '#line 1 "wrapper"']
        parts += ['extern "C" void kraise_go_(void **kr_a, const int *kr_g) {', *self.before, *run]
        return "\n".join([*parts, *self.after, "}", ""])

    def _bytes(self, s: Slot) -> int:
        return np.asarray(self.flat[s.path]).astype(_dtype(s), copy=False).nbytes

    def _variable(self, name: str, s: Slot, j: int) -> None:
        """A variable of the device, which is as large as the file says."""
        what = ".".join((name, *s.path.split(".")[1:]))
        self.before.append(f'  static_assert(sizeof({what}) == {self._bytes(s)}, "the case has another size");')
        if self.on_gpu:
            at = f"symbol_({name}) + ((char *)&{what} - (char *)&{name})"
            self.before.append(f"  check_(cudaMemcpy({at}, kr_a[{j}], sizeof({what}), cudaMemcpyHostToDevice));")
            self.after.append(f"  host_(kr_a[{j}], {at}, sizeof({what}));")
        else:
            self.before.append(f"  std::memcpy((void *)&{what}, kr_a[{j}], sizeof({what}));")
            self.after.append(f"  std::memcpy(kr_a[{j}], (void *)&{what}, sizeof({what}));")

    def _kind(self, n: int) -> None:
        self.before.append(f"  using kr_P{n} = std::remove_reference_t<decltype(argument_<{n}>({self.call}))>;")

    def _memory(self, j: int, s: Slot) -> str:
        """Where an array lies for the kernel."""
        if not self.on_gpu:
            return f"kr_a[{j}]"
        self.before.append(f"  void *kr_d{j} = device_(kr_a[{j}], {self._bytes(s)});")
        self.after.append(f"  host_(kr_a[{j}], kr_d{j}, {self._bytes(s)});")
        return f"kr_d{j}"

    def _plain(self, n: int, first: int, s: Slot) -> None:
        self._kind(n)
        if s.ndim is not None:
            other = {"float": "integral", "int": "floating_point", "uint": "floating_point"}.get(s.element.kind)
            if other is not None:  # a template's other instance would read the bytes as what they are not
                element = f"std::remove_cv_t<std::remove_pointer_t<kr_P{n}>>"
                self.before.append(f'  static_assert(!std::is_{other}_v<{element}>, "another type of elements");')
            self.passed.append(f"(kr_P{n}){self._memory(first, s)}")
        else:
            self.passed.append(f"*(std::remove_cv_t<kr_P{n}> *)kr_a[{first}]")

    def _struct(self, n: int, kind: StructType, first: int, mine: tuple[Slot, ...]) -> None:
        self._kind(n)
        self.before.append(f"  using kr_S{n} = std::remove_cv_t<std::remove_pointer_t<kr_P{n}>>;")
        count = len(np.asarray(self.flat[mine[0].path])) if kind.is_array else 1
        self.before.append(f"  kr_S{n} *kr_s{n} = new kr_S{n}[{max(count, 1)}]();")
        each, back = f"  for (int kr_i = 0; kr_i < {count}; kr_i++)", []
        for j, s in enumerate(mine, first):
            member = f"kr_s{n}[kr_i].{s.path.partition('.')[2]}"
            size = self._bytes(s) // max(count, 1)  # an array's member may be shorter here
            points = self.on_gpu and s.ndim is not None and not kind.is_array
            memory = self._memory(j, s) if points else f"kr_a[{j}]"
            self.before.append(f"{each} put_({member}, (char *){memory}, kr_i, {size});")
            if s.ndim is not None and not points:
                back.append(f"{each} take_({member}, (char *)kr_a[{j}], kr_i, {size});")
        if self.on_gpu and kind.is_array:
            whole = f"{count} * sizeof(kr_S{n})"
            self.before.append(f"  auto kr_v{n} = (kr_S{n} *)device_(kr_s{n}, {whole});")
            self.after.append(f"  host_(kr_s{n}, kr_v{n}, {whole});")
            self.passed.append(f"kr_v{n}")
        else:
            self.passed.append(f"kr_s{n}" if kind.is_array else f"kr_s{n}[0]")
        self.after += back


def _shared_arrays(text: str) -> str:
    """Dynamic shared memory as a static array that is large enough."""
    text = re.sub(r"\bextern\s+__shared__([^;\[]*)\[\s*\]", r"static \1[12288]", text)
    return re.sub(r"\bstatic\s+__shared__", "__shared__", text)


def _dtype(slot: Slot) -> np.dtype:
    return named_dtype(str(slot.element))


def _triple(extents: tuple[int, ...] | int) -> tuple[int, ...]:
    extents = (extents,) if isinstance(extents, int) else tuple(extents)
    return (*extents, *(1,) * (3 - len(extents)))


def _on_gpu_or_simulated(folder: Path, job: dict[str, Any]) -> Any:
    """What a Python kernel returns on the GPU, where there is one for which numba compiles, else in its simulator."""
    if job["kernel"] == "kernel" and os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "0" and has_gpu():
        with contextlib.suppress(Unavailable):
            return _in_process(folder, _RUN_PYTHON, job | {"simulated": False})
    return _in_process(folder, _RUN_PYTHON, job | {"simulated": True})


def _in_process(folder: Path, program: str, job: dict[str, Any]) -> Any:
    """What ``program`` makes of the job in a Python of its own."""
    (folder / "job").write_bytes(pickle.dumps(job))
    done = run_process([sys.executable, "-c", program, str(folder / "job"), str(folder / "answer")], "the original")
    if done.returncode or not (folder / "answer").exists():
        last = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[-1]
        if last.startswith("ModuleNotFoundError"):
            raise Unavailable(f"the original needs a module that is not installed here ({last[:200]})")
        if done.returncode < 0:
            last = f"it was ended by signal {-done.returncode}"
        raise Unavailable(f"the original did not run to its end: {last[:200]}")
    return pickle.loads((folder / "answer").read_bytes())


# without NumPy, whose start takes as long as the compiler
_RUN_LIBRARY = """
import ctypes, pickle, sys
job = pickle.load(open(sys.argv[1], "rb"))
pointers = (ctypes.c_void_p * len(job["arrays"]))(*(
    ctypes.addressof((ctypes.c_char * len(a)).from_buffer(a)) if a else None for a in job["arrays"]
))
ctypes.CDLL(job["library"]).kraise_go_(pointers, (ctypes.c_int * 7)(*job["geometry"]))
pickle.dump(job["arrays"], open(sys.argv[2], "wb"))
"""

_RUN_PYTHON = """
import os, pickle, sys
job = pickle.load(open(sys.argv[1], "rb"))
os.environ["NUMBA_ENABLE_CUDASIM"] = str(int(job["simulated"]))
import importlib.util
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
