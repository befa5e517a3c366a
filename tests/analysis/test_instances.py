"""Bounds that an instance of the domain refutes, and others."""

from kraise.analysis import delinearize
from kraise.analysis.delinearize import digits, leading_digit, provable
from kraise.analysis.instances import fails
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT


def sizes(*names: str) -> list[Poly]:
    return [to_poly(eq.Param(n, INT)) for n in names]


def index(name: str) -> eq.Index:
    return eq.Index(name, INT)


def within(name: str, size: Poly) -> tuple[eq.Expr, ...]:
    from kraise.analysis.poly import to_expr

    return eq.Op("ge", (index(name), eq.Const(0, INT)), BOOL), eq.Op("lt", (index(name), to_expr(size)), BOOL)


def test_refuted():
    (n,) = sizes("n")
    i, path = to_poly(index("i")), within("i", n)
    assert fails(i - 1, path) and fails(n - i - 2, path)
    assert fails(i - to_poly(index("j")), path)  # of j nothing is said
    assert fails(to_poly(eq.Op("floordiv", (index("i"), eq.Const(2, INT)), INT)) - 1, path)


def test_not_refuted():
    """What holds is not, nor is what has no number, or what a domain without instances says."""
    (n,) = sizes("n")
    i, path = to_poly(index("i")), within("i", n)
    assert not fails(i, path) and not fails(n - i - 1, path)
    data = eq.Read(eq.Version("a", 0), (index("i"),), INT)
    assert not fails(to_poly(data) - 1, path)
    none = (*path, eq.Op("lt", (index("i"), eq.Const(0, INT)), BOOL))
    assert not fails(i - 1, none)


def test_places_of_many_sizes_ask_little():
    """Frames of frames with strides, steps and pads (volumes to columns): which of the sizes are digits is not tried
    in all combinations."""
    depth, height, width = (Poly({(eq.Param(n, INT),): 1}) for n in ("depth", "height", "width"))
    place, path = Poly(), ()
    for axis, rows in (("t", height * width), ("h", width), ("w", Poly({(): 1}))):
        count, kernel, step, apart, pad = sizes(*(f"{n}_{axis}" for n in ("count", "kernel", "step", "apart", "pad")))
        own = to_poly(index(f"i_{axis}")) * step + to_poly(index(f"k_{axis}")) * apart - pad
        path += (*within(f"i_{axis}", count), *within(f"k_{axis}", kernel))
        place = place + own * rows
    place = place + to_poly(index("c")) * depth * height * width
    delinearize.leading_digit.cache_clear()
    assert (
        digits(place, (*path, *within("c", sizes("channels")[0])), gaps=True) is None
    )  # nothing says that they stay within
    assert leading_digit.cache_info().misses < 200  # 21 when this was written; 7,289 without instances


def test_what_holds_digit_by_digit_is_proved():
    n, m, k = sizes("n", "m", "k")
    path = (*within("a", n), *within("b", m), *within("c", k))
    flat = (to_poly(index("a")) * m + to_poly(index("b"))) * k + to_poly(index("c"))
    assert provable(path, flat) and provable(path, n * m * k - flat - 1)
    assert not provable(path, n * m * k - flat - 2)
