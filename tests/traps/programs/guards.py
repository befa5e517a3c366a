"""Operations under guards that keep them off their singular points."""

import math


# x=a(0.,-1.,2.,0.5,0.), y=z(5), n=5
def safe_recip(x, y, n):
    for i in range(n):
        if x[i] != 0.0:
            y[i] = 1.0 / x[i]
        else:
            y[i] = 0.0


# x=a(0.,-1.,2.,0.5,0.), y=z(5), n=5
def tern_sqrt(x, y, n):
    for i in range(n):
        y[i] = math.sqrt(x[i]) if x[i] > 0 else x[i] * 3.0


# x=a(0.,-1.,2.,0.5,-8.), y=z(5), n=5
def early_continue(x, y, n):
    for i in range(n):
        if x[i] <= 0.0:
            continue
        y[i] = math.log(x[i]) / math.sqrt(x[i]) + x[i] ** 0.3


# x=a(0.,-1.,2.,0.5,-8.), p=a(0.,2.,0.5,1.7,0.), y=z(5), n=5
def pow_data(x, p, y, n):
    for i in range(n):
        if x[i] > 0.0:
            y[i] = x[i] ** p[i]
        elif p[i] == 0.0:
            y[i] = 1.0


# x=a(-2.,-1.,2.,0.5,-8.), y=z(5), n=5
def pow_negative_base(x, y, n):
    for i in range(n):
        y[i] = x[i] ** 3 + x[i] ** 2 + (x[i] ** 2.0) * 2.0 + x[i] ** -1


# x=a(0.,0.,2.,0.5,0.), y=z(5), n=5
def pow_zero_int(x, y, n):
    for i in range(n):
        y[i] = x[i] ** 2 + x[i] ** 3.0 + x[i] ** 1


# pos=g(6,3), f=z(6,3), n=6
def forces_continue(pos, f, n):
    for i in range(n):
        ax = 0.0
        ay = 0.0
        az = 0.0
        for j in range(n):
            if j == i:
                continue
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            r = math.sqrt(dx * dx + dy * dy + dz * dz)
            ax += dx / (r * r * r)
            ay += dy / r**3
            az += dz / r**3
        f[i, 0] = ax
        f[i, 1] = ay
        f[i, 2] = az


# pos=g(6,3), e=z(6), n=6
def lj_r2(pos, e, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            r2 = 0.0
            for d in range(3):
                t = pos[i, d] - pos[j, d]
                r2 += t * t
            if r2 > 0 and r2 < 6.25:
                inv = 1.0 / r2
                i6 = inv * inv * inv
                s += 4.0 * (i6 * i6 - i6)
        e[i] = s


# pos=g(6,2), e=z(6), n=6
def log_pairs_ternary(pos, e, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            s += 0.0 if i == j else 0.5 * math.log(dx * dx + dy * dy)
        e[i] = s


# x=a(0.,0.,3.,-3.), y=a(0.,2.,4.,0.), r=z(4), th=z(4), n=4
def polar(x, y, r, th, n):
    for i in range(n):
        if x[i] != 0.0 or y[i] != 0.0:
            r[i] = math.hypot(x[i], y[i])
            th[i] = math.atan2(y[i], x[i])
        else:
            r[i] = 0.0
            th[i] = 0.0


# x=a(1.,-1.,0.3,1.2,-4.), y=z(5), n=5
def rim_acos(x, y, n):
    for i in range(n):
        c = x[i]
        if c >= 1.0:
            y[i] = 0.0
        elif c <= -1.0:
            y[i] = math.pi
        else:
            y[i] = math.acos(c) + math.asin(c)


# x=a(1.,-1.,0.3,1.2,-4.), y=z(5), n=5
def clamp_acos(x, y, n):
    for i in range(n):
        c = min(max(x[i], -1.0), 1.0)
        if -1.0 < c < 1.0:
            y[i] = math.acos(c)


# x=a(1.,0.5,3.,2.,-4.), y=z(5), n=5
def acosh_guard(x, y, n):
    for i in range(n):
        y[i] = math.acosh(x[i]) if x[i] > 1.0 else 0.0


# x=a(1.,0.5,-1.,2.,-0.4), y=z(5), n=5
def atanh_guard(x, y, n):
    for i in range(n):
        if abs(x[i]) < 1.0:
            y[i] = math.atanh(x[i])
        else:
            y[i] = x[i]


# x=a(5.5,0.5,-1.,2.3,-7.4), m=a(2.,0.,-3.,0.,2.5), y=z(5), n=5
def fmod_zero(x, m, y, n):
    for i in range(n):
        if m[i] != 0.0:
            y[i] = math.fmod(x[i], m[i]) + x[i] % m[i]
        else:
            y[i] = x[i]


# x=a(1000.,0.5,-1.,800.,-7.4), y=z(5), n=5
def exp_overflow(x, y, n):
    for i in range(n):
        if x[i] < 50.0:
            y[i] = math.exp(x[i]) * 2.0
        else:
            y[i] = 1.0


# x=a(1000.,0.5,-1.,-800.,0.), y=z(5), n=5
def softplus(x, y, n):
    for i in range(n):
        if x[i] > 30.0:
            y[i] = x[i]
        elif x[i] < -30.0:
            y[i] = math.exp(x[i])
        else:
            y[i] = math.log1p(math.exp(x[i]))


# x=a(1000.,0.5,-1.,-800.,0.), y=z(5), n=5
def sigmoid_two(x, y, n):
    for i in range(n):
        if x[i] >= 0.0:
            y[i] = 1.0 / (1.0 + math.exp(-x[i]))
        else:
            e = math.exp(x[i])
            y[i] = e / (1.0 + e)


# x=a(1000.,0.5,-1.,-800.,0.), y=z(5), n=5
def stable_softplus(x, y, n):
    for i in range(n):
        y[i] = max(x[i], 0.0) + math.log1p(math.exp(-abs(x[i])))


# x=g(4,5), mask=i(1,0,1,1,0).repeat(4).reshape(4,5), y=z(4,5), n=4, m=5
def masked_softmax(x, mask, y, n, m):
    for i in range(n):
        top = -math.inf
        for j in range(m):
            if mask[i, j] != 0:
                top = max(top, x[i, j])
        s = 0.0
        for j in range(m):
            if mask[i, j] != 0:
                s += math.exp(x[i, j] - top)
        for j in range(m):
            if mask[i, j] != 0:
                y[i, j] = math.exp(x[i, j] - top) / s
            else:
                y[i, j] = 0.0


# x=np.array([[-np.inf,-np.inf],[0.2,-np.inf],[0.2,0.7]]), y=z(3), n=3, m=2
def logsumexp(x, y, n, m):
    for i in range(n):
        top = -math.inf
        for j in range(m):
            if x[i, j] > top:
                top = x[i, j]
        if top == -math.inf:
            y[i] = 0.0
        else:
            s = 0.0
            for j in range(m):
                s += math.exp(x[i, j] - top)
            y[i] = top + math.log(s)


# x=np.array([[0.,0.],[3.,4.],[0.,-2.]]), y=z(3,2), n=3
def normalise_guarded(x, y, n):
    for i in range(n):
        l = math.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1])
        if l > 0.0:
            y[i, 0] = x[i, 0] / l
            y[i, 1] = x[i, 1] / l
        else:
            y[i, 0] = x[i, 0]
            y[i, 1] = x[i, 1]


# x=np.array([[0.,0.],[3.,4.],[0.,-2.]]), y=z(3,2), n=3
def normalise_inv(x, y, n):
    for i in range(n):
        s = 0.0
        for d in range(2):
            s += x[i, d] ** 2
        inv = 1.0 / math.sqrt(s) if s > 0.0 else 0.0
        for d in range(2):
            y[i, d] = x[i, d] * inv


# x=a(0.,1.,0.,3.,2.), y=z(5), n=5
def cumprod_zero(x, y, n):
    p = 1.0
    for i in range(n):
        p *= x[i]
        y[i] = p


# x=a(0.3,1.,-2.,3.,2.), y=z(5), n=5
def cummax_strict(x, y, n):
    m = x[0]
    for i in range(n):
        if x[i] > m:
            m = x[i]
        y[i] = m


# x=g(5,4), y=z(5), n=5, m=4
def argmax_gather(x, y, n, m):
    for i in range(n):
        best = -1e30
        at = 0
        for j in range(m):
            if x[i, j] > best:
                best = x[i, j]
                at = j
        y[i] = x[i, at] * x[i, (at + 1) % m]


# x=a(1.,4.,0.,9.,-1.), y=z(5), n=5
def newton_sqrt_while(x, y, n):
    for i in range(n):
        v = x[i]
        if v > 0.0:
            it = 0
            while it < 30:
                f = v * v - x[i]
                if abs(f) < 1e-13:
                    break
                v = v - f / (2.0 * v)
                it += 1
            y[i] = v


# x=a(1.,4.,0.,9.,-1.), c=a(2.,0.,1.,0.,0.), y=z(5), n=5
def nested_selects(x, c, y, n):
    for i in range(n):
        t = x[i]
        if c[i] > 0.0:
            if x[i] > 0.0:
                t = 1.0 / c[i] + math.log(x[i])
            else:
                t = math.sqrt(c[i])
        else:
            if x[i] > 0.0:
                t = math.sqrt(x[i])
        y[i] = t * 2.0


def helper_ratio(a, b):
    if b == 0.0:
        return 0.0
    return a / b


# x=a(1.,4.,0.,9.,-1.), c=a(2.,0.,1.,0.,0.), y=z(5), n=5
def with_helper(x, c, y, n):
    for i in range(n):
        y[i] = helper_ratio(x[i], c[i]) + helper_ratio(c[i], x[i])


# x=a(0.,0.,2.), y=z(3), n=3
def x_over_x(x, y, n):
    for i in range(n):
        y[i] = x[i] / x[i] if x[i] > 0 else 1.0


# x=a(0.,-3.,2.), y=z(3), n=3
def cbrt_signed(x, y, n):
    for i in range(n):
        if x[i] > 0:
            y[i] = x[i] ** (1.0 / 3.0)
        elif x[i] < 0:
            y[i] = -((-x[i]) ** (1.0 / 3.0))
        else:
            y[i] = 0.0


# ptr=i(0,0,2,2,5), v=a(3.,4.,0.,0.,0.), y=z(4), n=4
def empty_mean(ptr, v, y, n):
    for i in range(n):
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            s += v[k]
        c = ptr[i + 1] - ptr[i]
        if c > 0:
            y[i] = s / c
        else:
            y[i] = 0.0


# ptr=i(0,0,2,2,5), v=a(3.,4.,1.,0.5,0.2), y=z(4), n=4
def segment_logsum(ptr, v, y, n):
    for i in range(n):
        top = -math.inf
        for k in range(ptr[i], ptr[i + 1]):
            top = max(top, v[k])
        if ptr[i + 1] > ptr[i]:
            s = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                s += math.exp(v[k] - top)
            y[i] = top + math.log(s)
        else:
            y[i] = -1.0


# x=g(7), y=z(7), n=7
def ema_norm(x, y, n):
    s = 0.0
    for i in range(n):
        s = 0.9 * s + 0.1 * x[i] * x[i]
        y[i] = x[i] / (math.sqrt(s) + 1e-8)


# x=a(0.,0.,1.,2.), y=z(4), n=4
def running_rms(x, y, n):
    s = 0.0
    for i in range(n):
        s += x[i] * x[i]
        if s > 0.0:
            y[i] = x[i] / math.sqrt(s)
        else:
            y[i] = 0.0


# x=a(2.5,-1.5,0.2), y=z(3), n=3
def floors(x, y, n):
    for i in range(n):
        y[i] = x[i] - math.floor(x[i]) + int(x[i]) * x[i] + math.ceil(x[i]) * 0.5


# x=a(0.,-1.,2.), y=z(3), n=3
def sinc(x, y, n):
    for i in range(n):
        t = math.pi * x[i]
        if abs(t) < 1e-6:
            y[i] = 1.0 - t * t / 6.0
        else:
            y[i] = math.sin(t) / t


# x=a(0.,-1.,2.), y=z(3), n=3
def lgamma_guard(x, y, n):
    for i in range(n):
        if x[i] > 0.5:
            y[i] = math.lgamma(x[i])
        else:
            y[i] = x[i]
