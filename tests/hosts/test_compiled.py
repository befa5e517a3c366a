"""Whole hosts beside what g++ makes of them: ``verify`` runs the front end's own reading of a host, g++ the source.

All of ``compiled/programs.cu`` is compiled at once and translated at once; a launch becomes a call of the shim's
threads, and the runtime is ``compiled/host_runtime.h``.
"""

import ctypes
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify import compilers
from kraise.verify.load import load_module, x64

HERE = Path(__file__).parent / "compiled"
SOURCE = (HERE / "programs.cu").read_text(encoding="utf-8")
HOST = re.compile(r"^(\w+) (\w+)\(float \*x, float \*y, int n\)", re.M)
REFUSED = ("by_clock", "by_input", "by_state", "backwards", "odd_bytes", "swap_by_data",
           "round_by_while",
           "nested_swaps", "pushed_by_data", "pushed_twice", "pushed_on_the_way",
           "captured_before", "captured_elsewhere", "saved_at_the_end", "unknown_object",
           "moving_reference", "methods_of_other_names",
           "object_that_works_at_its_end", "bytes_of_a_changed_number", "bytes_of_a_number_given_twice",
           "graph_of_moving_pointers", "graph_captured_nowhere", "graph_that_reads",
           "piece_that_is_left", "parts_that_meet", "left_by_time", "caught_and_gone_on", "call_in_an_arm",
           "swapped_by_a_number", "set_by_a_number",
           "generated_by_a_state", "pointers_without_a_number",
           "rows_that_swap", "rows_of_other_lengths", "one_row_is_set", "numbers_and_structs",
           "one_piece_smoothed", "pieces_that_meet", "functor_of_a_changing_number", "functor_with_a_state",
           "functor_that_a_changed_one_was",
           "with_a_label",
           "struct_by_data", "recursion_without_end", "recursion_by_data",
           "status_of_elsewhere", "object_of_elsewhere", "another_name_of_memory", "moved_by_an_algorithm",
           "derived_without_maker", "points_to_derived", "followed_null",
           "compacted_by_other_flags", "compacted_beyond_the_places", "compacted_by_two_names",
           "diagonals_that_leave_the_table")  # fmt: skip
HOSTS = {m[2]: m[1] for m in HOST.finditer(SOURCE)}
N = 13

pytestmark = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler")


def closing(text, start):
    """The place of the bracket that closes the one at ``start``."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
    raise AssertionError("no closing bracket")


def launches_as_calls(text):
    """``k<<<g, b>>>(x)`` as ``host_launch_(Geom_(g, b), [&] { k(x); })``."""
    text = text.replace("kernel<<<((n) + 63) / 64, 64>>>(__VA_ARGS__)",
                        "host_launch_(Geom_(((n) + 63) / 64, 64), [&] { kernel(__VA_ARGS__); })")  # fmt: skip
    while found := re.search(r"((?:\w+::)*\w+(?:<[\w, ]+>)?)\s*<<<", text):
        stop = text.index(">>>", found.end())
        first = text.index("(", stop)
        last = closing(text, first)
        before = text[: found.start()]
        taken = "&="[before.count("cudaStreamBeginCapture(") > before.count("cudaStreamEndCapture(")]  # as they are now
        call = f"host_launch_(Geom_({text[found.end() : stop]}), [{taken}] {{ {found[1]}({text[first + 1 : last]}); }})"
        text = text[: found.start()] + call + text[last + 1 :]
    return text


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The library that g++ makes of all hosts."""
    wrappers = "".join(
        f'extern "C" {kind} run_{name}(float *x, float *y, int n) {{ return {name}(x, y, n); }}\n'
        for name, kind in HOSTS.items()
    )
    text = '#define MEET_ true\n#include "host_runtime.h"\n' + launches_as_calls(SOURCE) + wrappers
    built = compilers.compiler_for(False).build(tmp_path_factory.mktemp("hosts"), text, (), (str(HERE),))
    return ctypes.CDLL(str(built))


@pytest.fixture(scope="module")
def raised():
    """The translation of all hosts, and its module."""
    done = pipeline.translate(SOURCE, "programs.cu")
    return done, load_module(done.text)


@pytest.mark.parametrize("name", [n for n in HOSTS if n not in REFUSED])
def test_a_host_does_what_the_compiler_makes_of_it(compiled, raised, name):
    done, module = raised
    assert name in done.raised, [d.reason for d in done.diagnostics if d.kernel == name]
    host = next(h for h in done.module.hosts if h.name == name)
    run = getattr(compiled, f"run_{name}")
    run.restype = {"float": ctypes.c_float}.get(HOSTS[name])
    for seed in range(2):
        rng = np.random.default_rng(seed)
        given = {a: rng.standard_normal(N).astype(np.float32) for a in "xy"}
        memory = {a: np.append(v, np.float32(99)) for a, v in given.items()}  # 99: nothing writes behind its end
        pointers = [m.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for m in memory.values()]
        result = run(*pointers, N)
        assert all(m[-1] == 99 for m in memory.values())
        want = {a: m[:N] for a, m in memory.items()}
        with x64(True):  # a host of the file has a double, and each test starts with 32 bits
            found = getattr(module, name)(given["x"], given["y"], N)
        found = found if isinstance(found, tuple) else (found,)
        assert len(found) == len(host.memory)
        got = dict(zip((m or "result" for m in host.memory), found, strict=True))
        if HOSTS[name] == "float":
            np.testing.assert_allclose(got.pop("result"), result, rtol=1e-4)
        for array, value in want.items():
            np.testing.assert_allclose(got.get(array, given[array]), value, rtol=1e-4, atol=1e-5, err_msg=array)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused(raised, name):
    done, _ = raised
    assert name not in done.raised
    mine = [d for d in done.diagnostics if d.kernel == name and d.severity == "error"]
    assert any(d.reason for d in mine) and not any(d.code == "KR900" for d in mine)
