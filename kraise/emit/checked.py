"""The checks of a ``--checked`` module: ``checkify.check`` where they belong, and the decorator that throws them."""

from __future__ import annotations

from kraise.emit.blocks import Do
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom
from kraise.ir import equations as eq

NAMES = ("checked", "wraps")
DECORATOR = '''
def checked(function):
    """``function``, which raises where a check fails; a caller that is traced goes through checkify itself."""

    @wraps(function)
    def call(*args, **kwargs):
        error, result = checkify.checkify(lambda: function(*args, **kwargs))()
        checkify.check_error(error)
        return result

    return call
'''


def check(low: Lowering, stmt: eq.Check) -> None:
    """Emits a check at the current place."""
    ctx = low.ctx
    ctx.needs.add("checkify")
    if stmt.distinct is not None:
        values = py.call("jnp.sort", py.method(ctx.array(stmt.distinct), "ravel"))
        holds: py.Py = py.call("jnp.all", py.Bin("!=", py.call("jnp.diff", values), py.number(0)))
    else:
        assert stmt.condition is not None
        holds = low.lower(stmt.condition, ()).py
    message = f"{ctx.kernel.name}: {stmt.message}".replace("{", "{{").replace("}", "}}")
    ctx.emit(Do(py.call("checkify.check", holds, Atom(py.quoted(message)))))
