"""Parameters whose names the emitted function cannot have."""

from __future__ import annotations

import re

from kraise.diagnostics import refuse
from kraise.emit.text.names import IMPORTED, TEXT_USES, identifier
from kraise.ir import equations as eq
from kraise.ir.types import StructType


def refuse_confused(kernel: eq.Kernel, parameters: tuple[str, ...]) -> None:
    """Two parameters of one spelling, or one that is called like the launch's keywords (or has members like them)."""
    launch = {"grid", "block"} if kernel.launch else set()
    structs = {identifier(p.name) for p in kernel.params if isinstance(p.type, StructType)}  # type: ignore[attr-defined]
    launch |= structs & {"grid", "block", "threads"}
    for name in parameters:
        if name in launch or parameters.count(name) > 1:
            reason = f"parameter {name} of {kernel.name} has the name of another parameter of the emitted function"
            raise refuse("KR307", reason, kernel.span, f"rename the parameter {name}")


def refuse_shadowed(kernel: eq.Kernel, parameters: tuple[str, ...], text: str) -> None:
    """A parameter called ``max`` or ``jnp`` would hide what the text calls by that name."""
    for name in parameters:
        use = rf"(?<![\w.]){name}\("
        if name in TEXT_USES and name not in (*IMPORTED, "partial") and re.search(use, text):
            raise refuse(
                "KR307",
                f"parameter {name} of {kernel.name} hides the name that the emitted code needs",
                kernel.span,
                f"rename the parameter {name}",
            )
