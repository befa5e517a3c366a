"""Guards within sums, loops, helpers and several outputs."""

import math

from numba import cuda, float64


# x=g(6), y=z(6), n=6
def clamp_ties(x, y, n):
    for i in range(n):
        y[i] = min(max(x[i] * 2.0, -1.0), 1.0) ** 2 + abs(x[i])


# x=a(0.,0.,4.,9.), w=a(1.,2.,0.,3.), y=z(4), n=4
def masked_product(x, w, y, n):
    for i in range(n):
        if w[i] > 0.0 and x[i] > 0.0:
            y[i] = w[i] * math.log(x[i] / w[i])


# x=a(0.,1.,4.,9.), y=z(4), n=4
def kl_like(x, y, n):
    s = 0.0
    for i in range(n):
        s += x[i]
    for i in range(n):
        p = x[i] / s
        y[i] = -p * math.log(p) if p > 0.0 else 0.0


# x=a(0.,1.,4.,9.), n=4
def entropy_scalar(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
    h = 0.0
    for i in range(n):
        if x[i] > 0.0:
            h -= x[i] / s * math.log2(x[i] / s)
    return h


# x=a(1., 2., 4., 0.), n=4
def std(x, n):
    m = 0.0
    for i in range(n):
        m += x[i]
    m = m / n
    v = 0.0
    for i in range(n):
        v += (x[i] - m) ** 2
    if v > 0.0:
        return math.sqrt(v / n)
    return 0.0


# x=np.array([[1.,1.,1.],[1.,2.,4.],[0.,0.,0.]]), y=z(3,3), n=3, m=3
def standardise(x, y, n, m):
    for i in range(n):
        mu = 0.0
        for j in range(m):
            mu += x[i, j]
        mu /= m
        var = 0.0
        for j in range(m):
            var += (x[i, j] - mu) ** 2
        sd = math.sqrt(var / m)
        for j in range(m):
            if sd > 0:
                y[i, j] = (x[i, j] - mu) / sd
            else:
                y[i, j] = 0.0


# x=np.array([[0.,3.,1.],[1.,2.,4.],[0.,0.,0.]]), y=z(3), n=3, m=3
def pearson_zero(x, y, n, m):
    for i in range(n):
        mu = 0.0
        for j in range(m):
            mu += x[i, j]
        mu /= m
        a = 0.0
        b = 0.0
        for j in range(m):
            d = x[i, j] - mu
            a += d * d
            b += d * x[0, j]
        r = 0.0
        if a > 1e-12:
            r = b / math.sqrt(a)
        y[i] = r * r


# p=g(5,3), q=np.array([[0.,0.,0.]]).repeat(5,0), y=z(5), n=5
def cosine_sim(p, q, y, n):
    for i in range(n):
        dot = 0.0
        pp = 0.0
        qq = 0.0
        for d in range(3):
            dot += p[i, d] * q[i, d]
            pp += p[i, d] ** 2
            qq += q[i, d] ** 2
        den = math.sqrt(pp) * math.sqrt(qq)
        if den == 0.0:
            y[i] = 0.0
        else:
            y[i] = dot / den


# a=a(1.,0.,1.,2.), b=a(-3.,1.,1.,0.), c=a(2.,1.,1.,5.), r=z(4), s=z(4), n=4
def quadratic(a, b, c, r, s, n):
    for i in range(n):
        if a[i] == 0.0:
            r[i] = -c[i] / b[i] if b[i] != 0.0 else 0.0
            continue
        disc = b[i] * b[i] - 4.0 * a[i] * c[i]
        if disc < 0.0:
            continue
        q = math.sqrt(disc)
        r[i] = (-b[i] + q) / (2.0 * a[i])
        s[i] = (-b[i] - q) / (2.0 * a[i])


# x=a(-3.,0.,2.), y=a(0.,0.,-1.), z_=a(0.,0.,0.), o=z(3), n=3
def norm3(x, y, z_, o, n):
    for i in range(n):
        r = math.sqrt(x[i] * x[i] + y[i] * y[i] + z_[i] * z_[i])
        if r < 1e-12:
            o[i] = 0.0
        else:
            o[i] = x[i] / r + math.acos(y[i] / (r + 1.0))


# x=a(-3.,0.,2.,0.5), y=z(4), n=4
def nested_loops_mask(x, y, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            if i != j:
                d = x[i] - x[j]
                if abs(d) > 1e-9:
                    for k in range(3):
                        s += 1.0 / (d * d + k)
        y[i] = s


# x=a(-3.,0.,2.,0.5), y=z(4), n=4
def while_dead(x, y, n):
    for i in range(n):
        v = x[i]
        k = 0
        while v > 1e-3 and k < 50:
            v = v / 2.0 - math.sqrt(v) * 0.01
            k += 1
        y[i] = v


# x=a(-3.,0.,2.,0.5), y=z(4), n=4
def while_log(x, y, n):
    for i in range(n):
        v = x[i]
        s = 0.0
        for k in range(10):
            if v <= 0.1:
                break
            s += math.log(v)
            v = v - 0.3
        y[i] = s + v


# x=a(1.,2.,0.,3.,0.), y=z(5), n=5
def gap_fill(x, y, n):
    last = 0.0
    for i in range(n):
        if x[i] != 0.0:
            last = 1.0 / x[i]
        y[i] = last


# x=a(1.,2.,0.,3.,0.), y=z(5), n=5
def cumdiv(x, y, n):
    v = 1.0
    for i in range(n):
        if x[i] > 0.0:
            v = v / x[i] + math.sqrt(x[i])
        y[i] = v


# x=a(1.,2.,0.,3.,0.), n=5
def product_of(x, n):
    p = 1.0
    for i in range(n):
        p *= x[i]
    return p


# x=a(1.,2.,0.,3.,5.), n=5
def product_one_zero(x, n):
    p = 1.0
    for i in range(n):
        p *= x[i]
    return p


# x=a(1.,2.,-1.,3.,5.), n=5
def geometric(x, n):
    p = 1.0
    c = 0
    for i in range(n):
        if x[i] > 0.0:
            p *= x[i]
            c += 1
    if c == 0:
        return 0.0
    return p ** (1.0 / c)


# threads=6, k=i(0,1,0,2,1,0), x=a(1.,5.,2.,3.,4.,0.), h=a(0.,0.,0.,0.)
@cuda.jit
def bucket_max(k, x, h):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.max(h, k[i], x[i] * x[i])


# threads=6, k=i(0,1,0,2,1,0), x=a(1.,5.,2.,3.,4.,0.), h=a(0.,0.,0.,0.)
@cuda.jit
def bucket_add(k, x, h):
    i = cuda.grid(1)
    if i < x.shape[0]:
        if x[i] > 0.0:
            cuda.atomic.add(h, k[i], math.log(x[i]))


# threads=8, x=a(1.,5.,2.,3.,4.,0.), y=z(6)
@cuda.jit
def padded_last(x, y):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    if x[i] <= 0.0:
        y[i] = -1.0
        return
    y[i] = 1.0 / x[i] + math.sqrt(x[i])


# threads=(4,4), p=g(4,2), out=z(4)
@cuda.jit
def pair_atomic(p, out):
    i, j = cuda.grid(2)
    if i < p.shape[0] and j < p.shape[0] and i != j:
        dx = p[i, 0] - p[j, 0]
        dy = p[i, 1] - p[j, 1]
        cuda.atomic.add(out, i, 1.0 / math.sqrt(dx * dx + dy * dy))


# threads=5, x=a(0.,1.,2.,-2.,3.), y=z(5)
@cuda.jit
def local_array(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        t = cuda.local.array(3, float64)
        for k in range(3):
            t[k] = x[i] + k
        s = 0.0
        for k in range(3):
            if t[k] > 0.0:
                s += 1.0 / t[k]
        y[i] = s


# x=a(0.,1.,2.,-2.,3.), n=5
def inplace(x, n):
    for i in range(n):
        if x[i] > 0.0:
            x[i] = math.sqrt(x[i])
        else:
            x[i] = x[i] * 0.5


# x=a(0.,1.,2.,-2.,3.), n=5, steps=4
def inplace_steps(x, n, steps):
    for t in range(steps):
        for i in range(n):
            if x[i] > 0.0:
                x[i] = x[i] - 0.1 * math.sqrt(x[i])


def smooth(r):
    if r >= 1.0:
        return 0.0
    if r <= 0.0:
        return 1.0
    return math.exp(1.0 - 1.0 / (1.0 - r * r))


# x=a(0.,1.,2.,-2.,0.5,0.9), y=z(6), n=6
def bump(x, y, n):
    for i in range(n):
        y[i] = smooth(x[i])


def spline(q):
    if q > 2.0:
        return 0.0
    if q > 1.0:
        return 0.25 * (2.0 - q) ** 3
    return 1.0 - 1.5 * q**2 + 0.75 * q**3


# p=g(6,2), rho=z(6), n=6, h=0.7
def sph(p, rho, n, h):
    for i in range(n):
        s = 0.0
        for j in range(n):
            dx = p[i, 0] - p[j, 0]
            dy = p[i, 1] - p[j, 1]
            s += spline(math.sqrt(dx * dx + dy * dy) / h) if i != j else spline(0.0)
        rho[i] = s


# x=a(0.,1.,-2.,0.5), y=z(4), n=4
def elu_selu(x, y, n):
    for i in range(n):
        v = x[i]
        y[i] = v if v > 0.0 else 1.67 * (math.exp(v) - 1.0)


# x=a(0.,1000.,-2000.,0.5), y=z(4), n=4
def elu_overflow(x, y, n):
    for i in range(n):
        v = x[i]
        if v > 0.0:
            y[i] = v
        else:
            y[i] = math.expm1(v)


# x=a(0.,400.,-800.,0.5), y=z(4), n=4
def logcosh(x, y, n):
    for i in range(n):
        v = abs(x[i])
        if v > 20.0:
            y[i] = v - math.log(2.0)
        else:
            y[i] = math.log(math.cosh(x[i]))


# x=a(0.,1.,2.,-2.,3.), y=z(5), n=5
def tan_guard(x, y, n):
    for i in range(n):
        c = math.cos(x[i])
        if abs(c) > 0.5:
            y[i] = math.sin(x[i]) / c + math.tan(x[i])


# x=a(0.,0.,2.,-2.,3.), s=i(1,0,1,2,0), y=z(5), n=5
def switch_material(x, s, y, n):
    for i in range(n):
        if s[i] == 0:
            y[i] = 2.0 * x[i]
        elif s[i] == 1:
            y[i] = math.sqrt(x[i] + 1.0)
        else:
            y[i] = 1.0 / x[i]


# x=a(0.,1.,2.,3.), e=a(0.,0.,2.,-1.), y=z(4), n=4
def pow_zero_exponent(x, e, y, n):
    for i in range(n):
        y[i] = x[i] ** e[i] if x[i] > 0 or e[i] == 0 else 0.0


# x=a(0.,1.,2.,3.), y=z(4), n=4, p=2.5
def pow_scalar(x, y, n, p):
    for i in range(n):
        y[i] = x[i] ** p


# x=a(0.,1.,-2.,3.), y=z(4), n=4, p=3
def pow_int_param(x, y, n, p):
    for i in range(n):
        y[i] = x[i] ** p


# t=a(0.,0.,1.,2.), v=a(1.,2.,3.,4.), q=a(0.,0.5,1.5,3.), y=z(4), n=4, m=4
def interp(t, v, q, y, n, m):
    for i in range(n):
        for k in range(m - 1):
            if q[i] >= t[k] and q[i] <= t[k + 1]:
                w = t[k + 1] - t[k]
                if w > 0.0:
                    y[i] = v[k] + (v[k + 1] - v[k]) * (q[i] - t[k]) / w


# x=a(2.,-1.,0.), y=z(3), n=3
def chained_helpers(x, y, n):
    for i in range(n):
        if x[i] > 0.0:
            a = math.log(x[i])
            b = math.sqrt(a) if a > 0.0 else 0.0
            y[i] = 1.0 / b if b > 0.0 else 0.0


# x=g(4,6), y=z(4), n=4, m=6
def topk_mean(x, y, n, m):
    for i in range(n):
        a = -1e30
        b = -1e30
        for j in range(m):
            v = x[i, j]
            if v > a:
                b = a
                a = v
            elif v > b:
                b = v
        y[i] = math.sqrt(a - b) + a


# a=np.array([[4.,2.,0.],[2.,3.,1.],[0.,1.,2.]]), n=3
def cholesky(a, n):
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                a[i, j] -= a[i, k] * a[j, k]
        d = math.sqrt(a[j, j])
        for i in range(j, n):
            a[i, j] = a[i, j] / d


# x=a(0.,1.,-1.,0.5), y=z(4), n=4
def float_int_casts(x, y, n):
    for i in range(n):
        k = int(x[i] * 4.0)
        f = x[i] * 4.0 - k
        y[i] = f * f + (1.0 / k if k != 0 else 0.0) * x[i]


# x=a(3.,0.,-1.,0.5), y=z(4), n=4
def recip_chain(x, y, n):
    for i in range(n):
        v = x[i]
        if v:
            v = 1.0 / v
            if v > 0:
                v = math.sqrt(v)
                v = math.log(v) if v != 1.0 else v
        y[i] = v
