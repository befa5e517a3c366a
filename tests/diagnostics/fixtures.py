"""The smallest source for each code that ``translate`` gives: its rendered text is a snapshot beside this file."""

# a kernel, and what stands before the host function that launches it
TWICE = """from numba import cuda


@cuda.jit
def twice(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] *= 2


"""
FIXTURES = {
    "KR100": ("k.py", "def f(x:\n    return x\n"),
    "KR101": (
        "k.py",
        "from numba import njit\n"
        "\n"
        "\n"
        "@njit\n"
        "def f(x, y, n):\n"
        "    for i in range(n):\n"
        "        try:\n"
        "            y[i] = 1 / x[i]\n"
        "        except ZeroDivisionError:\n"
        "            y[i] = 0\n",
    ),
    "KR102": ("k.py", "def f(y, n):\n    for i in range(n):\n        y[i] = scale * i\n"),
    "KR103": (
        "k.py",
        "import other_module\n"
        "from numba import njit\n"
        "\n"
        "\n"
        "@njit\n"
        "def f(x, y, n):\n"
        "    for i in range(n):\n"
        "        y[i] = other_module.f(x[i])\n",
    ),
    "KR104": ("k.py", "def f(x, y, n):\n    for i in range(n):\n        y[i] = x[i, 0] + x[i]\n"),
    "KR105": ("k.txt", "int x;\n"),
    "KR107": (
        "k.py",
        "import cupy\n"
        "from numba import njit\n"
        "\n"
        "\n"
        "@njit\n"
        "def f(x, n):\n"
        "    for i in range(n):\n"
        "        x[i] = 1.0\n"
        "\n"
        "\n"
        "g = cupy.RawKernel(r'''extern \"C\" __global__ void f(float *x) { x[threadIdx.x] = 2.0f; }''', \"f\")\n",
    ),
    "KR109": ("k.cu", "double f(double x) { return x * x; }\ndouble g(double x) { return __enzyme_autodiff(x); }\n"),
    "KR201": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n - 1:\n"
        "        x[i] = x[i + 1]\n",
    ),
    "KR202": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, y, idx, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n:\n"
        "        y[idx[i]] = x[i]\n",
    ),
    "KR203": (
        "k.cu",
        "__global__ void f(float *y, const float *x, int *c, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n && x[i] > 0) {\n"
        "    int p = atomicAdd(c, 1);\n"
        "    y[p] = x[i];\n"
        "  }\n"
        "}\n",
    ),
    "KR204": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, y):\n"
        "    i = cuda.grid(1)\n"
        "    if i < x.shape[0]:\n"
        "        y[i] = x[i + 1]\n",
    ),
    "KR205": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, y, v):\n"
        "    i = cuda.grid(1)\n"
        "    for k in range(0, x.size, v[0]):\n"
        "        y[i] += x[k]\n",
    ),
    "KR206": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n:\n"
        "        cuda.syncthreads()\n"
        "        x[i] = 1.0\n",
    ),
    "KR207": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, y, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n:\n"
        "        if x[i] > 0:\n"
        "            s = 1.0\n"
        "        y[i] = s\n",
    ),
    "KR208": ("k.py", "def f(x, y, n):\n    for i in range(n):\n        y[i] = x[i]\n"),
    "KR209": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit(device=True)\n"
        "def g(a):\n"
        "    return g(a - 1) if a > 0 else 0.0\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n:\n"
        "        x[i] = g(x[i])\n",
    ),
    "KR210": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(x, count):\n"
        "    i = cuda.grid(1)\n"
        "    if i < x.size:\n"
        "        x[i] = 1 if i else cuda.atomic.add(count, 0, 1)\n",
    ),
    "KR211": (
        "k.py",
        TWICE + "def f(a, n):\n    try:\n        twice[1, 32](a, n)\n    except ValueError:\n        pass\n",
    ),
    "KR212": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def shift(a, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n - 1:\n"
        "        a[i] = a[i + 1]\n"
        "\n"
        "\n"
        "def run(x, n):\n"
        "    shift[4, 32](x, n)\n",
    ),
    "KR215": (
        "k.py",
        f"{TWICE}def run(x, n):\n    twice[n // 32, 32](x, n)\n    return x\n",
    ),
    "KR213": (
        "k.py",
        f"import cupyx\n{TWICE}"
        "def run(x, A, n):\n"
        "    y = cupyx.scipy.sparse.linalg.spsolve(A, x)\n"
        "    twice[4, 32](y, n)\n"
        "    return y\n",
    ),
    "KR214": (
        "k.py",
        f"{TWICE}"
        "def run(x, counter):\n"
        "    count = int(counter.copy_to_host()[0])\n"
        "    twice[(count + 255) // 256, 256](x, count)\n",
    ),
    "KR216": (
        "k.cu",
        "__global__ void twice(float *x, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n)\n"
        "    x[i] *= 2.0f;\n"
        "}\n"
        "void run(float *x, double *seconds, int n) {\n"
        "  double start = omp_get_wtime();\n"
        "  twice<<<(n + 255) / 256, 256>>>(x, n);\n"
        "  seconds[0] = omp_get_wtime() - start;\n"
        "}\n",
    ),
    "KR299": (
        "k.cu",
        "__global__ void f(int *c, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n)\n"
        "    atomicInc((unsigned *)&c[0], 17u);\n"
        "}\n",
    ),
    "KR306": ("k.py", "def f(x, y, idx, n):\n    for i in range(n):\n        y[idx[i]] *= x[i]\n"),
    "KR307": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(y, grid, grid_, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n:\n"
        "        y[i] = grid[i] * cuda.blockDim.x + grid_[i]\n",
    ),
    "KR308": (
        "k.py",
        "from numba import cuda\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def f(y, x, n):\n"
        "    i = cuda.grid(1)\n"
        "    if i < n:\n"
        "        y[i] = x[i]\n",
    ),
}

# what the command line says: the files that are there, and what is called
RIGHT = "def f(x, y, n):\n    for i in range(n):\n        y[i] = 2 * x[i]\n"
CASE = '[kernel.f.form]\ncontains = ["reshape"]\n[kernel.f.args]\nx = { shape = [3] }\ny = { shape = [3] }\nn = 3\n'
COMMANDS: dict[str, tuple[dict[str, str], str]] = {
    "KR106": ({"k.py": "x = 1\n"}, "translate k.py"),
    "KR401": ({"k.py": RIGHT, "k_raised.py": '"""Vectorized twin of k.py, written by kraise"""\n'}, "check k.py"),
    "KR402": ({"k.py": RIGHT}, "check k.py"),
    "KR403": ({"k.py": RIGHT, "out.py": "mine = 1\n"}, "translate k.py -o out.py"),
    "KR404": ({"k.py": RIGHT}, "translate k.py -o none/out.py"),
    "KR405": ({"k.py": RIGHT, "pyproject.toml": "[tool.kraise]\nremat = 3\n"}, "translate k.py"),
    "KR406": ({"k.py": RIGHT}, "translate k.py --only g"),
    "KR501": (
        {"k.py": "def f(x, y, n):\n    for i in range(n):\n        y[i] = 1 / x[i]\n", "case.toml": CASE},
        "verify k.py",
    ),
    "KR502": ({"k.py": RIGHT}, "verify k.py --shape z=3"),
}
