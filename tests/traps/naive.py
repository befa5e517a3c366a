"""The naive forms of the trap samples: written by hand, right in value, one ``where`` after the operation.

Each takes the arguments of the sample by name and returns what the emitted function returns (a tuple if several).
"""

import jax
import jax.numpy as jnp


def coulomb_self(phi, q, x):
    d = jnp.abs(x[:, None] - x)
    return jnp.sum(jnp.where(jnp.eye(len(x), dtype=bool), 0.0, q / d), axis=1)


def masked_softmax(y, x, bias):
    v = x + bias
    m = v.max(axis=1, keepdims=True)
    e = jnp.exp(v - m)
    return jnp.where(m == -jnp.inf, 0.0, e / e.sum(axis=1, keepdims=True))


def option_expiry(price, s, k, t, vol, rate):
    sq = vol * jnp.sqrt(t)
    d1 = (jnp.log(s / k) + (rate + 0.5 * vol**2) * t) / sq
    cdf = jax.scipy.stats.norm.cdf
    discounted = k * jnp.exp(-rate * t)
    still = jnp.where(sq == 0, jnp.maximum(s - discounted, 0.0), s * cdf(d1) - discounted * cdf(d1 - sq))
    return jnp.where(t <= 0, jnp.maximum(s - k, 0.0), still)


def ray_sphere(t, ox, oy, dx, dy, radius):
    b = ox * dx + oy * dy
    disc = b * b - (ox * ox + oy * oy - radius * radius) * (dx * dx + dy * dy)
    root = jnp.sqrt(disc)
    near, far = -b - root, -b + root
    return jnp.where(disc < 0, -1.0, jnp.where(near > 0, near, jnp.where(far > 0, far, -1.0)))


def polar_origin(r, theta, x, y):
    origin = x * x + y * y < 1e-9
    return jnp.where(origin, 0.0, jnp.sqrt(x * x + y * y)), jnp.where(origin, 0.0, jnp.arctan2(y, x))


def unit_vectors(u, x):
    n = jnp.sqrt((x**2).sum(axis=1, keepdims=True))
    return jnp.where(n > 1e-3, x / n, x)


def guarded_newton(root, error, rounds, c, limit):
    v, n, done = c, jnp.zeros(c.shape, int), jnp.zeros(c.shape, bool)
    for _ in range(25):
        step = (v * v - c) / (2.0 * v)
        v, n = jnp.where(done, v, v - step), jnp.where(done, n, n + 1)
        done = done | (jnp.abs(step) < 1e-12)
    good = c > 0
    root = jnp.where(good & (c > limit), v, root)
    error = jnp.where(good & (c <= limit), v - 0.5 * c, error)
    return root, error, jnp.where(good, n, 0)


def draining_tanks(y, level, rate):
    v, dry = level, jnp.zeros(level.shape, bool)
    for _ in range(12):
        dry = dry | (v <= 0)
        v = jnp.where(dry, v, v - rate * jnp.sqrt(v))
    return v


def signed_power(y, x, p):
    return jnp.where(x > 0, x**p, jnp.where(x < 0, -((-x) ** p), 0.0))


def ellpack_padding(y, val, col, x):
    return jnp.sum(jnp.where(col >= 0, val * x[jnp.maximum(col, 0)], 0.0), axis=1)


def repeated_knots(y, xq, xs, ys):
    k = jnp.maximum(jnp.searchsorted(xs[:-1], xq, side="right") - 1, 0)
    h = xs[k + 1] - xs[k]
    t = (xq - xs[k]) / h
    return jnp.where(h > 0, (1 - t) * ys[k] + t * ys[k + 1], ys[k])


def vector_angle(theta, u, v):
    nu, nv = jnp.sqrt((u * u).sum(axis=1)), jnp.sqrt((v * v).sum(axis=1))
    c = (u * v).sum(axis=1) / (nu * nv)
    angle = jnp.where(c > 0.999, 0.0, jnp.where(c < -0.999, jnp.pi, jnp.arccos(c)))
    return jnp.where((nu < 1e-6) | (nv < 1e-6), 0.0, angle)


def empty_rows(out, x, scale, length):
    total = jnp.sum(jnp.where(jnp.arange(x.shape[1]) < length[:, None], jnp.exp(x), 0.0), axis=1)
    return jnp.where(length > 0, jnp.log(scale * total), 0.0)


def period_wrap(y, x, period):
    return jnp.where(period > 0, jnp.fmod(x, period) / period, x)


def gravity(ax, ay, body, n):
    dx, dy = (body[:, c] - body[:, c, None] for c in (0, 1))
    r2 = dx * dx + dy * dy
    s = jnp.where(r2 < 1e-6, 0.0, body[:, 3] * r2**-1.5)
    return jnp.sum(s * dx, axis=1), jnp.sum(s * dy, axis=1)


def bond_angle(e, x, a, b, c, m):
    p = x.reshape(-1, 2)
    u, v = p[a] - p[b], p[c] - p[b]
    uu, vv = (u * u).sum(axis=1), (v * v).sum(axis=1)
    cs = jnp.clip((u * v).sum(axis=1) / jnp.sqrt(uu * vv), -0.9999, 0.9999)
    return jnp.where((uu < 1e-12) | (vv < 1e-12), 0.0, jnp.arccos(cs))


def slope_limiter(y, u, n):
    dl, dr = u[1:-1] - u[:-2], u[2:] - u[1:-1]
    slope = jnp.where(dl * dr > 0, dl * dr * (dl + dr) / (dl * dl + dr * dr), 0.0)
    return y.at[1:-1].set(u[1:-1] + 0.5 * slope)


def material_switch(y, x, kind, n):
    laws = [jnp.log(x), jnp.sqrt(x), 1 / x, jnp.arcsin(x)]
    return jnp.select([kind == k for k in range(4)], laws, x * x)


def correlation(r, a, b, rows, n):
    a, b = a.reshape(rows, n), b.reshape(rows, n)
    norm = jnp.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return jnp.where(norm > 1e-3, (a * b).sum(axis=1) / norm, 0.0)


def dry_cells(flux, h, hu, n):
    u, c = jnp.where(h > 1e-6, hu / h, 0.0), jnp.where(h > 1e-6, jnp.sqrt(h), 0.0)
    sl, sr = jnp.minimum(u[:-1] - c[:-1], u[1:] - c[1:]), jnp.maximum(u[:-1] + c[:-1], u[1:] + c[1:])
    mean = (sr * hu[:-1] - sl * hu[1:] + sl * sr * (h[1:] - h[:-1])) / (sr - sl)
    return jnp.where(sr - sl > 1e-6, mean, 0.0)


def quaternion(q, n):
    rows = q.reshape(n, 4)
    norm = (rows * rows).sum(axis=1, keepdims=True)
    return jnp.where(norm > 1e-12, rows / jnp.sqrt(norm), jnp.array([1.0, 0.0, 0.0, 0.0])).ravel()


def frozen_newton(y, guess, c, n):
    v, stopped = guess, jnp.zeros(n, bool)
    for _ in range(20):
        stopped = stopped | (jnp.abs(2 * v) < 1e-9)
        v = jnp.where(stopped, v, v - (v * v - c) / (2 * v))
    return v


def farthest(reach, p, n):
    d = p[:, None] - p
    return jnp.sqrt((d * d).sum(axis=-1)).max(axis=1)


def normalized(u, w, x, eps, most, n):
    v = x.reshape(n, 3)
    norm = jnp.sqrt((v * v).sum(axis=1))
    unit = v / jnp.maximum(norm, eps)[:, None]
    return unit.ravel(), jnp.minimum(1.0 / norm, most) + jnp.maximum(jnp.log(norm), -4.0)
