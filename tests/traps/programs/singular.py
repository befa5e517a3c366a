"""Singular points behind helpers, branches of branches, ragged rows, exits and long products."""

import math

from numba import cuda


# v=a(0.,1.,-2.,0.,3.), w=a(0.,2.,1.,4.,0.), y=z(5), threads=5
@cuda.jit
def div_either(v, w, y):
    i = cuda.grid(1)
    if i >= y.size:
        return
    if v[i] == 0.0 and w[i] == 0.0:
        y[i] = 1.0
    elif w[i] == 0.0:
        y[i] = w[i] / v[i]
    else:
        y[i] = v[i] / w[i]


# p=a(0.,4.,9.,-1.), q=a(0.,0.,2.,5.), o=z(4), n=4
def sqrt_of_diff(p, q, o, n):
    for t in range(n):
        d = p[t] - q[t]
        if d < 0.0:
            o[t] = -math.sqrt(-d)
        elif d > 0.0:
            o[t] = math.sqrt(d)
        else:
            o[t] = 3.0 * p[t]


def inv_norm(a, b, c):
    s = a * a + b * b + c * c
    if s == 0.0:
        return 0.0
    return 1.0 / math.sqrt(s)


def unit_x(a, b, c):
    return a * inv_norm(a, b, c)


# v=np.array([[0.,0.,0.],[1.,2.,2.],[0.,3.,4.],[0.,0.,0.]]), o=z(4,3), n=4
def nested_helpers(v, o, n):
    for i in range(n):
        o[i, 0] = unit_x(v[i, 0], v[i, 1], v[i, 2])
        o[i, 1] = unit_x(v[i, 1], v[i, 2], v[i, 0])
        o[i, 2] = unit_x(v[i, 2], v[i, 0], v[i, 1])


# x=a(0.,8.,-8.,1e-30), y=z(4), threads=8
@cuda.jit
def cube_root(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        if abs(x[i]) > 1e-20:
            y[i] = math.copysign(abs(x[i]) ** (1.0 / 3.0), x[i])
        else:
            y[i] = x[i]


# b=a(-2.,0.,2.,-3.,0.), e=a(2.,0.,-1.,3.,2.), y=z(5), n=5
def pow_cases(b, e, y, n):
    for i in range(n):
        if b[i] > 0.0:
            y[i] = b[i] ** e[i]
        elif b[i] == 0.0:
            y[i] = 0.0 if e[i] > 0.0 else 1.0
        else:
            m = (-b[i]) ** e[i]
            y[i] = -m if e[i] == 3.0 else m


# b=a(-2.,0.,2.,-3.,0.), y=z(5), n=5
def pow_const(b, y, n):
    for i in range(n):
        y[i] = b[i] ** 3 + b[i] ** 0 + (b[i] ** 2.0) * 0.5
        if b[i] > 0.0:
            y[i] += b[i] ** 0.5 + b[i] ** -1.5 + b[i] ** -2


# b=a(0.,0.5,-1.,2.), k=i(0,1,2,0), y=z(4), n=4
def pow_int_array(b, k, y, n):
    for i in range(n):
        y[i] = b[i] ** k[i]


# x=a(0.,1.,0.,-1.), y=a(0.,0.,2.,-1.), o=z(4,2), n=4
def atan_origin(x, y, o, n):
    for i in range(n):
        if x[i] == 0.0 and y[i] == 0.0:
            o[i, 0] = 0.0
            o[i, 1] = 1.0
            continue
        o[i, 0] = math.atan2(y[i], x[i])
        o[i, 1] = math.hypot(x[i], y[i])


# c=a(1.,-1.,0.5,1.5,-2.), o=z(5), n=5
def acos_rim(c, o, n):
    for i in range(n):
        if c[i] >= 1.0:
            o[i] = 0.0
        elif c[i] <= -1.0:
            o[i] = math.pi
        else:
            o[i] = math.acos(c[i]) * math.asin(c[i])


# a=a(5.,-5.,0.,7.), b=a(0.,3.,2.,-2.), o=z(4), n=4
def mods(a, b, o, n):
    for i in range(n):
        if b[i] != 0.0:
            o[i] = a[i] % b[i] + math.fmod(a[i], b[i])
        else:
            o[i] = a[i]


# x=a(1.,2.,-3.,0.,4.5), o=z(5), n=5
def rounders(x, o, n):
    for i in range(n):
        f = x[i] - math.floor(x[i])
        c = math.ceil(x[i]) - x[i]
        k = int(x[i])
        o[i] = f * c + float(k) * x[i] + (1.0 if x[i] > 0.0 else -1.0) * x[i] * x[i]


# x=g(8), t=a(0.1,-0.2,0.,0.3,1.,2.,-1.,0.5), o=z(8), n=8
def select_of_select(x, t, o, n):
    for i in range(n):
        a = math.log(t[i]) if t[i] > 0.0 else (math.sqrt(-t[i]) if t[i] < 0.0 else x[i])
        b = 1.0 / t[i] if t[i] != 0.0 else a
        o[i] = a if x[i] > b else b


# x=a(4.,0.,-1.,2.), o=z(4), n=4
def masks_in_loop(x, o, n):
    for i in range(n):
        s = 0.0
        for k in range(4):
            d = x[i] - x[k]
            if k == i or d == 0.0:
                continue
            if d > 0.0:
                s += math.log(d) / d
            else:
                s -= math.sqrt(-d)
            if s > 10.0:
                break
        o[i] = s


# x=a(4.,0.,0.25,-2.), o=z(4), n=4
def dead_while(x, o, n):
    for i in range(n):
        u = x[i]
        k = 0
        while u > 1e-3 and k < 12:
            u = math.sqrt(u) * 0.5 - 0.01 / u
            k += 1
        o[i] = u


# x=a(4.,0.,0.25,-2.), o=z(4), n=4
def for_with_exit(x, o, n):
    for i in range(n):
        if x[i] <= 0.0:
            continue
        y = 1.0
        for it in range(25):
            r = x[i] - y * y
            if abs(r) < 1e-10:
                break
            y += r / (2.0 * y)
        o[i] = y


# x=a(1.,0.,3.,0.,0.), s=i(0,0,2,3,3,5), o=z(5), n=5
def seg_norm(x, s, o, n):
    for r in range(n):
        q = 0.0
        for k in range(s[r], s[r + 1]):
            q += x[k] * x[k]
        if q > 0.0:
            o[r] = math.sqrt(q)


# x=a(1.,0.,3.,0.,2.), s=i(0,0,2,3,3,5), o=z(5), n=5
def seg_max_log(x, s, o, n):
    for r in range(n):
        m = -math.inf
        for k in range(s[r], s[r + 1]):
            m = max(m, x[k])
        o[r] = math.log(m) if m > 0.0 else 0.0


# x=a(1.,0.,3.,0.,2.), s=i(0,0,2,3,3,5), o=z(5), n=5
def seg_mean_div(x, s, o, n):
    for r in range(n):
        t = 0.0
        c = 0
        for k in range(s[r], s[r + 1]):
            if x[k] > 0.0:
                t += 1.0 / x[k]
                c += 1
        o[r] = c / t if c > 0 else -1.0


# x=np.array([[1.,-np.inf,0.],[-np.inf,-np.inf,-np.inf],[2.,2.,-1.]]), y=z(3,3), n=3, m=3
def softmax_inf(x, y, n, m):
    for i in range(n):
        hi = -math.inf
        for j in range(m):
            if x[i, j] > hi:
                hi = x[i, j]
        if hi == -math.inf:
            for j in range(m):
                y[i, j] = 0.0
            continue
        tot = 0.0
        for j in range(m):
            tot += math.exp(x[i, j] - hi)
        for j in range(m):
            y[i, j] = math.exp(x[i, j] - hi) / tot


# q=g(4,3), k=g(4,3), y=z(4,4)
def causal_softmax(q, k, y):
    n, d = q.shape
    for i in range(n):
        top = -1e30
        for j in range(i + 1):
            s = 0.0
            for c in range(d):
                s += q[i, c] * k[j, c]
            y[i, j] = s / math.sqrt(d)
            top = max(top, y[i, j])
        tot = 0.0
        for j in range(i + 1):
            y[i, j] = math.exp(y[i, j] - top)
            tot += y[i, j]
        for j in range(i + 1):
            y[i, j] /= tot


# x=a(0.,1.,4.,-1.,9.), lim=a(1.,1.,1.,0.,10.), y=z(5), threads=8
@cuda.jit
def mask_by_array(x, lim, y):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] < lim[i]:
        y[i] = x[i] / (lim[i] - x[i])
    elif x[i] > lim[i]:
        y[i] = math.sqrt(x[i] - lim[i])


# x=a(-1e4,0.5,20.,9.9,-1.,-1e30), y=z(6), n=6
def powers_behind_mask(x, y, n):
    for i in range(n):
        v = 1.0
        if abs(x[i]) < 10.0:
            for k in range(100):
                v *= 0.05 * x[i]
        y[i] = v


# x=a(-1e4,0.5,20.,0.9,-1e8), y=z(5), n=5
def polynomial_behind_mask(x, y, n):
    for i in range(n):
        if abs(x[i]) < 1.0:
            v = 0.0
            p = 1.0
            for k in range(60):
                v += p / (k + 1)
                p *= x[i]
            y[i] = v
        else:
            y[i] = 0.5


# x=a(-1e4,0.5,20.,0.9,-1e8), y=z(5), n=5, m=90
def running_product(x, y, n, m):
    for i in range(n):
        p = 1.0
        for k in range(m):
            p = p * (x[i] - 0.001 * k)
        y[i] = p if abs(x[i]) < 1.0 else 0.0


# x=a(-1e4,0.5,20.,0.9,-1e8), y=z(5), n=5
def horner_behind_mask(x, y, n):
    for i in range(n):
        y[i] = 0.0
        if abs(x[i]) > 1.0:
            continue
        v = 1.0
        for k in range(80):
            v = v * x[i] + 1.0
        y[i] = v


# t=a(0.,1.,1.,3.), v=a(0.,2.,5.,1.), q=a(-1.,0.5,1.,2.,9.), y=z(5), n=4, m=5
def interp_repeated(t, v, q, y, n, m):
    for j in range(m):
        y[j] = v[n - 1]
        if q[j] < t[0]:
            y[j] = v[0]
            continue
        for i in range(n - 1):
            if q[j] >= t[i] and q[j] <= t[i + 1]:
                w = t[i + 1] - t[i]
                if w > 0.0:
                    y[j] = v[i] + (v[i + 1] - v[i]) * (q[j] - t[i]) / w
                else:
                    y[j] = v[i + 1]
                break


# z_=a(0.,0.,3.,-4.), w=a(0.,1.,4.,0.), o=z(4), n=4
def complex_sqrt(z_, w, o, n):
    for i in range(n):
        r = math.sqrt(z_[i] * z_[i] + w[i] * w[i]) if z_[i] != 0.0 or w[i] != 0.0 else 0.0
        h = 0.5 * (r + z_[i])
        o[i] = math.sqrt(h) if h > 0.0 else 0.0


# x=a(1.,2.,0.,5.), y=z(4), n=4
def running_quotient(x, y, n):
    p = 1.0
    for i in range(n):
        if x[i] != 0.0:
            p /= x[i]
        y[i] = p


# x=a(1.,2.,2.,-5.), y=z(4), n=4
def running_max_sqrt(x, y, n):
    m = x[0]
    for i in range(n):
        m = max(m, x[i])
        y[i] = math.sqrt(m)


# x=a(1.,0.,2.,0.), y=z(4), n=4
def affine_guard(x, y, n):
    s = 0.0
    for i in range(n):
        s = 0.5 * s + (1.0 / x[i] if x[i] != 0.0 else 0.0)
        y[i] = s


# x=a(-1.,-1.,-2.,0.,-7.), n=5
def count_none(x, n):
    s = 0.0
    c = 0
    for i in range(n):
        if x[i] > 0.0:
            s += math.sqrt(x[i])
            c += 1
    if c == 0:
        return 0.0
    return s / c


# x=np.array([[0.,0.],[3.,4.]]), y=np.array([[1.,1.],[0.,0.]]), o=z(2), n=2
def cosine(x, y, o, n):
    for i in range(n):
        a = 0.0
        b = 0.0
        c = 0.0
        for j in range(2):
            a += x[i, j] * x[i, j]
            b += y[i, j] * y[i, j]
            c += x[i, j] * y[i, j]
        den = math.sqrt(a) * math.sqrt(b) if a > 0.0 and b > 0.0 else 0.0
        o[i] = c / den if den > 0.0 else 0.0


# u=a(0.,0.2,0.2,1.,-1.,0.), f=z(6), n=6
def van_leer(u, f, n):
    for i in range(1, n - 1):
        a = u[i] - u[i - 1]
        b = u[i + 1] - u[i]
        if a * b > 0.0:
            f[i] = 2.0 * a * b / (a + b)
        else:
            f[i] = 0.0


# x=a(0.5,0.,1.,1.5,-0.5), o=z(5), n=5
def beta_like(x, o, n):
    for i in range(n):
        if x[i] <= 0.0 or x[i] >= 1.0:
            o[i] = 0.0
        else:
            o[i] = x[i] ** -0.5 * (1.0 - x[i]) ** -0.5 * math.log(x[i] / (1.0 - x[i]))


# T=a(300.,0.,-1.,1000.), k=z(4), n=4
def arrhenius(T, k, n):
    for i in range(n):
        if T[i] <= 0.0:
            k[i] = 0.0
        else:
            k[i] = T[i] ** 1.5 * math.exp(-500.0 / T[i])


# i_=i(0,2,1,2), x=a(1.,0.,4.), o=z(3), n=4
def scatter_inv(i_, x, o, n):
    for k in range(n):
        if x[i_[k]] > 0.0:
            o[i_[k]] += 1.0 / math.sqrt(x[i_[k]])


# x=a(0.,1.,2.,3.,4.,5.), y=z(6), n=6, m=5
def divisor_axis_m(x, y, n, m):
    for i in range(n):
        s = 0.0
        for k in range(1, m):
            if x[i] > k:
                s += (x[i] - k) / k
        y[i] = s


# x=a(1.,4.,-2.,0.), y=z(4), n=4
def early_return_helper(x, y, n):
    for i in range(n):
        y[i] = guarded(x[i], 2.0)


def guarded(v, w):
    if v < 0.0:
        return w
    if v == 0.0:
        return v
    r = w / v
    if r > 1.0:
        return math.sqrt(r - 1.0)
    return math.log(r)


# x=a(1.,1.,2.,2.,2.), y=z(5), n=5
def finite_diff_ratio(x, y, n):
    for i in range(n - 1):
        d = x[i + 1] - x[i]
        y[i] = abs(d) / d if d != 0.0 else 0.0


# x=g(7), w=a(0.,1.,0.,2.,0.,1.,1.), n=7
def weighted_var(x, w, n):
    sw = 0.0
    sx = 0.0
    for i in range(n):
        if w[i] > 0.0:
            sw += w[i]
            sx += w[i] * x[i]
    mu = sx / sw if sw > 0.0 else 0.0
    v = 0.0
    for i in range(n):
        if w[i] > 0.0:
            v += w[i] * (x[i] - mu) ** 2
    return math.sqrt(v / sw) if v > 0.0 else 0.0


# x=a(0.,1.,2.,100.), y=z(4), n=4
def kepler(x, y, n):
    for i in range(n):
        e = x[i]
        for k in range(8):
            d = 1.0 - 0.9 * math.cos(e)
            if d < 0.2:
                e = e + 0.1
            else:
                e = e - (e - 0.9 * math.sin(e) - x[i]) / d
        y[i] = e


# x=a(0.,1.,-2.,3.), y=z(4), n=4
def sign_pow(x, y, n):
    for i in range(n):
        s = 0.0
        if x[i] > 0.0:
            s = 1.0
        elif x[i] < 0.0:
            s = -1.0
        y[i] = s * abs(x[i]) ** 1.5 if s != 0.0 else 0.0


# x=a(np.inf,1.,np.nan,3.), k=i(0,1,0,1), w=a(0.,1.,2.,3.), y=z(4), n=4
def garbage(x, k, w, y, n):
    for i in range(n):
        y[i] = w[i]
        if k[i] == 1:
            y[i] = w[i] * x[i] * x[i]


# x=a(0.0, 0.0, 1.0, -2.0, 3.0, 0.5), std=z(3)
def spread(x, std):
    m = std.shape[0]
    for j in range(m):
        s = 0.0
        for i in range(2):
            s += x[2 * j + i] ** 2
        std[j] = math.sqrt(s / 2)
        if std[j] <= 0.1:
            std[j] = 1.0
