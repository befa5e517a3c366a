"""Whole Python hosts of one signature: numba's simulator runs them as they stand, kraise raises them."""

# ruff: noqa: B007, B905, C408, E731, F821, F841 - hosts as people write them

import math
import time
from collections import deque, namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

import cupy as cp
import numpy as np
from numba import cuda, float32

TPB = 64
DT = 0.05
COEFFS = (0.25, 0.5, 0.25)


@cuda.jit
def add(x, s):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += s


@cuda.jit
def mix(a, b, o):
    i = cuda.grid(1)
    if i < o.shape[0]:
        o[i] = a[i] + 0.25 * b[i]


@cuda.jit
def smooth(u, v):
    i = cuda.grid(1)
    if i > 0 and i < u.shape[0] - 1:
        v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1])


@cuda.jit
def scale(x, out, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = a * x[i]


@cuda.jit
def sqdiff(a, b, o):
    i = cuda.grid(1)
    if i < a.shape[0]:
        o[i] = (a[i] - b[i]) ** 2


@cuda.jit
def block_sum(x, part):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.shape[0] else 0.0
    cuda.syncthreads()
    k = 16
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        part[cuda.blockIdx.x] = s[0]


@cuda.jit
def heat2(u, v):
    i, j = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def blocks_for(n, tpb=TPB):
    return (n + tpb - 1) // tpb


def cdiv(a, b):
    return -(-a // b)


def launch_config(n):
    tpb = 32
    return (n + tpb - 1) // tpb, tpb


def grid2(shape, block=(8, 8)):
    gx = math.ceil(shape[0] / block[0])
    gy = math.ceil(shape[1] / block[1])
    return (gx, gy)


def by_dict(x, y):
    bufs = {"u": cuda.to_device(x), "v": cuda.to_device(y), "w": cuda.device_array_like(x)}
    for step in range(4):
        mix[blocks_for(x.size), TPB](bufs["u"], bufs["v"], bufs["w"])
        bufs["u"], bufs["w"] = bufs["w"], bufs["u"]
    return bufs["u"].copy_to_host()


def by_list_rotate(x, y):
    bufs = [cuda.to_device(x), cuda.to_device(y), cuda.device_array_like(x)]
    for _ in range(5):
        mix[1, 64](bufs[0], bufs[1], bufs[2])
        bufs = bufs[1:] + bufs[:1]
    return bufs[0].copy_to_host(), bufs[1].copy_to_host()


def by_pop_append(x, y):
    bufs = [cuda.to_device(x), cuda.to_device(y), cuda.to_device(x)]
    for _ in range(3):
        mix[1, 64](bufs[0], bufs[1], bufs[2])
        bufs.append(bufs.pop(0))
    return bufs[2].copy_to_host()


def by_tryfinally(x, y):
    stream = cuda.stream()
    dx = cuda.to_device(x, stream=stream)
    dy = cuda.to_device(y, stream=stream)
    try:
        for _ in range(3):
            smooth[blocks_for(x.size), TPB, stream](dx, dy)
            dx, dy = dy, dx
        stream.synchronize()
        result = dx.copy_to_host(stream=stream)
    finally:
        del dx, dy
    return result


def by_tryexcept(x, y):
    try:
        dx = cuda.to_device(x)
        add[1, 64](dx, 2.0)
        cuda.synchronize()
    except cuda.cudadrv.driver.CudaAPIError as e:
        print("failed", e)
        raise
    return dx.copy_to_host()


def by_pinned(x, y):
    with cuda.pinned(x):
        stream = cuda.stream()
        dx = cuda.to_device(x, stream)
        dy = cuda.to_device(y, stream)
        mix[blocks_for(len(x)), TPB, stream](dx, dy, dx)
        dx.copy_to_host(x, stream)
        stream.synchronize()


def by_auto_sync(x, y):
    stream = cuda.stream()
    with stream.auto_synchronize():
        dx = cuda.to_device(x, stream=stream)
        add[1, 64, stream](dx, 1.5)
        dx.copy_to_host(y, stream=stream)
    return y


def by_converge(x, y, tol=1e-2, max_iter=40):
    u = cuda.to_device(x)
    v = cuda.to_device(x)
    diff = cuda.device_array(x.shape[0], dtype=np.float32)
    residual = np.inf
    it = 0
    while residual > tol and it < max_iter:
        smooth[blocks_for(x.shape[0]), TPB](u, v)
        sqdiff[blocks_for(x.shape[0]), TPB](u, v, diff)
        residual = math.sqrt(diff.copy_to_host().sum())
        u, v = v, u
        it += 1
    return u.copy_to_host(), it


def by_forall(x, y):
    dx = cuda.to_device(x)
    add.forall(x.size)(dx, 0.5)
    add.forall(len(x), tpb=128)(dx, 0.5)
    return dx.copy_to_host()


def by_cupy_norm(x, y):
    cx = cp.asarray(x)
    cy = cp.asarray(y)
    out = cp.empty_like(cx)
    mix[blocks_for(cx.size), TPB](cx, cy, out)
    norm = cp.linalg.norm(out)
    out /= norm
    add[blocks_for(cx.size), TPB](out, 1.0)
    total = float(cp.sum(out * cx))
    return cp.asnumpy(out), total


class Result(NamedTuple):
    field: np.ndarray
    steps: int
    energy: float


def by_namedtuple(x, y):
    u = cuda.to_device(x)
    v = cuda.to_device(y)
    for s in range(3):
        smooth[1, 64](u, v)
        u, v = v, u
    host = u.copy_to_host()
    return Result(host, 3, float(np.sum(host**2)))


@dataclass
class Config:
    dt: float = 0.1
    steps: int = 4
    tpb: int = 32


def by_dataclass(x, y):
    cfg = Config(dt=0.2)
    u = cuda.to_device(x)
    for _ in range(cfg.steps):
        scale[blocks_for(x.size, cfg.tpb), cfg.tpb](u, u, 1.0 - cfg.dt)
    return u.copy_to_host()


def by_two_launch_reduce(x, y):
    blocks, tpb = launch_config(x.size)
    part = cuda.device_array(blocks, np.float32)
    block_sum[blocks, tpb](x, part)
    out = cuda.device_array(1, np.float32)
    block_sum[1, 32](part, out)
    mean = out.copy_to_host()[0] / x.size
    d = cuda.to_device(x)
    add[blocks, tpb](d, -mean)
    return d.copy_to_host()


def early(n, limit):
    if n > limit:
        return limit
    return n


def by_early_helper(x, y):
    n = early(x.size, 20)
    d = cuda.to_device(x)
    for _ in range(n // 4):
        add[1, 64](d, 0.5)
    return d.copy_to_host()


def apply_bc(u):
    if u.shape[0] < 4:
        return
    add[1, 64](u[:2], 1.0)


def by_early_host(x, y):
    u = cuda.to_device(x)
    for _ in range(3):
        apply_bc(u)
    return u.copy_to_host()


def by_grid_gen(x, y):
    d = cuda.to_device(x)
    for s in (0.5, 0.25, 0.125):
        add[blocks_for(x.size), TPB](d, s)
    for a, b in zip(COEFFS, (1.0, 2.0, 3.0)):
        scale[blocks_for(x.size), TPB](d, d, a * b)
    return d.copy_to_host()


def by_plate(x, y):
    n = x.shape[0]
    u = np.outer(x, y).astype(np.float32)
    du = cuda.to_device(u)
    dv = cuda.to_device(u)
    threads = (8, 8)
    blocks = grid2(u.shape, threads)
    for _ in range(3):
        heat2[blocks, threads](du, dv)
        du, dv = dv, du
    return du.copy_to_host()


@contextmanager
def timed(label):
    t0 = time.perf_counter()
    yield
    print(label, time.perf_counter() - t0)


def by_ctx(x, y):
    d = cuda.to_device(x)
    with timed("loop"):
        for _ in range(2):
            add[1, 64](d, 1.0)
    return d.copy_to_host()


def by_history(x, y):
    u = cuda.to_device(x)
    v = cuda.to_device(x)
    history = []
    for step in range(6):
        smooth[1, 64](u, v)
        u, v = v, u
        if step % 2 == 0:
            history.append(u.copy_to_host())
    return np.stack(history)


def by_energies(x, y):
    u = cuda.to_device(x)
    energies = np.zeros(5, dtype=np.float32)
    for step in range(5):
        add[1, 64](u, 0.1)
        energies[step] = np.sum(u.copy_to_host())
    return u.copy_to_host(), energies


State = namedtuple("State", ["u", "v"])


class Heat:
    """A rod."""

    def __init__(self, u0, alpha=0.1, tpb=64):
        self.u = cuda.to_device(u0)
        self.v = cuda.device_array_like(self.u)
        self.alpha = alpha
        self.tpb = tpb
        self.n = u0.shape[0]
        self.time = 0.0

    @property
    def blocks(self):
        return (self.n + self.tpb - 1) // self.tpb

    def step(self, dt):
        scale[self.blocks, self.tpb](self.u, self.v, 1.0 - self.alpha * dt)
        smooth[self.blocks, self.tpb](self.u, self.v)
        self._swap()
        self.time += dt

    def _swap(self):
        self.u, self.v = self.v, self.u

    def run(self, steps, dt=0.5):
        for _ in range(steps):
            self.step(dt)
        return self.result()

    def result(self):
        return self.u.copy_to_host()


def by_class(x, y):
    sim = Heat(x)
    return sim.run(4)


def by_class_attr(x, y):
    sim = Heat(x, alpha=0.2)
    sim.step(0.1)
    sim.step(0.2)
    return sim.u.copy_to_host(), sim.time


def one_step(state, dt):
    smooth[1, 64](state.u, state.v)
    return State(state.v, state.u)


def by_state(x, y):
    s = State(cuda.to_device(x), cuda.to_device(y))
    for _ in range(3):
        s = one_step(s, 0.1)
    return s.u.copy_to_host()


def by_deque(x, y):
    bufs = deque([cuda.to_device(x), cuda.to_device(y), cuda.to_device(x)])
    for _ in range(4):
        mix[1, 64](bufs[0], bufs[1], bufs[2])
        bufs.rotate(-1)
    return bufs[0].copy_to_host()


def by_indexed(x, y):
    d = [cuda.to_device(x), cuda.to_device(y)]
    for k in range(5):
        smooth[1, 64](d[k % 2], d[(k + 1) % 2])
    return d[1].copy_to_host()


def by_tuple_buf(x, y):
    pair = (cuda.to_device(x), cuda.to_device(y))
    for k in range(3):
        smooth[1, 64](pair[0], pair[1])
        pair = (pair[1], pair[0])
    a, b = pair
    return a.copy_to_host()


def by_comp(x, y):
    ds = [cuda.to_device(a) for a in (x, y)]
    for d in ds:
        add[1, 64](d, 1.0)
    return tuple(d.copy_to_host() for d in ds)


def by_dictcomp(x, y):
    host = {"x": x, "y": y}
    dev = {k: cuda.to_device(v) for k, v in host.items()}
    mix[1, 64](dev["x"], dev["y"], dev["x"])
    return {k: v.copy_to_host() for k, v in dev.items()}["x"]


def by_events(x, y):
    start, stop = cuda.event(), cuda.event()
    d = cuda.to_device(x)
    start.record()
    for _ in range(10):
        add[1, 64](d, 0.1)
    stop.record()
    stop.synchronize()
    return d.copy_to_host()


def by_assert_check(x, y):
    if x.shape != y.shape:
        raise ValueError("shapes differ")
    assert x.dtype == np.float32
    n = x.size
    out = np.empty_like(x)
    mix[blocks_for(n), TPB](x, y, out)
    cuda.synchronize()
    return out


def by_np_reduce(x, y):
    d = cuda.to_device(x)
    best = np.inf
    best_step = -1
    for k in range(5):
        add[1, 64](d, -0.3)
        err = np.abs(d.copy_to_host()).max()
        if err < best:
            best = err
            best_step = k
    return best, best_step


def by_break(x, y):
    u, v = cuda.to_device(x), cuda.to_device(x)
    err = cuda.device_array(1, np.float32)
    n_iter = 0
    for it in range(50):
        smooth[1, 64](u, v)
        h = v.copy_to_host() - u.copy_to_host()
        n_iter = it + 1
        if np.linalg.norm(h) < 1e-1:
            break
        u, v = v, u
    return v.copy_to_host(), n_iter


def by_while_true(x, y):
    u, v = cuda.to_device(x), cuda.to_device(x)
    k = 0
    while True:
        smooth[1, 64](u, v)
        u, v = v, u
        k += 1
        if k >= 7:
            break
    return u.copy_to_host()


def by_nested(x, y, outer=2, inner=3):
    u = cuda.to_device(x)
    v = cuda.to_device(y)

    def advance(a, b):
        smooth[1, 64](a, b)
        add[1, 64](b, 0.01)

    for i in range(outer):
        for j in range(inner):
            advance(u, v)
            u, v = v, u
    return u.copy_to_host()


def by_lambda(x, y):
    n = x.size
    cdiv_ = lambda a, b: (a + b - 1) // b
    d = cuda.to_device(x)
    add[cdiv_(n, 32), 32](d, 1.0)
    return d.copy_to_host()


def make(n):
    return cuda.device_array(n, dtype=np.float32), cuda.to_device(np.zeros(n, np.float32))


def by_make(x, y):
    a, b = make(x.size)
    scale[1, 64](x, a, 3.0)
    mix[1, 64](a, x, b)
    return b.copy_to_host()


def by_kwargs(x, y, *, steps=3, dt=0.5, block_size=32):
    blocks = cdiv(x.shape[0], block_size)
    d = cuda.to_device(x)
    for n in range(1, steps + 1):
        add[blocks, block_size](d, dt * n)
    return d.copy_to_host()


def by_ternary_grid(x, y):
    n = len(x)
    tpb = 32 if n < 1000 else 256
    d = cuda.to_device(np.ascontiguousarray(x, dtype=np.float32))
    add[(n + (tpb - 1)) // tpb, tpb](d, 1.0 if n > 5 else 2.0)
    return d.copy_to_host()


def by_cupy_loop(x, y):
    p = cp.array(x)
    grad = cp.zeros_like(p)
    m = cp.zeros(p.shape, dtype=cp.float32)
    lr, beta = 0.1, 0.9
    for t in range(1, 6):
        scale[1, 64](p, grad, 2.0)
        m = beta * m + (1 - beta) * grad
        mhat = m / (1 - beta**t)
        p = p - lr * mhat
    return p, cp.abs(p).max()


def by_cg(x, y):
    b = cuda.to_device(x)
    r = cp.array(x)
    p = r.copy()
    xk = cp.zeros_like(r)
    Ap = cp.empty_like(r)
    rs = cp.dot(r, r)
    for _ in range(5):
        scale[1, 64](p, Ap, 2.0)
        alpha = rs / cp.dot(p, Ap)
        xk += alpha * p
        r -= alpha * Ap
        rs_new = cp.dot(r, r)
        if cp.sqrt(rs_new) < 1e-6:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
    return xk


def by_to(x, y):
    d = cuda.to_device(x)
    cuda.to_device(y, to=d)
    add[1, 64](d, 1.0)
    return d.copy_to_host()


def by_into(x, y):
    h = np.zeros_like(x)
    d = cuda.to_device(x)
    add[1, 64](d, 1.0)
    g = d.copy_to_host(h)
    return g + h


def by_dtype(x, y):
    z = np.asarray(x, dtype=np.float64) * 1.1
    add[1, 64](z, 1.0)
    return z


def by_except_print(x, y):
    try:
        d = cuda.to_device(x)
        add[1, 64](d, 1.0)
    except Exception as e:
        print(e)
        raise
    else:
        add[1, 64](d, 2.0)
    finally:
        cuda.synchronize()
    return d.copy_to_host()


def by_except_fallback(x, y):
    d = cuda.to_device(x)
    try:
        add[1, 64](d, 1.0)
    except ZeroDivisionError:
        d = cuda.to_device(y)
    return d.copy_to_host()


def bump(a):
    add[1, 64](a, 1.0)
    return float(a.copy_to_host()[0])


def by_order(x, y):
    d = cuda.to_device(x)
    total = d.copy_to_host()[0] + bump(d)
    total2 = bump(d) + d.copy_to_host()[0]
    return total, total2, d.copy_to_host()


class Pair:
    def __init__(self, a, b):
        self.a = cuda.to_device(a)
        self.b = cuda.to_device(b)

    def flip(self):
        self.a, self.b = self.b, self.a

    def work(self, u):
        self.flip()
        add[1, 64](u, 1.0)
        mix[1, 64](self.a, u, self.b)


def by_alias_field(x, y):
    p = Pair(x, y)
    p.work(p.a)
    p.work(p.b)
    return p.a.copy_to_host(), p.b.copy_to_host()


class Base:
    def __init__(self, n):
        self.n = n


class Derived(Base):
    def __init__(self, x):
        super().__init__(x.size)
        self.u = cuda.to_device(x)

    def run(self):
        add[1, self.n](self.u, 1.0)


def by_inherit(x, y):
    s = Derived(x)
    s.run()
    return s.u.copy_to_host()


def pick(flag, a, b):
    if flag:
        return a
    return b


def by_pick(x, y):
    a, b = cuda.to_device(x), cuda.to_device(y)
    for k in range(4):
        add[1, 64](pick(k % 2 == 0, a, b), 1.0)
    return a.copy_to_host(), b.copy_to_host()


def residual(a, b, tmp):
    sqdiff[1, 64](a, b, tmp)
    return math.sqrt(tmp.copy_to_host().sum())


def by_residual(x, y):
    a, b, tmp = cuda.to_device(x), cuda.to_device(x), cuda.device_array_like(x)
    r = 10.0
    it = 0
    while r > 0.5 and it < 20:
        smooth[1, 64](a, b)
        r = residual(a, b, tmp)
        a, b = b, a
        it += 1
    return a.copy_to_host(), r


def by_while_call(x, y):
    a, b, tmp = cuda.to_device(x), cuda.to_device(y), cuda.device_array_like(x)
    it = 0
    while residual(a, b, tmp) > 0.5 and it < 5:
        smooth[1, 64](a, b)
        it += 1
    return b.copy_to_host(), it


def defaults(u, steps=2, *, s=0.5):
    for _ in range(steps):
        add[1, 64](u, s)


def by_defaults(x, y):
    d = cuda.to_device(x)
    defaults(d)
    defaults(d, s=0.25, steps=3)
    return d.copy_to_host()


def by_dict_config(x, y):
    cfg = {"steps": 3, "dt": 0.1, "tpb": 64}
    d = cuda.to_device(x)
    for _ in range(cfg["steps"]):
        add[blocks_for(x.size, cfg["tpb"]), cfg["tpb"]](d, cfg["dt"])
    return d.copy_to_host()


def by_dict_items(x, y):
    dev = {"x": cuda.to_device(x), "y": cuda.to_device(y)}
    for name, d in dev.items():
        add[1, 64](d, 1.0)
    out = {k: v.copy_to_host() for k, v in dev.items()}
    return out["x"], out["y"]


def by_dict_return(x, y):
    d = cuda.to_device(x)
    add[1, 64](d, 1.0)
    return {"u": d.copy_to_host(), "mean": float(d.copy_to_host().mean())}["u"]


def by_history_list(x, y):
    u = cuda.to_device(x)
    sums = []
    for k in range(4):
        add[1, 64](u, 0.5)
        sums.append(float(u.copy_to_host().sum()))
    return u.copy_to_host(), np.array(sums)


class Timer:
    def __enter__(self):
        self.t = time.perf_counter()
        return self

    def __exit__(self, *exc):
        print(time.perf_counter() - self.t)


def by_timer(x, y):
    d = cuda.to_device(x)
    with Timer() as t:
        add[1, 64](d, 1.0)
    return d.copy_to_host()


def by_enumerate(x, y):
    u = cuda.to_device(x)
    w = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    for i, s in enumerate(w):
        add[1, 64](u, s * i)
    return u.copy_to_host()


def by_kernel_param(x, y):
    d = cuda.to_device(x)
    for kern, s in ((add, 1.0), (add, 2.0)):
        kern[1, 64](d, s)
    return d.copy_to_host()


def launch(kernel, n, *args):
    tpb = 64
    kernel[(n + tpb - 1) // tpb, tpb](*args)


def by_launcher(x, y):
    d = cuda.to_device(x)
    launch(add, x.size, d, 1.0)
    launch(scale, x.size, d, d, 2.0)
    return d.copy_to_host()


def rebind(state):
    state = State2(state.v, state.u)
    add[1, 64](state.u, 1.0)
    return state


State2 = namedtuple("State2", "u v")


def by_rebind(x, y):
    s = State2(cuda.to_device(x), cuda.to_device(y))
    t = rebind(s)
    add[1, 64](s.u, 5.0)
    return s.u.copy_to_host(), s.v.copy_to_host(), t.u.copy_to_host(), t.v.copy_to_host()


def by_finally(x, y):
    d = cuda.to_device(x)
    try:
        add[1, 64](d, 1.0)
        return d
    finally:
        add[1, 64](d, 3.0)


def by_late(x, y):
    s = 1.0
    f = lambda d, a=s: add[1, 64](d, a)
    s = 3.0
    d = cuda.to_device(x)
    f(d)
    return d.copy_to_host()


def unused(a, b):
    return a + 1.0


def by_unused(x, y):
    d = cuda.to_device(x)
    r = unused(2.0, bump(d))
    return d.copy_to_host(), r


def norm_and_scale(u, tmp):
    scale[1, 64](u, tmp, 2.0)
    n = float(tmp.copy_to_host().max())
    if n > 2.0:
        scale[1, 64](u, u, 1.0 / n)
        return n
    if n < 0:
        return 0.0 * n
    add[1, 64](u, 0.5)
    return -n


def by_branches(x, y):
    u, tmp = cuda.to_device(x), cuda.device_array_like(x)
    a = norm_and_scale(u, tmp)
    b = norm_and_scale(u, tmp)
    return u.copy_to_host(), a, b


class Solver2:
    def __init__(self, x, y):
        self.bufs = [cuda.to_device(x), cuda.to_device(y)]
        self.cur = 0

    def step(self):
        smooth[1, 64](self.bufs[self.cur], self.bufs[1 - self.cur])
        self.cur = 1 - self.cur

    def get(self):
        return self.bufs[self.cur].copy_to_host()


def by_bufs(x, y):
    s = Solver2(x, y)
    for _ in range(3):
        s.step()
    return s.get()


def by_two(x, y):
    a, b = Pair(x, y), Pair(y, x)
    a.flip()
    mix[1, 64](a.a, b.a, b.b)
    return a.a.copy_to_host(), b.b.copy_to_host()


def by_list_of_tuples(x, y):
    pairs = [(cuda.to_device(x), 1.0), (cuda.to_device(y), 2.0)]
    for d, s in pairs:
        add[1, 64](d, s)
    return pairs[0][0].copy_to_host(), pairs[1][0].copy_to_host()


def by_dict_loop(x, y):
    st = {"u": cuda.to_device(x), "v": cuda.to_device(y), "t": 0.0}
    while st["t"] < 1.0:
        smooth[1, 64](st["u"], st["v"])
        st["u"], st["v"] = st["v"], st["u"]
        st["t"] += 0.25
    return st["u"].copy_to_host(), st["t"]


def by_append_scalars(x, y):
    d = cuda.to_device(x)
    errs = []
    for i in range(12):
        add[1, 64](d, 0.1)
        if (i + 1) % 4 == 0:
            errs.append(np.abs(d.copy_to_host()).max())
    return errs[-1], np.array(errs)


def by_shared_object(x, y):
    a = Pair(x, y)
    b = a
    a = Pair(y, x)
    b.flip()
    return a.a.copy_to_host(), b.a.copy_to_host()


def by_escapes(x, y):
    a = Pair(x, y)
    registry.append(a)
    return a.a.copy_to_host()


def first_above(n, limit):
    for k in range(n):
        if k * k > limit:
            return k
    return n


def by_out_of_a_loop(x, y):
    d = cuda.to_device(x)
    add[1, 64](d, float(first_above(10, 30)))
    return d.copy_to_host()


@cuda.jit
def axpy(x, y, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] += a * x[i]


@cuda.jit
def outer(a, b, o):
    i, j = cuda.grid(2)
    if i < o.shape[0] and j < o.shape[1]:
        o[i, j] = a[i] * b[j]


@dataclass(frozen=True)
class Setup:
    steps: int = 5
    dt: float = 0.1
    tpb: int = 32

    @property
    def half(self):
        return self.dt / 2

    def grid(self, n):
        return -(-n // self.tpb)


def run_setup(cfg, a, b):
    for k in range(cfg.steps):
        axpy[cfg.grid(a.size), cfg.tpb](a, b, cfg.half)
        if k == cfg.steps - 1:
            break
        smooth[cfg.grid(a.size), cfg.tpb](b, a)


def by_config_object(x, y):
    cfg = Setup(steps=3)
    a, b = cuda.to_device(x), cuda.to_device(y)
    run_setup(cfg, a, b)
    run_setup(replace(cfg, dt=0.2), a, b)
    return a.copy_to_host(), b.copy_to_host()


def sum_of_blocks(d_x):
    blocks = math.ceil(d_x.size / 32)
    part = cuda.device_array(blocks, dtype=d_x.dtype)
    block_sum[blocks, 32](d_x, part)
    total = 0.0
    for p in part.copy_to_host():
        total += p
    return total


def by_partials(x, y):
    d = cuda.to_device(x)
    mean = sum_of_blocks(d) / x.size
    add[(x.size + 31) // 32, 32](d, -mean)
    return d.copy_to_host(), np.float32(mean)


class Solver:
    TPB = 32

    def __init__(self, u, alpha=0.3):
        self.n = len(u)
        self.alpha = alpha
        self.u = cuda.to_device(u)
        self.tmp = cuda.device_array_like(self.u)
        self.history = []

    @staticmethod
    def blocks(n, t):
        return (n + t - 1) // t

    @classmethod
    def zeros(cls, n):
        return cls(np.zeros(n, dtype=np.float32))

    def __call__(self, steps):
        for _ in range(steps):
            self._one()
        return self

    def _one(self):
        self.tmp.copy_to_device(self.u)
        smooth[self.blocks(self.n, self.TPB), self.TPB](self.u, self.tmp)
        self.u, self.tmp = self.tmp, self.u
        self.history.append(self.alpha)

    @property
    def result(self):
        return self.u.copy_to_host()


def by_solver(x, y):
    s = Solver(x)(3)
    z = Solver.zeros(y.size)
    axpy[1, 64](s.u, z.u, s.alpha)
    return s.result, z(2).result


class Method(Enum):
    EULER = 1
    HEUN = 2
    ALIAS = 1


def advance_by(m, a, b):
    if m is Method.EULER:
        axpy.forall(a.size)(a, b, DT)
    elif m == Method.HEUN:
        axpy.forall(a.size)(b, a, 0.5)
    else:
        raise ValueError(m)


def by_enumerators(x, y):
    for m in (Method.ALIAS, Method.HEUN):
        advance_by(m, x, y)
    if Method.ALIAS is Method.EULER:
        add[1, 64](y, 1.0)
    if Method.ALIAS != Method.HEUN:
        add[1, 64](x, 1.0)


def by_lists_of_numbers(x, y):
    a, b = cuda.to_device(x), cuda.to_device(y)
    weights = [0.1, 0.2, 0.3]
    for i, w in enumerate(weights):
        axpy[1, 64](a, b, w * (i + 1))
    for w, s in zip(reversed(weights), (1, -1, 1)):
        axpy[1, 64](b, a, w * s)
    return a.copy_to_host(), b.copy_to_host()


def by_stages(x, y):
    d = [cuda.to_device(x), cuda.to_device(y), cuda.device_array_like(x)]
    stages = [(sqdiff, (0, 1, 2)), (sqdiff, (1, 2, 0))]
    for k, (i, j, m) in stages:
        k[1, 64](d[i], d[j], d[m])
    return tuple(a.copy_to_host() for a in d)


def by_computed_tuple(x, y):
    tpb = (8, 8)
    bpg = tuple(math.ceil(s / t) for s, t in zip((x.size, y.size), tpb))
    o = cuda.device_array((x.size, y.size), dtype=np.float32)
    outer[bpg, tpb](x, y, o)
    h = o.copy_to_host()
    return h.T @ x, np.trace(h), h.sum(axis=0)[::-1]


def launch_any(k, *args, n=None, tpb=32, s=1.0):
    if n is None:
        n = args[0].size
    elif n < 0:
        n = 1
    k[(n + tpb - 1) // tpb, tpb](*args, s)


def by_star_and_words(x, y):
    launch_any(add, x, s=2.0)
    launch_any(axpy, x, y)
    launch_any(axpy, y, x, s=0.25, n=x.size)


def by_elements_of_a_copy(x, y):
    d = cuda.to_device(x)
    total = 0.0
    for p in d.copy_to_host():
        add[1, 64](d, 1.0)
        total += p
    return total


def by_elements(x, y):
    smooth[1, 64](x, y)
    total = 0.0
    most = -10.0
    for v in y:
        total += v * v
        if v > most:
            most = v
    return total, most


def by_list_that_is_read(x, y):
    best = []
    for k in range(4):
        smooth[1, 64](x, y)
        x[:] = y
        best.append(float(y.max()))
        if len(best) > 2:
            add[1, 64](x, 1.0)


def by_mixed_exchange(x, y):
    a, b = cuda.to_device(x), cuda.to_device(y)
    t, n = 0.0, 1
    for k in range(5):
        smooth[1, 64](a, b)
        a, b, t, n = b, a, t + n, n + k
        add[1, 64](a, t)
    return a, b, t, n


class Called:
    def __init__(self, x):
        self.x = x
        self.k = 0

    def __call__(self, s):
        self.k += 1
        add[1, 64](self.x, s * self.k)
        return self

    @staticmethod
    def twice(v):
        return 2 * v

    @classmethod
    def of(cls, x):
        return cls(x)

    def run(self, n):
        for _ in range(n):
            self(self.twice(0.5))
        return self.k


def by_callable_object(x, y):
    c = Called.of(x)
    c(1.0)(2.0)
    k = Called(y).run(3)
    c(Called.twice(k))
    return c.k


def by_records_kept(x, y):
    best = 0.0
    seen = []
    for k in range(4):
        smooth[1, 64](x, y)
        x[:] = y
        best = max(best, float(y.max()))
        seen.append((k, best))
        if k == 3:
            print(seen[-1], len(seen))
    return best


def by_walrus(x, y):
    k = 0
    while (r := float(np.abs(x).sum())) > 3.0 and k < 6:
        k += 1
        smooth[1, 64](x, y)
        x[:] = 0.5 * y
    return k, r


def by_none_defaults(x, y, out=None, tol=None, stream=None, callback=None):
    if out is None:
        out = np.zeros_like(x)
    stream = stream or cuda.stream()
    k = 0
    for it in range(4):
        smooth[1, 64, stream](x, y)
        x[:] = y
        k += 2 if tol is None else 1
        if callback is not None:
            callback(it)
        if tol is not None and np.abs(x).max() < tol:
            break
        if callback is None or it > 1:
            k += 1
    if callback is None or (tol is None and k > 3):
        k += 100
    scale[1, 64](x, out, 2.0)
    y[:] = out
    return k


def by_streams(x, y, parts=3):
    streams = [cuda.stream() for _ in range(parts)]
    out = np.zeros(12, dtype=np.float32)
    size = 12 // parts
    for c, s in enumerate(streams):
        lo, hi = c * size, (c + 1) * size
        d = cuda.to_device(x[lo:hi], stream=s)
        add[1, 64, s](d, c)
        d.copy_to_host(out[lo:hi], stream=s)
    for s in streams:
        s.synchronize()
    for k in range(5):
        add[1, 64, streams[k % parts]](y, 1.0)
    x[:12] = out


def by_zipped_extents(x, y):
    a = x[:12].reshape(3, 4)
    d = cuda.to_device(a)
    block = (2, 8)
    grid = tuple((s + t - 1) // t for s, t in zip(a.shape, block))
    double2[grid, block](d)
    y[0] = grid[0] + 10 * grid[1]
    x[:12] = d.copy_to_host().reshape(12)


@cuda.jit
def double2(a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] *= 2.0


def by_streamed_copies(x, y):
    stream = cuda.stream()
    d = cuda.to_device(x, stream=stream)
    add[1, 64, stream](d, 1.5)
    y[0] = d.copy_to_host(stream=stream).sum()
    x[:4] = d.copy_to_host(stream=stream)[2:6]


@cuda.reduce
def whole_sum(a, b):
    return a + b


largest = cuda.reduce(lambda a, b: a if a > b else b)
product = cuda.Reduce(lambda a, b: a * b)


def by_reductions(x, y):
    d = cuda.to_device(x)
    add[1, 64](d, 2.0)
    total = whole_sum(d)
    top = largest(d)
    y[0] = whole_sum(d, init=3.0) + product(d[:4], init=2.0)
    y[1] = product(d) + largest(cuda.to_device(x - 9.0))
    x[:3] = top - total
    return total, top


def tiles_of(shape, block=(2, 8)):
    return tuple(math.ceil(s / b) for s, b in zip(shape, block))


def by_shapes(x, y):
    a = x[:12].reshape(3, 4).copy()
    rows, cols = shape = a.shape
    h, w = a.shape[:2]
    last = a.shape[-1]
    block = (2, 8)
    grid = tiles_of(shape, block)
    other = tiles_of(a.shape)
    d = cuda.to_device(a)
    double2[grid, block](d)
    dims = (rows, cols) + (2,)
    out = np.zeros((*shape, 3))
    y[0] = len(dims) + dims[-1] + np.prod(dims) + out.size + other[1] + h + w * last
    p = q = 2.5
    p = p + 1.0
    y[1] = p - q
    turned = dims[::-1]
    y[2] = turned[0] + 10 * turned[1]
    x[:12] = d.copy_to_host().reshape(-1)
    return math.prod(a.shape) * 1.0


def by_records_of_rounds(x, y):
    d = cuda.to_device(x)
    sums, frames, some = [], [], []
    for t in range(2, 9, 3):
        add[1, 64](d, 0.5 * t)
        sums.append(d.copy_to_host().sum())
    for t in range(5):
        add[1, 64](d, 0.25)
        frames.append(d.copy_to_host())
        if t % 2 == 0:
            some.append(float(d[t]) + t)
    return np.array(sums), np.stack(frames), some, sums[-1] + len(some), frames[2][3], len(frames)


def by_empty_records(x, y):
    kept = []
    for t in range(3, 3):
        add[1, 64](x, 1.0)
        kept.append(x[0])
    add[1, 64](y, 1.0)
    return y, len(kept)


def dotted(a, b, out, config):
    mul2[config](a, b, out)
    return whole_sum(out)


@cuda.jit
def mul2(a, b, o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = a[i] * b[i]


def by_configuration(x, y):
    config = ((x.size + 31) // 32, 32)
    out = cuda.device_array_like(x)
    a = dotted(x, x, out, config)
    b = dotted(x, y, out, config)
    add[config](x, b / a)
    return a, b


@dataclass
class Medium:
    speed: float
    rounds: int = 2
    label: str = "glass"

    @property
    def half(self):
        return 0.5 * self.speed


def spread(d, m: Medium, extra):
    for _ in range(m.rounds):
        add[1, 64](d, m.half + extra["shift"])
    return m.speed


def by_objects(x, y):
    m = Medium(3.0)
    extra = {"shift": 0.25, "unused": 7}
    d = cuda.to_device(x)
    s = spread(d, m, extra)
    s += spread(d, Medium(1.0, 3), dict(shift=1.0))
    x[:] = d.copy_to_host()
    return s


class Bench:
    def __init__(self, x, m: Medium, n):
        self.medium = m
        self.options = {"shift": 0.5, "n": n}
        self.d = cuda.to_device(x)

    def run(self):
        for _ in range(self.medium.rounds + self.options["n"]):
            add[1, 64](self.d, self.medium.speed * self.options["shift"])
        return self.d.copy_to_host()


def by_class_with_objects(x, y):
    bench = Bench(x, Medium(2.0), 1)
    y[:] = bench.run()


def by_unused_names(x, y):
    rng = np.random.default_rng(3)
    order = np.arange(x.size)
    t0 = time.perf_counter()
    add[1, 64](x, 1.0)
    elapsed = time.perf_counter() - t0


def by_doubled_counter(x, y):
    t = 1
    while t < 20:
        add[1, 64](x, float(t))
        t += t
    for k in range(3):
        t = t + t
    return t * 1.0


@cuda.jit
def until(x, go):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1.0
        if x[i] > 4.0:
            go[0] = 0


def by_flags(x, y):
    go = cuda.to_device(np.ones(1, dtype=np.int32))
    while go.copy_to_host()[0]:
        until[1, 64](x, go)
    n = 3
    while n:
        add[1, 64](y, 0.5)
        n -= 1
    go = cuda.to_device(np.ones(1, dtype=np.int32))
    rounds = 0
    while go[0] and not rounds > 20:
        until[1, 64](y, go)
        rounds += 1
    a, b, c = np.arange(3, 12, 4)
    first, second = y[:2].copy()
    return rounds * 1.0, a + 2 * b - c, first - second


def window_of(sigma, radius):
    t = np.arange(-radius, radius + 1)
    w = np.exp(-0.5 * (t / sigma) ** 2)
    return (w / w.sum()).astype(np.float32)


def by_windows(x, y):
    w = cuda.to_device(window_of(1.5, 6))
    out = cuda.device_array_like(x)
    mix[1, 64](x, w, out)
    y[:] = out.copy_to_host()


BLOCK2 = (8, 8)
STAGES = [0.5, 0.25]


def by_module_blocks(x, y):
    u = cuda.to_device(x[:12].reshape(3, 4))
    v = cuda.to_device(np.ones((3, 4), dtype=np.float32))
    grid = tuple((s + t - 1) // t for s, t in zip(u.shape, BLOCK2))
    heat2[grid, BLOCK2](u, v)
    heat2[(math.ceil(3 / BLOCK2[0]), math.ceil(4 / BLOCK2[1])), BLOCK2](v, u)
    d = cuda.to_device(y)
    for s in STAGES:
        add[1, 64](d, s * len(STAGES))
    return u.copy_to_host(), d.copy_to_host()


def by_begun_records(x, y):
    d = cuda.to_device(x)
    frames = [x.copy()]
    sums = [0.0, 1.0]
    for t in range(1, 5):
        add[1, 64](d, 0.5 * t)
        frames.append(d.copy_to_host())
        sums.append(float(d.copy_to_host().sum()))
    return np.stack(frames), np.array(sums)


def batches(x, y, size):
    for s in range(0, x.shape[0], size):
        yield x[s : s + size], y[s : s + size]


def countdown(n):
    k = n
    while k > 0:
        yield k * 0.5
        k -= 1


def by_generators(x, y):
    out = cuda.to_device(np.zeros(4, dtype=np.float32))
    for xb, yb in batches(x[:12], y[:12], 4):
        mix[1, 64](xb, yb, out)
        add[1, 64](out, 0.5)
    for s in countdown(3):
        add[1, 64](out, s)

    def pairs(n):
        for a in range(n):
            for b in range(a):
                yield a + b

    for s in pairs(3):
        add[1, 64](out, s * 1.0)
    return out.copy_to_host()


def by_rows(x, y):
    paths = cuda.device_array((4, x.size), np.float32)
    paths[0] = x
    for t in range(3):
        scale[1, 64](paths[t], paths[t + 1], 0.5)
    back = np.zeros((3, x.size), np.float32)
    for t in range(1, 3):
        mix[1, 64](paths[t], y, back[t - 1])
        mix[1, 64](back[t - 1], paths[0], back[t])
    return paths.copy_to_host(), back


def by_layers(x, y):
    h = x
    for _ in range(3):
        out = cuda.device_array_like(x)
        mix[(x.size + 63) // 64, 64](h, y, out)
        h = out
    return h


WEIGHTS = np.array([[4 / 6, 1 / 6], [0.5, 2.0]], dtype=np.float32)
OFFSETS = np.array([1, -1, 2], dtype=np.int32)


@cuda.jit
def taps(x, w, offsets, o):
    i = cuda.grid(1)
    if i < o.size:
        s = 0.0
        for k in range(offsets.size):
            s += w[0, k % 2] * w[1, k % 2] * x[(i + offsets[k]) % x.size]
        o[i] = s


def by_module_arrays(x, y):
    w = cuda.to_device(WEIGHTS)
    out = cuda.device_array_like(x)
    taps[1, 64](x, w, cuda.to_device(OFFSETS), out)
    back = cuda.device_array_like(y)
    taps[1, 64](out, WEIGHTS, OFFSETS, back)
    return out.copy_to_host() * WEIGHTS[1, 1] + OFFSETS.sum(), back


def by_launchers(x, y):
    d = cuda.to_device(x)
    out = cuda.device_array_like(x)
    apply = mix[blocks_for(x.size), TPB]
    for _ in range(3):
        apply(d, y, out)
        d, out = out, d
    return d


def stacked(h, layers, gains):
    for k, (w, g) in enumerate(zip(layers, gains)):
        out = cuda.device_array_like(h)
        mix[1, 64](h, w, out)
        add[1, 64](out, g if k < len(layers) - 1 else 0.0)
        h = out
    return h


def by_lists_of_layers(x, y):
    return stacked(x, [y, x, y], [0.5, 1.5, 2.5])


def watched(bufs, steps, callback=None, limit=None):
    out = cuda.device_array_like(bufs[0])
    for k in range(steps):
        mix[1, 64](bufs[0], bufs[1], out)
        if callback is not None:
            callback(k, out)
        if limit is not None and k > 0:
            add[1, 64](out, limit)
    return out


def by_callbacks(x, y):
    def shift(k, out):
        add[1, 64](out, 0.5 * k)

    a = watched([x, y], 2)
    b = watched([y, x], 3, shift)
    c = watched([y, y], 2, limit=1.5)
    return a, b, c


def by_mapped(x, y):
    dx, dy = map(cuda.to_device, (x, y))
    out = cuda.to_device(x)
    mix[1, 64](dx, dy, out)
    blocks = tuple(-(-s // 32) for s in x.shape)
    add[blocks, 32](out, 1.0)
    return out.copy_to_host()


def by_tableau(x, y):
    stages = [[], [0.5], [0.25, 0.25 / 2], [0.0, 0.0, 1.0]]
    ks = [cuda.device_array_like(x) for _ in range(4)]
    u = cuda.to_device(x)
    for step in range(3):
        for s in range(4):
            us = cuda.to_device(y)
            for j, a in enumerate(stages[s]):
                if a != 0.0:
                    mix[1, 64](us, ks[j], us)
                    add[1, 64](us, a * stages[s][-1])
            smooth[1, 64](us, u)
            ks[s].copy_to_device(u)
    return u.copy_to_host()


def by_walked(x, y):
    table = np.outer(x, y)
    last = cuda.device_array_like(y)
    for row in table:
        mix[1, 64](row, last, last)
    kept = [y]
    for k, row in enumerate(table):
        scale[1, 64](row, last, 0.5)
        if (k + 1) % 3 == 0:
            kept.append(last.copy_to_host())
    return table, np.array(kept)


def by_every_second(x, y):
    history = []
    late = [x]
    d = cuda.to_device(x)
    for t in range(1, 42):
        add[1, 64](d, 0.25)
        if t % 2 == 0:
            history.append(d.copy_to_host())
    for t in range(70):
        add[1, 64](d, 0.125)
        if (t + 1) % 9 == 0:
            late.append(d.copy_to_host())
    return np.stack(history), np.array(late)


def by_last_axis(x, y):
    out = np.zeros((3, x.size, 2), dtype=np.float32)
    for c in range(2):
        d = cuda.to_device(x)
        add[1, 64](d, 1.0 + c)
        out[..., c] = d.copy_to_host()
    return out


def by_rows_changed(x, y):
    table = np.outer(x, y)
    for row in table:
        add[1, 64](row, 0.5)
    return table


def by_blank(x, y):
    u = cuda.to_device(x)
    v = cuda.device_array_like(u)
    for _ in range(4):
        scale[1, 64](u, v, 0.5)
        add[1, 64](v, 0.25 * _)
        u, v = v, u
        if float(u.copy_to_host()[0]) > 100.0:
            break
    return u.copy_to_host()


def by_batches(x, y):
    n = len(x)
    total = cuda.to_device(np.zeros(1, dtype=np.float32))
    out = np.zeros_like(x)
    sizes = 0
    for start in range(0, n, 4):
        xb = cuda.to_device(x[start : start + 4])
        yb = cuda.to_device(y[start : start + 4])
        mix[1, 64](xb, yb, xb)
        out[start : start + 4] = xb.copy_to_host()
        sizes = 10 * sizes + xb.shape[0]
        add[1, 1](total, float(xb.copy_to_host().mean()))
    return out, total.copy_to_host(), sizes, start


def by_windows_cut_off(x, y):
    w = 3
    sums = np.zeros(x.size, dtype=np.float32)
    for t in range(x.size):
        part = cuda.to_device(x[t : t + w])
        add[1, 64](part, 1.0)
        sums[t] = part.copy_to_host().sum() / part.shape[0]
    top = cuda.to_device(x[:40])
    add[1, 64](top, 1.0)
    return sums, top.copy_to_host().sum() / top.shape[0]


TURNED = np.array([0.25, 0.5, 0.125])[::-1].copy()
SHARES = TURNED / TURNED.sum()
NOISE = np.random.default_rng(3).random(3)


@dataclass
class Outcome:
    u: np.ndarray
    total: float
    notes: list = field(default_factory=list)


class Counted:
    def __init__(self, x):
        self.x = cuda.to_device(x)
        self.last = None

    def run(self, rounds):
        for _ in range(rounds):
            add[1, 64](self.x, 0.5)
        self.last = self.x.copy_to_host()
        return self.last


def by_both_runs(x, y):
    a = Counted(x)
    left, rounds = a.run(2), 3
    b = Counted(y)
    one, other = a.run(rounds), b.run(1)
    return left, one, other, a.last


def by_loop_with_else(x, y):
    u = x.copy()
    found = 0
    for it in range(3):
        add[1, 64](u, 0.5)
        if u[0] > 100.0:
            break
    else:
        found = 7
    v = y.copy()
    count = 0
    while count < 9:
        add[1, 64](v, 1.0)
        count += 1
        for part in range(2):
            if part == 1:
                break
        if v[1] > 2.0:
            found += 1
            break
    else:
        v = 0.0 * v
    for _ in range(2):
        add[1, 64](u, 0.5)
    else:
        u = 2.0 * u
    return u, v, found, count, it


def by_logged_rounds(x, y):
    u = cuda.to_device(x)
    sums, states = [], [u.copy_to_host()]
    try:
        for t, w in enumerate(y):
            add[1, 64](u, w)
            sums.append(u.copy_to_host().sum())
            states.append(u.copy_to_host())
            print(f"round {t}: {sums[-1]}")
    finally:
        cuda.synchronize()
    np.testing.assert_allclose(sums[0], sums[0])
    return np.array(sums), np.array(states)


def helper_with_choices(x, factor, out=None, start=None):
    if out is None:
        out = np.zeros_like(x)
    scale[1, 64](x, out, factor)
    if start is not None and factor > 1.0:
        add[1, 64](out, start)
    return out


def by_choices_left_out(x, y):
    one = helper_with_choices(x, 2.0)
    two = helper_with_choices(x, 2.0, start=0.25)
    room = np.ones_like(y)
    helper_with_choices(y, 0.5, out=room)
    return one + 1, two, room


def stepped_dict(s, rounds):
    new = {}
    new["a"] = cuda.to_device(s["b"].copy_to_host())
    new["b"] = cuda.to_device(s["a"].copy_to_host())
    add[1, 64](new["a"], 0.5 * rounds)
    return new


def by_dicts_again(x, y):
    s = dict(a=cuda.to_device(x), b=cuda.to_device(y))
    t = 0.0
    for rounds in range(3):
        s = stepped_dict(s, rounds)
        s = {"b": s["a"], "a": s["b"]}
        t += 1.0
    return s["a"].copy_to_host(), s["b"].copy_to_host(), t


def by_one_dict(x, y):
    s = {"a": x.copy(), "b": y.copy()}
    t = {"a": x.copy(), "b": y.copy()}
    for _ in range(2):
        t["a"] = s["a"] + 1
        t["b"] = s["b"] + s["a"]
        add[1, 64](t["b"], 1.0)
        s = t
    return s["a"], s["b"]


def traced(x, rounds):
    u = cuda.to_device(x)
    trace = np.zeros((rounds, x.size), dtype=np.float32)
    for t in range(rounds):
        add[1, 64](u, 0.5)
        trace[t] = u.copy_to_host()
    return trace


def by_parts_of_results(x, y):
    last = traced(x, 3)[-1]
    buffers = [cuda.to_device(x), cuda.to_device(y)]
    o = cuda.device_array_like(x)
    mix[1, 64](*buffers, o)
    w = cuda.to_device(SHARES.astype(np.float32))
    add[1, 64](w, 1.0)
    return last, o.copy_to_host(), w.copy_to_host(), (2 * y + 1).sum()


def by_outcome(x, y):
    u = cuda.to_device(x)
    add[1, 64](u, 0.5)
    made = u.copy_to_host()
    return Outcome(made, made.sum())


def by_noise_of_the_module(x, y):
    w = cuda.to_device(NOISE)
    add[1, 64](w, 1.0)
    return w.copy_to_host()


class Halved:
    factor = 0.5

    def forward(self, u):
        y = cuda.device_array_like(u)
        scale[1, 64](u, y, self.factor)
        return y


class Shifted:
    def __init__(self, by):
        self.by = by

    def forward(self, u):
        y = cuda.to_device(np.zeros(u.size, dtype=np.float32))
        mix[1, 64](y, u, y)
        add[1, 64](y, self.by)
        self.last = y
        return y


class Chain:
    def __init__(self, by):
        self.parts = [Halved(), Shifted(by), Halved()]
        self.first = Shifted(2.0 * by)

    def forward(self, u):
        u = self.first.forward(u)
        for part in self.parts:
            u = part.forward(u)
        return u


def by_local_of_the_same_name(x, y):
    part = Shifted(0.5)
    y = part.forward(y)
    for _ in range(2):
        y = part.forward(y)
    return y.copy_to_host()


def by_objects_in_lists(x, y):
    chain = Chain(0.25)
    u = chain.forward(cuda.to_device(x))
    for at, part in enumerate(reversed(chain.parts)):
        u = part.forward(u)
        add[1, 64](u, float(at))
    stages = [Shifted(1.0), Halved()]
    for stage in stages:
        u = stage.forward(u)
    return u.copy_to_host(), chain.parts[1].last.copy_to_host(), stages[0].by


def make_step(n, by):
    grid = (n + 63) // 64
    y = cuda.device_array(n, dtype=np.float32)

    def step(u):
        scale[grid, 64](u, y, 0.5)
        mix[grid, 64](y, u, u)
        add[grid, 64](u, by)

    return step


def make_rule(a):
    return lambda t: a * t + 1.0


def by_made_functions(x, y):
    by = 0.5
    step, other = make_step(x.size, by), make_rule(2.0)
    by = 100.0
    again = make_step(y.size, 0.125)
    u, v = cuda.to_device(x), cuda.to_device(y)
    for _ in range(2):
        step(u)
        again(v)
    return u.copy_to_host(), other(v.copy_to_host()), by


def by_counts(x, y, sizes=(3, 2 * 2, -(1))):
    u = cuda.to_device(x)
    counts = [int((x > 0.0).sum())]
    buffers = [u, cuda.device_array_like(u)]
    a, b, c = sizes
    for _ in range(3):
        scale[1, 64](buffers[_ % 2], buffers[(_ + 1) % 2], 1.5)
        counts.append(int((buffers[(_ + 1) % 2].copy_to_host() > 1.0).sum()))
    return np.array(counts), a + b * c, buffers[1].copy_to_host()


class Moved:
    TPB = 32

    def __init__(self, x):
        self.x = cuda.to_device(x)
        self.grid = math.ceil(len(x) / Moved.TPB)

    def step(self, rounds=2):
        for _ in range(rounds):
            add[self.grid, Moved.TPB](self.x, 0.5)
        return self

    def rows(self):
        return np.stack((self.x.copy_to_host(), self.x.copy_to_host()))


def by_steps_in_a_chain(x, y):
    last = []
    moved = Moved(y)
    for _ in range(2):
        moved.step(1)
        last.append(moved.x.copy_to_host()[-1])
    return Moved(x).step().step(3).rows(), np.array(last), np.diff(moved.rows(), axis=0), (2.0 * x + y)[3]


def halves_of(n):
    return n // 2


def errors(a, b):
    r = np.zeros_like(a)
    sqdiff[(a.size + 63) // 64, 64](a, b - 0.5, r)
    return r, (b + r).sum()


def by_parts_given(x, y):
    n = halves_of(x.size)
    worst = np.zeros(2)
    for part in range(2):
        lo, hi = part * n, (part + 1) * n
        r, total = errors(x[lo:hi], y[lo:hi])
        worst[part] = total
    both = np.concatenate((x[:n], y[n:]))
    h = 0.25
    h *= min(2.0, max(0.5, h))
    add[1, 64](both, h)
    last = errors(both, 2.0 * y)[0]
    return worst.max(), both, last


def halved_sum(a, b):
    y = np.zeros_like(a)
    mix[1, 64](a, b, y)
    return y


def by_rows_of_a_list(x, y):
    out = []
    for _ in range(2):
        x = halved_sum(x, y)
        out.append(x)
    y = halved_sum(y, y)
    both = np.array([x + y, y])
    return np.array(out), both.sum(axis=0), y


@dataclass
class Rod:
    u: object
    steps: int = 2


@dataclass
class Heated(Rod):
    by: float = 1.0
    log: float = 0.0

    def __post_init__(self):
        self.d = cuda.to_device(self.u)
        self.half = self.by / 2

    def go(self):
        for _ in range(self.steps):
            add[1, 64](self.d, self.by)
            self.log += self.half


def by_made_by_fields(x, y):
    a = Heated(x, 3, 0.5)
    b = Heated(u=y, log=2.0)
    a.go()
    b.go()
    return a.d.copy_to_host(), b.d.copy_to_host(), a.log + b.log


class Grown(Heat):
    @classmethod
    def begun(cls, u, alpha):
        return cls(u, alpha=alpha * 2)


def by_a_method_that_makes_one(x, y):
    rod = Grown.begun(x, 0.1)
    return rod.run(3)


def by_conditions(x, y):
    d = cuda.to_device(np.where(x > 0, x, -y))
    add[1, 64](d, 1.0)
    h = d.copy_to_host()
    h[h < 0.5] = 0.25
    m = (h > 0.3) & (x < 1.0)
    h[m] *= 2
    h[~m] -= y[~m] * 0.5
    return h, h[m].sum() + np.mean(h[(h > 0) | (y > 0)]), np.count_nonzero(~m)


def by_ranges_of_a_type(x, y):
    a = b = np.arange(x.size, dtype=np.int32)
    add[1, 64](a, 2)
    c = np.arange(0.5, 3, 0.5, dtype=np.float32)
    add[1, 64](c, 1.0)
    return b // 2, c, np.linspace(0, 1, 5, dtype=np.float32)


def by_captured_numbers(x, y):
    n = x.size
    c = 0.5

    @cuda.jit(device=True)
    def damped(v):
        return v * c

    @cuda.jit
    def shift_damped(u, v):
        i = cuda.grid(1)
        if 0 < i < n - 1:
            v[i] = damped(u[i - 1]) + u[i + 1]

    a, b = cuda.to_device(x), cuda.to_device(x)
    for _ in range(3):
        shift_damped[(n + 63) // 64, 64](a, b)
        a, b = b, a
    return a.copy_to_host()


def bumped(d):
    add[1, 64](d, 1.0)
    return d


def by_calls_in_what_is_left_out(x, y):
    d = cuda.to_device(x)
    print(bumped(d).copy_to_host().sum())
    assert bumped(d) is not None
    if bumped(d).size == 0:
        raise ValueError("empty")
    return d.copy_to_host()


def by_one_array_kept(x, y):
    h = np.empty_like(x)
    keep = []
    d = cuda.to_device(x)
    for k in range(3):
        add[1, 64](d, 1.0)
        d.copy_to_host(h)
        keep.append(h)
    return keep[0] + keep[2], np.array(keep)


def by_types_by_place(x, y):
    a = np.array(x * 3, np.int32)
    add[1, 64](a, 1)
    b = np.ascontiguousarray(x * 5, np.int16)
    c = np.zeros_like(a, np.float32)
    c += 0.5
    return a / 2, b // 2, c, np.full_like(a, 2.9), np.array([1, 2.5], "int32")


class Stepped:
    scale = 2.0

    def __init__(self, u):
        self.u = u
        self.v = u

    def go(self):
        add[1, 64](self.u, self.scale)
        self.scale = self.scale + 1
        add[1, 64](self.v, self.scale)


def by_what_a_class_begins_with(x, y):
    s, t = Stepped(cuda.to_device(x)), Stepped(cuda.to_device(y))
    s.go()
    t.go()
    s.go()
    return s.u.copy_to_host(), t.v.copy_to_host(), s.scale + t.scale


def by_exchanged_elements(x, y):
    a = x.copy()
    a[0], a[1] = a[1], a[0]
    i, j = 2, 5
    a[i], a[j], i = a[j], a[i], 7
    m = np.stack([x, y])
    m[0], m[1] = m[1].copy(), m[0].copy()
    add[1, 64](a, 1.0 if i in (3, 7) else 2.0)
    return a, m, i


def by_named_forall(x, y):
    d, e = cuda.to_device(x), cuda.to_device(y)
    launch = mix.forall(len(x))
    launch(d, e, d)
    d.copy_to_host(ary=y)


def by_plain_words(x, y):
    whole, rest = divmod(x.size, 4)
    d = cuda.to_device(np.hstack([x, [1.0, 2.0]]).astype(np.float32))
    for n, (a, b) in enumerate(zip((0.5, 0.25), (1.0, 2.0)), start=1):
        add[blocks_for(d.size), TPB](d, n * a + b)
    add[blocks_for(d.size), TPB](d, max([whole, rest, 2]))
    seen = None
    h = d.copy_to_host()
    return h, np.nonzero(h > 7.0)[0].size, np.percentile(h, 30), np.quantile(h, 0.6), np.inner(h, h)


def by_halves(x, y):
    d = cuda.to_device(x)
    n = x.size // 2
    mix[1, TPB](d[:n], d[n : 2 * n], d[:n])
    mix[1, TPB](d[:-n], y, d[-n:])
    scale[1, TPB](d[1::2], d[::2], 3.0)
    scale[1, TPB](d[1:3], d[3:5], 2.0)
    return d.copy_to_host()


def by_values_before(x, y):
    d = cuda.to_device(x)
    t = float(y[0])
    u, v = cuda.to_device(x), cuda.to_device(y)
    for n, (a, b) in enumerate(zip([t, 2.0 * t], (1.0, d[2]))):
        add[1, 64](d, a * b + n)
        t = t * 3.0
    for buf in (u, v, u):
        add[1, 64](buf, t)
        u, v = v, u
    return d.copy_to_host(), u.copy_to_host()
