"""Buffers that a number chooses: flips, remainders, rotations, breaks; what is not known is refused."""

from textwrap import indent

import pytest

from kraise.verify.load import load_module
from tests.hosts.test_hosts import agrees, array, codes, cuda, python

FLIP = """
for t in range(steps):
    step[1, 32](d[cur], d[1 - cur], n)
    cur = 1 - cur
"""
BODIES = {
    "flip": FLIP + "return d[cur].copy_to_host()",
    "xor": FLIP.replace("cur = 1 - cur", "cur ^= 1") + "return d[1 - cur].copy_to_host()",
    "negative index": FLIP.replace("cur = 1 - cur", "cur = (cur + 1) % 2") + "return d[cur - 2].copy_to_host()",
    "remainder": """
for t in range(steps):
    step[1, 32](d[t % 2], d[(t + 1) % 2], n)
return d[steps % 2].copy_to_host()
""",
    "bit": """
for t in range(1, steps + 1):
    step[1, 32](d[(t + 1) & 1], d[t & 1], n)
return d[steps & 1].copy_to_host(), d[(steps + 1) & 1].copy_to_host()
""",
    "break before the flip": """
for t in range(steps):
    step[1, 32](d[cur], d[1 - cur], n)
    if d[1 - cur][1] < low:
        break
    cur = 1 - cur
return d[cur].copy_to_host(), d[1 - cur].copy_to_host()
""",
    "break after the flip": FLIP + """
    if d[cur][1] < low:
        break
return d[cur].copy_to_host(), d[1 - cur].copy_to_host()
""",
    "flip by data": """
for t in range(steps):
    step[1, 32](d[cur], d[1 - cur], n)
    if d[1 - cur][1] < low:
        cur = 1 - cur
return d[cur].copy_to_host()
""",
    "one of them": """
for t in range(steps):
    step[1, 32](d[t % 2], d[1 - t % 2], n)
return d[0].copy_to_host(), d[1].copy_to_host()
""",
    "restarted": """
for o in range(steps):
    for t in range(3):
        step[1, 32](d[t % 2], d[(t + 1) % 2], n)
return d[0].copy_to_host(), d[1].copy_to_host()
""",
    "two loops": FLIP.replace("steps", "3") + FLIP + "return d[cur].copy_to_host()",
    "while": """
t = 0
while t < steps:
    step[1, 32](d[t % 2], d[1 - t % 2], n)
    t += 1
return d[t % 2].copy_to_host()
""",
    "three": """
d.append(cuda.to_device(u * 0.25))
for t in range(steps):
    step[1, 32](d[t % 3], d[(t + 2) % 3], n)
return d[(steps + 1) % 3].copy_to_host()
""",
    "source and target": """
src, dst = 0, 1
for t in range(steps):
    step[1, 32](d[src], d[dst], n)
    src, dst = dst, src
return d[src].copy_to_host()
""",
    "names of both": """
for t in range(steps):
    a, b = d[t % 2], d[1 - t % 2]
    step[1, 32](a, b, n)
return d[steps % 2].copy_to_host()
""",
    "reversed": "for t in range(steps):\n    step[1, 32](d[0], d[1], n)\n    d.reverse()\nreturn d[0].copy_to_host()",
}  # fmt: skip


def written(lines):
    head = "\ndef f(u, n, steps, low):\n    d = [cuda.to_device(u), cuda.to_device(u * 0.5)]\n    cur = 0\n"
    return python(head + indent(lines, "    ") + "\n")


ROUNDS = [(n, 3) for n in BODIES] + [(n, 4) for n in ("flip", "remainder", "three", "flip by data")]


@pytest.mark.parametrize(("name", "steps"), [*ROUNDS, ("remainder", 0), ("bit", 0)])
def test_python(name, steps):
    agrees(written(BODIES[name]), "f", u=array(9), n=9, steps=steps, low=0.35)


C_BODIES = {
    "xor": ("int c = 0; for (int t = 0; t < steps; t++) { step<<<1, 32>>>(d[c], d[c ^ 1], n); c ^= 1; }", "d[c]"),
    "not": ("bool c = false; for (int t = 0; t < steps; t++) { step<<<1, 32>>>(d[c], d[!c], n); c = !c; }", "d[c]"),
    "choice": (
        "int c = 0; for (int t = 0; t < steps; t++) { step<<<1, 32>>>(d[c], d[1 - c], n); c = c == 0 ? 1 : 0; }", "d[c]"
    ),
    "swap": (
        "int a = 0, b = 1; for (int t = 0; t < steps; t++) { step<<<1, 32>>>(d[a], d[b], n); std::swap(a, b); }", "d[a]"
    ),
    "remainder": ("for (int t = 0; t < steps; ++t) step<<<1, 32>>>(d[t % 2], d[(t + 1) % 2], n);", "d[steps % 2]"),
    "by two": (
        "for (int t = 0; t < 2 * steps; t += 2) { step<<<1, 32>>>(d[t % 2], d[(t + 1) % 2], n);"
        " step<<<1, 32>>>(d[(t + 1) % 2], d[t % 2], n); }", "d[0]"
    ),
    "pointers": (
        "float *src = d[0], *dst = d[1]; for (int t = 0; t < steps; t++) { step<<<1, 32>>>(src, dst, n);"
        " float *s = src; src = dst; dst = s; }", "src"
    ),
    "until": (
        "int c = 0, t = 0; float x = 1.0f; do { step<<<1, 32>>>(d[c], d[1 - c], n); c = 1 - c; t++;"
        " cudaMemcpy(&x, d[c] + 1, sizeof(float), cudaMemcpyDeviceToHost); } while (x > low && t < steps);", "d[c]"
    ),
}  # fmt: skip
BUFFERS = """
    float *d[2];
    for (int b = 0; b < 2; b++) {
        cudaMalloc((void **)&d[b], n * sizeof(float));
        cudaMemset(d[b], 0, n * sizeof(float));
    }
    cudaMemcpy(d[0], u, n * sizeof(float), cudaMemcpyHostToDevice);
"""
BACK = """
    cudaMemcpy(u, RESULT, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int b = 0; b < 2; b++) cudaFree(d[b]);
"""


@pytest.mark.parametrize("name", C_BODIES)
def test_cuda(name, steps=3):
    lines, result = C_BODIES[name]
    body = f"void f(float *u, int n, int steps, float low) {{{BUFFERS}{lines}{BACK.replace('RESULT', result)}}}\n"
    agrees(cuda(body), "f", u=array(9), n=9, steps=steps, low=0.35)


def test_a_flip_is_a_swap_of_carried_arrays():
    text = written(BODIES["flip"]).text.partition("def f")[2]
    assert "return d_1, d_0" in text and "cur" not in text


def test_a_count_that_places_the_result_must_not_be_negative():
    assert 'raise ValueError("steps must not be negative")' in written(BODIES["remainder"]).text
    assert "must not be negative" not in written(BODIES["flip"]).text.partition("def f")[2]


LOOP = "for t in range(steps):\n    "


@pytest.mark.parametrize(
    "lines",
    (
        "d.append(d[0])\nstep[1, 32](d[n], d[1 - n], n)\nreturn d[0]",  # n may be anything
        "d.append(d[0])\n" + LOOP + "step[1, 32](d[t % 3], d[(t + 1) % 3], n)\nreturn d[0]",  # it depends on steps
        LOOP + "step[1, 32](d[(t * t) % 2], d[1 - (t * t) % 2], n)\nreturn d[0]",
        LOOP + "d.append(cuda.to_device(u))\nstep[1, 32](d[0], d[1], n)\nreturn d[0]",
    ),
)
def test_what_is_not_known_is_refused(lines):
    found = [x for x in written(lines).diagnostics if x.kernel == "f" and x.severity == "error"]
    assert found and all(x.code == "KR211" and x.hint and x.span for x in found)


CLASS = """
class Rod:
    def __init__(self, u):
        self.rods = [cuda.to_device(u) for _ in range(2)]
        self.cur = 0
        self.n = u.shape[0]

    def advance(self):
        source, target = self.rods[self.cur], self.rods[1 - self.cur]
        step[1, 32](source, target, self.n)
        self.cur = 1 - self.cur

    def several(self, steps):
        for _ in range(steps):
            step[1, 32](self.rods[self.cur], self.rods[self.cur ^ 1], self.n)
            self.cur ^= 1
        return self.rods[self.cur].copy_to_host()

    def run(self, steps):
        for _ in range(steps):
            self.advance()
        return self.rods[self.cur].copy_to_host()
"""


@pytest.mark.parametrize(("name", "cur"), (("advance", 1), ("several", 0), ("run", 0), ("run", 1)))
def test_a_class_whose_state_says_which(name, cur):
    done = python(CLASS)
    assert {"Rod_init", f"Rod_{name}"} <= set(done.raised), [d.reason for d in done.diagnostics]
    given = {} if name == "advance" else {"steps": 3}
    agrees(done, f"Rod_{name}", rods_0=array(9), rods_1=array(9, 1), cur=cur, n=9, **given)


def test_a_write_to_memory_that_data_moved_is_not_lost():
    done = cuda(
        "void f(float *a, float *b, float *c, int n, int k) {\n    if (k > 2) std::swap(a, b);\n"
        "    step<<<1, 32>>>(a, b, n);\n    step<<<1, 32>>>(b, c, n);\n}\n"
    )
    assert "f" not in done.raised and any("memory of" in d.reason and d.hint for d in done.diagnostics)


@pytest.mark.parametrize("low", (0.0, 1.0))
def test_a_copy_keeps_its_value_where_a_branch_swaps(low):
    lines = "c = d[0].copy()\na, b = d[0], d[1]\nif u[1] < low:\n    a, b = b, a\nstep[1, 32](a, b, n)\nreturn c, b, a"
    agrees(written(lines), "f", u=array(9), n=9, steps=1, low=low)


RECORDS = """
struct Fields { float *u, *v; int n; };
void allocate(Fields *f, const float *u, int n) {
    f->n = n;
    cudaMalloc(&f->u, n * sizeof(float));
    cudaMalloc(&f->v, n * sizeof(float));
    cudaMemcpy(f->u, u, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(f->v, u, n * sizeof(float), cudaMemcpyHostToDevice);
}
void advance(Fields &f) {
    step<<<(f.n + 31) / 32, 32>>>(f.u, f.v, f.n);
    float *t = f.u; f.u = f.v; f.v = t;
}
void f(float *u, int n, int steps) {
    Fields a;
    allocate(&a, u, n);
    for (int t = 0; t < steps; t++) advance(a);
    cudaMemcpy(u, a.u, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(a.u); cudaFree(a.v);
}
"""


@pytest.mark.parametrize("steps", (0, 3))
def test_a_struct_of_pointers(steps):
    done = cuda(RECORDS)
    assert not codes(done)
    agrees(done, "f", u=array(9), n=9, steps=steps)


def test_what_a_helper_hides_is_refused():
    hidden = RECORDS.replace("void f(", "const int width = 32;\nvoid f(").replace(", 32>>>", ", width>>>")
    done = cuda(hidden.replace("Fields a;", "int width = 16;\n    Fields a;"))
    found = [x for x in done.diagnostics if x.kernel == "f" and x.severity == "error"]
    assert found and "width" in found[0].reason and found[0].hint


def test_members_that_a_function_moves_need_its_caller():
    done = cuda(RECORDS.partition("void f(")[0])
    found = [x for x in done.diagnostics if x.kernel == "advance"]
    assert [x.code for x in found] == ["KR211"] and found[0].hint


TEMPLATES = """
template <typename T, int K>
__global__ void smooth(const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + K <= n) {
        T sum = 0;
        for (int k = 0; k < K; k++) sum += x[i + k];
        y[i] = sum / K;
    }
}
template <typename T>
T *on_device(const T *h, int n) {
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}
template <typename T, int WIDTH>
void f(T *x, T *y, int n) {
    T *a = on_device<T>(x, n), *b = on_device(y, n);
    smooth<T, WIDTH><<<(n + 31) / 32, 32>>>(a, b, n);
    smooth<T, 2 * WIDTH><<<(n + 31) / 32, 32>>>(b, a, n);
    cudaMemcpy(y, a, n * sizeof(T), cudaMemcpyDeviceToHost);
}
int main(int argc, char **argv) {
    double x[32], y[32];
    f<double, 2>(x, y, 32);
}
"""


def test_templates():
    from numpy import float64

    done = cuda(TEMPLATES)
    assert not codes(done) and "float32" not in done.text
    agrees(done, "f", x=array(9).astype(float64), y=array(9, 1).astype(float64), n=9)


def test_a_number_of_the_file_that_nothing_changes_is_a_constant():
    body = "void f(float *u, float *v, int n) { for (int t = 0; t < WAYS; t++) step<<<1, 32>>>(u, v, n); }\n"
    done = cuda("int rounds = 3;\n" + body.replace("WAYS", "rounds"))
    assert not codes(done) and "rounds = 3" in done.text
    changed = cuda("int rounds = 3;\n" + body.replace("WAYS", "rounds").replace("{ for", "{ rounds = 4; for"))
    assert not codes(changed) and "(0, 4, " in changed.text  # a number of its own, which it sets first
    later = cuda("int rounds = 3;\n" + body.replace("WAYS", "rounds").replace("n); }", "n); rounds = 4; }"))
    assert not codes(later) and "def f(u, v, n, rounds):" in later.text  # read, and then another: given back
    assert load_module(later.text).f(array(9), array(9, 1), 9, 2)[0] == 4
