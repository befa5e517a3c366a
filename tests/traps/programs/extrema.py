"""Values whose slope is infinite, where nothing depends on it: extrema pass them over, flags switch them off."""

import math


# p=np.array([[0.,0.],[1.,0.],[3.,4.]]), o=z(3), n=3
def farthest(p, o, n):
    for i in range(n):
        best = 0.0
        for j in range(n):
            dx = p[i, 0] - p[j, 0]
            dy = p[i, 1] - p[j, 1]
            r = math.sqrt(dx * dx + dy * dy)
            if r > best:
                best = r
        o[i] = best


# p=np.array([[0.,0.],[1.,0.],[3.,4.]]), n=3
def diameter(p, n):
    best = 0.0
    for i in range(n):
        for j in range(n):
            dx = p[i, 0] - p[j, 0]
            dy = p[i, 1] - p[j, 1]
            best = max(best, math.sqrt(dx * dx + dy * dy))
    return best


# x=a(0.,1e-8,4.), o=z(3), n=3
def floor_root(x, o, n):
    for i in range(n):
        o[i] = 1.0 / max(math.sqrt(x[i]), 1e-3)


# x=a(0.,1e-8,4.,0.), y=a(0.,0.,3.,1.), o=z(4), n=4
def unit_eps(x, y, o, n):
    for i in range(n):
        r = math.sqrt(x[i] * x[i] + y[i] * y[i])
        o[i] = x[i] / max(r, 1e-12)


# x=a(1.,0.5,-1.,0.), o=z(4), n=4
def clamp_after_acos(x, o, n):
    for i in range(n):
        o[i] = min(math.acos(x[i]), 3.0) + max(math.asin(x[i]), -1.0)


# a=np.array([[0.,0.],[3.,4.]]), b=np.array([[0.,0.],[1.,1.],[3.,4.]]), n=2, m=3
def hausdorff(a, b, n, m):
    worst = 0.0
    for i in range(n):
        best = 1e30
        for j in range(m):
            dx = a[i, 0] - b[j, 0]
            dy = a[i, 1] - b[j, 1]
            best = min(best, math.sqrt(dx * dx + dy * dy))
        worst = max(worst, best)
    w2 = 0.0
    for j in range(m):
        best = 1e30
        for i in range(n):
            dx = a[i, 0] - b[j, 0]
            dy = a[i, 1] - b[j, 1]
            best = min(best, math.sqrt(dx * dx + dy * dy))
        w2 = max(w2, best)
    return max(worst, w2)


# x=a(0.,2.,4.), o=z(3), n=3
def relu_root(x, o, n):
    for i in range(n):
        o[i] = max(math.sqrt(x[i]) - 1.0, 0.0)


# x=a(0.,2.,4.,1.), y=z(4), n=4
def argmax_then(x, y, n):
    k = 0
    best = -1.0
    for i in range(n):
        r = math.sqrt(x[i])
        if r > best:
            best = r
            k = i
    for i in range(n):
        y[i] = best * x[k]


# x=a(0.,0.,3.,4.), y=z(4), n=4
def running_far(x, y, n):
    best = 0.0
    for i in range(n):
        best = max(best, abs(x[i]) ** 0.5)
        y[i] = best


# x=a(0.,2.,4.,1.), lo=0.5, hi=1.5, o=z(4), n=4
def clip_root(x, lo, hi, o, n):
    for i in range(n):
        r = math.sqrt(x[i])
        o[i] = lo if r < lo else (hi if r > hi else r)
# p=np.array([[0.,0.],[1.,0.],[3.,4.]]), o=z(3), n=3
def flagged(p, o, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            dx = p[i, 0] - p[j, 0]
            dy = p[i, 1] - p[j, 1]
            s += (i != j) * math.sqrt(dx * dx + dy * dy)
        o[i] = s


# p=a(0.,1.,3.), m=np.array([[0,1,1],[1,0,0],[1,0,0]],np.int32), o=z(3), n=3
def adjacency(p, m, o, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            d = p[i] - p[j]
            s += m[i, j] * math.sqrt(d * d)
        o[i] = s


# x=a(0.,1.,4.), o=z(3), n=3
def flag_arith(x, o, n):
    for i in range(n):
        f = 1.0 if x[i] > 0.5 else 0.0
        o[i] = f * math.sqrt(x[i]) + (1.0 - f) * x[i]


# x=a(1.,-1.,0.,3.), y=a(0.,0.,2.,0.5), o=z(4), n=4
def ratio_of_some(x, y, o, n):
    for i in range(n):
        if x[i] != 0.0:
            o[i] = min(abs(x[i]) / max(abs(y[i]), 0.0), 4.0) if y[i] != 0.0 or x[i] > 2.0 else x[i]
            o[i] += max(math.sqrt(abs(y[i])), 0.5) + min(1.0 / (i + 1), 0.75)


# x=a(0.,1.,-4.,2.), y=z(4), n=4
def signed_root(x, y, n):
    for i in range(n):
        k = (x[i] > 0.0) - (x[i] < 0.0)
        y[i] = k * math.sqrt(abs(x[i]))


# x=a(0.,1.,-4.,2.), y=z(4), n=4
def chosen_sign(x, y, n):
    for i in range(n):
        k = 1.0 if x[i] > 0.0 else -1.0 if x[i] < 0.0 else 0.0
        y[i] = math.sqrt(abs(x[i])) * k + x[i]


# x=a(0.,-8.,27.,1.), y=z(4), n=4, h=0.3
def integer_factors(x, y, n, h):
    for i in range(n):
        s = (x[i] > 0.0) - (x[i] < 0.0)
        y[i] = s * abs(x[i]) ** (1.0 / 3.0) + i * h * math.sqrt(abs(x[i])) + int(x[i]) * math.hypot(x[i], 0.0)


# x=a(0.,-8.,0.,1.), y=z(4), n=4
def triangle_weight(x, y, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += (i // 2 - j // 2) * math.sqrt(abs(x[i] - x[j]))
        y[i] = s
