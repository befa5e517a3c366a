"""Pieces of physics and statistics as they are written: forward mode and second order, too."""

import math


# ptr=i(0,2,2,5,5), x=a(1.,2.,0.,4.,9.), y=z(4), n=4
def segment_softmax_scale(ptr, x, y, n):
    for r in range(n):
        m = -math.inf
        for k in range(ptr[r], ptr[r + 1]):
            m = max(m, x[k])
        s = 0.0
        for k in range(ptr[r], ptr[r + 1]):
            s += math.exp(x[k] - m)
        y[r] = m + math.log(s) if ptr[r + 1] > ptr[r] else 0.0


# t=a(0.,0.5,1.,1.), v=a(1.,2.,4.,8.), q=a(-1.,0.,0.25,1.,3.), y=z(5), n=4, m=5
def interpolate_repeated(t, v, q, y, n, m):
    for i in range(m):
        if q[i] <= t[0]:
            y[i] = v[0]
        elif q[i] >= t[n - 1]:
            y[i] = v[n - 1]
        else:
            k = 0
            while k < n - 2 and t[k + 1] <= q[i]:
                k += 1
            d = t[k + 1] - t[k]
            if d > 0.0:
                w = (q[i] - t[k]) / d
                y[i] = v[k] * (1.0 - w) + v[k + 1] * w
            else:
                y[i] = v[k]


# x=a(0.,0.3,0.1,2.), y=z(4), n=4
def newton_after_bisect(x, y, n):
    for i in range(n):
        lo = 0.0
        hi = 4.0
        for k in range(20):
            m = 0.5 * (lo + hi)
            if m * m > x[i]:
                hi = m
            else:
                lo = m
        r = hi
        if x[i] > 0.0:
            for k in range(4):
                r = 0.5 * (r + x[i] / r)
        y[i] = r


# h=a(0.,1.,2.,0.,1.), q=a(0.,0.5,-1.,0.2,0.), f=z(4), n=5
def hll_flux(h, q, f, n):
    for i in range(n - 1):
        ul = q[i] / h[i] if h[i] > 1e-6 else 0.0
        ur = q[i + 1] / h[i + 1] if h[i + 1] > 1e-6 else 0.0
        cl = math.sqrt(9.81 * h[i]) if h[i] > 1e-6 else 0.0
        cr = math.sqrt(9.81 * h[i + 1]) if h[i + 1] > 1e-6 else 0.0
        sl = min(ul - cl, ur - cr)
        sr = max(ul + cl, ur + cr)
        if sl >= 0.0:
            f[i] = q[i]
        elif sr <= 0.0:
            f[i] = q[i + 1]
        else:
            f[i] = (sr * q[i] - sl * q[i + 1] + sl * sr * (h[i + 1] - h[i])) / (sr - sl)


# x=np.array([[0.,0.],[0.,0.],[1.,1.]]), rho=z(3), n=3, h=1.0
def sph_density_gradient(x, rho, n, h):
    for i in range(n):
        s = 0.0
        for j in range(n):
            dx = x[i, 0] - x[j, 0]
            dy = x[i, 1] - x[j, 1]
            r = math.sqrt(dx * dx + dy * dy)
            if r < h and r > 0.0:
                s += dx / r * (1.0 - r / h) ** 2
        rho[i] = s


# A=np.array([[4.,1.,0.5],[1.,3.,0.2],[0.5,0.2,2.]]), n=3
def cholesky_in_place(A, n):
    for k in range(n):
        A[k, k] = math.sqrt(A[k, k])
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
        for j in range(k + 1, n):
            for i in range(j, n):
                A[i, j] -= A[i, k] * A[j, k]


# p=np.array([[1.,0.,0.],[0.,1.,0.],[1.,0.,0.],[1.,0.,0.]]), o=z(3), n=3
def angles_clamped(p, o, n):
    for i in range(n):
        c = 0.0
        for k in range(3):
            c += p[i, k] * p[i + 1, k]
        o[i] = math.acos(max(-1.0, min(1.0, c))) if abs(c) < 1.0 else 1.0 - c


# x=g(5), w=a(0.,0.,0.,0.,0.), n=5
def weighted_mean(x, w, n):
    a = 0.0
    b = 0.0
    for i in range(n):
        a += x[i] * w[i]
        b += w[i]
    return a / b if b > 0.0 else 0.0
