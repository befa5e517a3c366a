"""Kernels wherever they stand: methods, factories, undecorated ones, several of one name, constants around them."""

from __future__ import annotations

import textwrap

from kraise.frontends.python import read
from kraise.ir.print_kernel import function_text


def names(source: str) -> list[tuple[str, str]]:
    """(name, kind) of every function that is read."""
    module, _ = read(textwrap.dedent(source), "t.py")
    return [(f.name, f.kind) for f in module.functions]


def codes(source: str) -> list[tuple[str, str, str]]:
    """(code, kernel, severity) of what is said."""
    _, problems = read(textwrap.dedent(source), "t.py")
    return [(p.code, p.kernel, p.severity) for p in problems]


def printed(source: str, name: str) -> str:
    module, problems = read(textwrap.dedent(source), "t.py")
    assert not [p for p in problems if p.severity == "error"], problems
    return function_text(module.function(name))


def test_a_kernel_in_a_method_with_its_imports_and_constants():
    source = """
        class TestIt(Case):
            def test(self):
                from numba import cuda
                TPB = 16

                @cuda.jit
                def k(x):
                    x[cuda.grid(1)] = TPB
        """
    assert "= 16" in printed(source, "k")


def test_constants_two_functions_out_and_shadowed():
    source = """
        from numba import cuda
        A = 1
        B = 2
        def outer(B):
            C = 3
            def inner():
                @cuda.jit
                def k(x):
                    x[0] = A + C
                @cuda.jit
                def wrong(x):
                    x[0] = B
        """
    assert "+ 3" in printed(source.replace("x[0] = B", "x[0] = A"), "k")
    assert codes(source) == [("KR102", "wrong", "error")]


def test_a_parameter_of_the_factory_is_named():
    source = """
        from numba import cuda
        def make(TPB):
            @cuda.jit
            def k(x):
                x[cuda.grid(1)] = TPB
            return k
        """
    _, problems = read(textwrap.dedent(source), "t.py")
    (problem,) = problems
    assert problem.code == "KR102" and "make" in problem.reason and "TPB" in problem.reason


def test_the_same_name_in_two_scopes_and_each_calls_its_own():
    source = """
        from numba import cuda, njit
        def first():
            @njit
            def f(v):
                return v + 1
            @cuda.jit
            def k(x):
                x[0] = f(x[0])
        def second():
            @njit
            def f(v):
                return v + 2
            @cuda.jit
            def k(x):
                x[0] = f(x[0])
        """
    assert {n for n, _ in names(source)} == {"f", "k", "second_f", "second_k"}
    assert "f(x[0])" in printed(source, "k") and "second_f(x[0])" in printed(source, "second_k")
    assert set(codes(source)) == {("KR107", "second_f", "note"), ("KR107", "second_k", "note")}


def test_the_module_keeps_its_name_and_methods_are_not_called_by_it():
    source = """
        from numba import cuda
        class A:
            def helper(self, v):
                return v
            @staticmethod
            @cuda.jit
            def k(x):
                x[0] = 1
        @cuda.jit
        def k(x):
            x[0] = helper(x[0])
        """
    assert names(source) == [("k_2", "kernel")]
    assert ("KR103", "k", "error") in codes(source)


def test_undecorated_kernels():
    source = """
        from numba import cuda
        def k(x):
            x[cuda.threadIdx.x] = 1
        def where():
            return cuda.threadIdx.x + 1
        def k2(x):
            x[0] = where()
        def host(x):
            k[1, 1](x)
        """
    assert names(source) == [("k", "kernel")]


def test_cuda_as_the_parameter_of_a_factory():
    source = """
        import numba
        def map_test(cuda):
            def call(out, a):
                i = cuda.threadIdx.x
                out[i] = a[i] + 10
            return call
        def zip_test(cuda):
            def call(out, a, b):
                i = cuda.threadIdx.x
                out[i] = a[i] + b[i]
            return call
        """
    assert names(source) == [("call", "kernel"), ("zip_test_call", "kernel")]


def test_wrapped_far_away():
    source = """
        from numba import cuda
        def add(x, y):
            i = cuda.grid(1)
            x[i] += y[i]
        class T:
            def test(self):
                compiled = cuda.jit("void(int32[:], int32[:])")(add)
        """
    assert "int32" in printed(source, "add")


def test_two_definitions_in_one_scope():
    source = """
        from numba import cuda
        @cuda.jit
        def k(x):
            x[0] = 1
        @cuda.jit
        def k(x):
            x[0] = 2
        """
    assert codes(source) == [("KR107", "k", "error")]


def test_properties_of_one_name_say_nothing():
    source = """
        class T:
            @property
            def key(self):
                return 1
        class U:
            @property
            def key(self):
                return 2
        """
    assert codes(source) == []


def test_host_code_is_passed_over_in_silence():
    source = """
        import numpy as np
        def rows(a, b):
            for i in range(a.shape[0]):
                a[i, 1:] = a[i, 1:] @ b
        def table(names):
            out = {}
            for i in range(len(names)):
                out[i] = names[i].upper()
            return out
        def lists(n):
            out = [0] * n
            for i in range(n):
                out[i] = unknown.call(i)
            return out
        """
    assert codes(source) == [] and names(source) == []


def test_a_scalar_nest_is_not_passed_over():
    source = """
        def nest(a, n):
            for i in range(n):
                a[i] = unknown(i)
        """
    assert codes(source) == [("KR103", "nest", "error")]


def test_a_name_that_changes_is_no_constant():
    for change in ("N *= 2", "for N in range(3): pass", "from m import N", "def N(): pass"):
        source = f"from numba import cuda\nN = 4\n{change}\n@cuda.jit\ndef k(x):\n    x[0] = N\n"
        assert [c for c, _, _ in codes(source)] == ["KR102"], change


def test_casts_in_all_spellings():
    source = """
        import numpy as np
        import numba
        from numba import cuda, types
        from numba.core import types as t
        @cuda.jit
        def k(x):
            x[0] = cuda.float32(1) + types.float32(2) + t.float32(3) + numba.float32(4) + np.float32(5)
            x[1] = cuda.int64(0)
        """
    text = printed(source, "k")
    assert text.count("float32(") == 5 and "int64(0)" in text


def test_print_says_what_to_do():
    _, problems = read("from numba import cuda\n@cuda.jit\ndef k(x):\n    print(x[0])\n", "t.py")
    assert problems[0].code == "KR103" and "side effect" in problems[0].reason


def test_array_code_is_said_once():
    source = """
        import numpy as np
        from numba import njit
        @njit
        def f(a, b):
            c = unknown(a)
            for i in range(3):
                a[i] = b @ c.T
            return c
        """
    _, problems = read(textwrap.dedent(source), "t.py")
    assert [(p.code, p.kernel) for p in problems] == [("KR101", "f")] and "array code" in problems[0].reason


def test_constants_under_with():
    source = """
        from numba import cuda
        def test():
            with captured():
                N = 4
                @cuda.jit
                def k(x):
                    x[0] = N
        """
    assert "= 4" in printed(source, "k")


def test_a_grid_by_name():
    source = "from numba import cuda\n@cuda.jit\ndef k(x):\n    g = cuda.cg.this_grid()\n    x[0] = 1\n    g.sync()\n"
    assert "barrier grid" in printed(source, "k")
