"""Loops with exits whose state is masked, counted or left to lanes that nobody reads."""

import math


# x=a(1.,4.,0.5,9.,2.,0.), e=a(1.,4.,0.5,9.,2.,0.), y=z(6), n=6
def newton_step_tol(x, e, y, n):
    for i in range(n):
        v = x[i]
        for it in range(20):
            fp = 2.0 * v
            if abs(fp) < 1e-9:
                break
            step = (v * v - e[i]) / fp
            v = v - step
            if abs(step) < 1e-12:
                break
        y[i] = v


# x=a(1.,4.,0.5,9.,2.,0.), y=z(6), n=6
def chained(x, y, n):
    for i in range(n):
        r = 0.0
        if x[i] > 0.0:
            r = 1.0 / x[i]
            if r > 0.4:
                y[i] = r + math.log(r)
            else:
                y[i] = r


# x=a(1.,4.,0.5,9.,2.,0.), y=z(6), n=6
def chained2(x, y, n):
    for i in range(n):
        if x[i] > 0.0 and math.sqrt(x[i]) < 2.5:
            y[i] = math.sqrt(x[i])


# x=a(1.,4.,0.5,9.,2.), y=z(5), m=z(5), n=5
def newton_count(x, y, m, n):
    for i in range(n):
        v = x[i]
        it = 0
        while it < 30:
            f = v * v - x[i]
            if abs(f) < 1e-13 or v == 0.0:
                break
            v = v - f / (2.0 * v)
            it += 1
        if x[i] > 3.0:
            y[i] = v
        m[i] = it


# x=a(1.,4.,0.,9.,-1.), y=z(5), m=z(5), n=5
def newton_count2(x, y, m, n):
    for i in range(n):
        v = x[i]
        it = 0
        if x[i] > 0.0:
            while it < 30:
                f = v * v - x[i]
                if abs(f) < 1e-13:
                    break
                v = v - f / (2.0 * v)
                it += 1
            y[i] = v
        m[i] = it


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


# x=a(1.,4.,0.,9.,-1.), y=z(5), m=iz(5), n=5
def logistic_guarded(x, y, m, n):
    for i in range(n):
        if x[i] > 0.0 and x[i] < 1.5:
            v = 0.3
            for t in range(12):
                v = v + v * v * x[i] * 0.001
            y[i] = v
        else:
            y[i] = 0.0
