"""Products of float32 in float32, on every device.

XLA's default for ``@``, ``einsum`` and convolutions of float32 is TF32 on a GPU (10 bits of the mantissa) and bfloat16
on a TPU (7), where the source multiplies in float32; on a CPU it is float32 (JAX manual, "Matmul precision"). What
holds such an operation is traced under ``jax.default_matmul_precision``; its gradient keeps that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kraise.emit import tree
from kraise.emit.blocks import Assign, Def, Do, Raw, Stmt
from kraise.emit.hosts.statics import nodes
from kraise.emit.sums import convolutions
from kraise.emit.text.python import flat
from kraise.emit.text.rendering import Surroundings
from kraise.ir import equations as eq
from kraise.ir import hosted as o
from kraise.ir.types import ArrayType, ScalarType, StructType

_HEAD = 'with {jax}.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)'
_NAMES = (
    *("matmul", "dot", "vdot", "vecdot", "inner", "tensordot", "einsum", "matrix_power", "multi_dot"),
    *("convolve", "correlate", "conv_general_dilated", "cov", "corrcoef", "pinv", "lstsq", "inv", "det", "solve"),
)
_PRODUCT = re.compile(rf" @ |\bj(?:np|ax)\.(?:\w+\.)*(?:{'|'.join(_NAMES)})\(|\b{convolutions.NAME}\(")
_BETWEEN = 2  # statements that may stand between two products of one block


def exact(body: list[Stmt], around: Surroundings) -> list[Stmt]:
    """The statements, those with a product of what may be float32 in blocks that say how it is computed."""
    return _exact(body, _HEAD.format(jax=around.imports["jax"])) if around.float32 else body


def _exact(body: list[Stmt], head: str) -> list[Stmt]:
    out: list[Stmt] = []
    last = -1 - _BETWEEN  # the place behind the last block, in `out`
    for stmt in body:
        if isinstance(stmt, Def | Raw):
            out.append(_within(stmt, head))
        elif not _PRODUCT.search(flat(stmt.value)):
            out.append(stmt)
        elif 0 <= len(out) - last <= _BETWEEN and all(isinstance(s, Assign | Do) for s in out[last:]):
            block = out[last - 1]
            assert isinstance(block, Raw)
            block.body += [*out[last:], stmt]
            del out[last:]
        else:
            out.append(Raw(head, [stmt]))
            last = len(out)
    return out


def _within(stmt: Def | Raw, head: str) -> Stmt:
    inner = _exact(stmt.body, head.replace(" (GPU)", "").replace(" (TPU)", ""))  # further in, the line is too long
    return Def(stmt.name, stmt.parameters, inner) if isinstance(stmt, Def) else Raw(stmt.text, inner)


def holds_float32(module: eq.Module) -> bool:
    """Whether an array of the module is of float32, or of a type that the caller chooses."""
    return any(_float32(kind) for kind in _types(module))


def _types(module: eq.Module) -> Iterator[object]:
    """The types of the parameters, of the arrays that are made, and those to which values are converted."""
    for k in (*module.kernels, *module.hosts):
        yield from (p.type for p in k.params if isinstance(p.type, ArrayType | StructType))  # type: ignore[attr-defined]
    for host in module.hosts:
        yield from (n.element for n in nodes(host.body) if isinstance(n, o.New | o.Cast))
    for kernel in module.kernels:
        for stmt in tree.statements(kernel.body):
            if isinstance(stmt, eq.New):
                yield stmt.element
            yield from (n.type for n in tree.walk(*tree.statement_roots(stmt)) if isinstance(n, eq.Cast))


def _float32(kind: object) -> bool:
    match kind:
        case ArrayType(element=element):
            return _float32(element)
        case StructType(members=members):
            return any(_float32(t) for _, t in members)
        case ScalarType(kind="number"):
            return True
        case ScalarType(kind="float" | "complex" as of, bits=bits):
            return bits is None or bits == (32 if of == "float" else 64)
    return False
