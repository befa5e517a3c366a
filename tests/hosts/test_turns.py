"""Rounds that take turns: launches by the parity of a counter, a last round that does not swap, names over arrays."""

import pytest

from tests.hosts.test_hosts import agrees, array, codes, cuda, python

THERE, BACK = "step<<<1, 32>>>(a, b, n);", "step<<<1, 32>>>(b, a, n);"
ROUNDS = "for (int s = 0; s < steps; s++)"
SWAP = "{ float *t = a; a = b; b = t; }"
SWAPPED = {  # the result has no branch
    "even": f"{ROUNDS} {{ if (s % 2 == 0) {THERE} else {BACK} }}",
    "odd": f"{ROUNDS} {{ if (s & 1) {BACK} else {THERE} }}",
    "from another round on": f"for (int s = 3; s < steps + 3; ++s) {{ if (s % 2) {{ {THERE} }} else {{ {BACK} }} }}",
    "a flag": f"bool flip = false; {ROUNDS} {{ if (!flip) {THERE} else {BACK} flip = !flip; }}",
    "two pointers": f"float *p, *q; {ROUNDS} {{ if (s % 2 == 0) {{ p = a; q = b; }} else {{ p = b; q = a; }} "
    "step<<<1, 32>>>(p, q, n); }",
    "swapped where the round is odd": f"{ROUNDS} {{ float *p = a, *q = b; if (s & 1) std::swap(p, q); "
    "step<<<1, 32>>>(p, q, n); }",
    "moved one by one": f"{ROUNDS} {{ float *p = a; float *q = b; if (s % 2) {{ p = b; q = a; }} "
    "step<<<1, 32>>>(p, q, n); }",
    "copied back": f"{ROUNDS} {{ if (s % 2 == 0) {THERE} else {BACK} }} if (steps % 2 == 0) "
    "cudaMemcpy(r, a, n * sizeof(float), cudaMemcpyDeviceToHost); "
    "else cudaMemcpy(r, b, n * sizeof(float), cudaMemcpyDeviceToHost);",
    "all but the last": f"{ROUNDS} {{ {THERE} if (s != steps - 1) {SWAP} }}",
    "all before the last": f"{ROUNDS} {{ {THERE} if (s < steps - 1) {SWAP} }}",
    "none after the last": f"{ROUNDS} {{ {THERE} if (s + 1 < steps) {SWAP} }}",
    "names over the parameters": f"float *p = a, *q = b; {ROUNDS} {{ step<<<1, 32>>>(p, q, n); "
    "float *t = p; p = q; q = t; } cudaMemcpy(r, p, n * sizeof(float), cudaMemcpyDeviceToHost);",
    "while": "float *p = a, *q = b; int m = steps; while (m > 0) { step<<<1, 32>>>(p, q, n); "
    "float *t = p; p = q; q = t; m = m / 2; } cudaMemcpy(r, p, n * sizeof(float), cudaMemcpyDeviceToHost);",
    "three names": f"float *p = a, *q = b; {ROUNDS} {{ step<<<1, 32>>>(p, q, n); "
    "float *t = p; p = q; q = r; r = t; }",
}  # fmt: skip
OTHERS = {  # turns that stay branches
    "by data": f"{ROUNDS} {{ if (s > 2) {THERE} else {BACK} }}",
    "arms that differ": f"{ROUNDS} {{ if (s % 2 == 0) {THERE} else {{ {BACK} {BACK} }} }}",
    "numbers that differ": f"{ROUNDS} {{ if (s % 2 == 0) {THERE} else step<<<1, 32>>>(b, a, n - 1); }}",
    "three turns": f"{ROUNDS} {{ if (s % 3 == 0) {THERE} else if (s % 3 == 1) {BACK} else step<<<1, 32>>>(a, r, n); }}",
    "swapped by data": f"{ROUNDS} {{ float *p = a, *q = b; if (s > 1) std::swap(p, q); step<<<1, 32>>>(p, q, n); }}",
    "a first round given": f"for (int s = n - 5; s < steps + n - 5; s++) {{ if (s % 2 == 0) {THERE} else {BACK} }}",
}


def translated(lines):
    return cuda(f"void f(float *a, float *b, float *r, int n, int steps) {{ {lines} }}\n")


@pytest.mark.parametrize("name", [*SWAPPED, *OTHERS])
@pytest.mark.long_cases(
    "odd",
    "a flag",
    "all before the last",
    "names over the parameters",
    "from another round on",
    "two pointers",
    "numbers that differ",
    "a first round given",
    "moved one by one",
    "swapped by data",
)
def test_turns(name):
    done = translated((SWAPPED | OTHERS)[name])
    assert done.text and not codes(done), done.diagnostics
    assert ("lax.cond" in done.text.partition("def f(")[2]) == (name in OTHERS), done.text
    for steps in (0, 1, 2, 5):
        agrees(done, "f", a=array(9), b=array(9, 1), r=array(9, 2), n=9, steps=steps)


def test_the_same_in_python():
    body = (
        "def f(a, b, n, steps):\n    p, q = a, b\n    for s in range(steps):\n        if s % 2 == 0:\n"
        "            step[1, 32](p, q, n)\n        else:\n            step[1, 32](q, p, n)\n"
    )
    done = python(body)
    assert done.text and "lax.cond" not in done.text.partition("def f(")[2], done.text
    for steps in (0, 1, 2, 5):
        agrees(done, "f", a=array(9), b=array(9, 1), n=9, steps=steps)


CHOSEN = {
    "in the launch": "step[1, 32](b if s % 2 else a, a if s % 2 else b, n)",
    "by a bit": "step[1, 32](a if not s & 1 else b, b if not s & 1 else a, n)",
    "names": "p = b if s % 2 else a\n        q = a if s % 2 else b\n        step[1, 32](p, q, n)",
    "two names at once": "p, q = (b, a) if s % 2 else (a, b)\n        step[1, 32](p, q, n)",
    "a branch": "if s % 2:\n            step[1, 32](b, a, n)\n        else:\n            step[1, 32](a, b, n)",
}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.long_cases("by a bit", "two names at once")
def test_arrays_that_an_expression_chooses(name):
    done = python(f"def f(a, b, n, steps):\n    for s in range(steps):\n        {CHOSEN[name]}\n")
    assert done.text and "lax.cond" not in done.text.partition("def f(")[2], (done.text, done.diagnostics)
    for steps in (0, 1, 2, 5):
        agrees(done, "f", a=array(9), b=array(9, 1), n=9, steps=steps)


def test_a_choice_that_may_be_the_other_argument():
    body = "def f(a, b, n, steps):\n    for s in range(steps):\n        step[1, 32](b if s % 2 else a, a, n)\n"
    done = python(body)
    assert "KR211" in codes(done) and "f" not in done.raised


@pytest.mark.parametrize(
    "lines",
    [
        f"{ROUNDS} {{ {THERE} if (s != n - 1) {SWAP} }}",  # the last one of another number
        f"{ROUNDS} {{ {THERE} if (s != steps - 2) {SWAP} }}",
        f"{ROUNDS} {{ {THERE} if (s != steps - 1) {SWAP} steps = steps - 1; }}",
        f"{ROUNDS} {{ step<<<1, 32>>>(a, a, n); if (s != steps - 1) {SWAP} }}",
        "float *p = a; for (int s = 0; s < steps; s++) { step<<<1, 32>>>(p, b, n); p = b; }",  # onto itself
    ],
)
def test_what_is_not_known_stays_refused(lines):
    assert codes(translated(lines)) == {"KR211"}
