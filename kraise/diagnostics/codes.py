"""The table of KR codes: one row a code, and the page that ``kraise rule CODE`` prints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """A kind of finding: its title, why it is a problem, a smallest example (or ""), and what to do about it."""

    title: str
    why: str
    example: str
    do: str


CODES: dict[str, Code] = {
    # --- the input -----------------------------------------------------------------------------
    "KR100": Code(
        "Syntax error",
        "The source does not follow the grammar of its language, so nothing is known about what it means.",
        "def f(x:\n    return x",
        "Mend the source at the place shown. For CUDA C: a missing -I or -D can leave a macro unexpanded.",
    ),
    "KR101": Code(
        "Construct not accepted",
        "kraise accepts a subset of each language, listed in grammar/. What is not in the list is refused with its "
        "line rather than guessed at.",
        "try:\n    y[i] = 1 / x[i]\nexcept ZeroDivisionError:\n    y[i] = 0",
        "Write the same with loops, branches, assignments and calls of scalar functions.",
    ),
    "KR102": Code(
        "Unknown name",
        "A name is used that is neither a parameter, nor assigned before, nor a constant or function of this file.",
        "def f(y, n):\n    for i in range(n):\n        y[i] = scale * i   # scale comes from elsewhere",
        "Pass the value as a parameter, or define the constant in the same file (CUDA C: -D NAME=VALUE).",
    ),
    "KR103": Code(
        "Unknown call",
        "A function is called whose body is not in this file and which is not in the table of known functions.",
        "y[i] = other_module.f(x[i])",
        "Move the helper into the same file, or write its formula out.",
    ),
    "KR104": Code(
        "Types do not fit",
        "A name is used in ways that no one type allows: as an array here and a number there, or with different "
        "numbers of subscripts.",
        "y[i] = x[i, 0] + x[i]",
        "Use one number of subscripts for an array, and separate names for separate things.",
    ),
    "KR105": Code(
        "Unreadable input",
        "The file is missing, empty, binary, not UTF-8, may not be read, or is not known to be Python or CUDA C.",
        "",
        "Check the path; convert the file to UTF-8 (iconv -f latin1 -t utf-8); name the language with --language.",
    ),
    "KR106": Code(
        "No kernels",
        "The file holds no function that kraise could raise: none with @cuda.jit, @njit or @jit, no __global__ "
        "function, and no function of for loops over arrays.",
        "",
        "If your project wraps the decorator, name it: --kernel-decorator NAME, or in pyproject.toml.",
    ),
    "KR107": Code(
        "Two kernels of one name",
        "The emitted module has one function for each kernel, under the kernel's own name.",
        "",
        "Rename one of the two.",
    ),
    "KR108": Code(
        "Nested too deeply",
        "Expressions or blocks are nested deeper than the reader follows.",
        "",
        "Give parts of the expression names of their own.",
    ),
    "KR109": Code(
        "Call of Enzyme",
        "A function that calls __enzyme_autodiff or its kin is passed over: the call names what to differentiate, and "
        "the module has the derivative functions instead. An error where the call itself is not understood.",
        "__enzyme_autodiff((void *)f, enzyme_dup, x, dx, enzyme_const, n);   // f_vjp(x, n, y_bar)",
        "Call f_grad, f_vjp or f_jvp of the emitted module where the source calls Enzyme.",
    ),
    # --- raising -------------------------------------------------------------------------------
    "KR201": Code(
        "Race between threads",
        "Two threads may write different values to one element, or one may read what another writes with no barrier "
        "between. The result then depends on the order of the threads, and no array expression is equal to it.",
        "i = cuda.grid(1)\nif i < n - 1:\n    x[i] = x[i + 1]   # reads what the neighbour writes",
        "Write to another array than the one that is read; use an atomic; put a barrier between.",
    ),
    "KR202": Code(
        "Store not proved injective",
        "A plain store goes to an element that depends on data. If two threads have the same index, the last one wins, "
        "and which one that is nobody knows.",
        "y[idx[i]] = x[i]",
        'Use an atomic (cuda.atomic.add), or, if no index occurs twice, declare it: --assume "idx is injective", or '
        '"out is stored once" if only some of the threads store.',
    ),
    "KR203": Code(
        "Loop-carried dependence",
        "A round of the loop needs what earlier rounds computed, in a way that is no reduction, no scan and no "
        "recurrence over whole arrays.",
        "",
        "Split the loop, or give the carried value a variable of its own.",
    ),
    "KR204": Code(
        "Access may leave the array",
        "For some sizes and indices that the guards allow, a subscript lies outside the array. The scalar program is "
        "not defined there, and JAX would clamp or wrap silently.",
        "if i < n:\n    y[i] = x[i + 1]   # i = n - 1 reads x[n]",
        "Tighten the guard.",
    ),
    "KR205": Code(
        "Subscript or bound not affine",
        "A question about the order of accesses could not be answered, because a subscript or a bound is not a sum of "
        "multiples of indices.",
        "y[i * j] = x[i]",
        "Rewrite the subscript with one index for each axis.",
    ),
    "KR206": Code(
        "Barrier under divergent control flow",
        "Threads of one block may disagree on whether they reach the barrier; the hardware then hangs or goes on with "
        "stale data.",
        "if i < n:\n    cuda.syncthreads()",
        "Move the barrier out of the branch, and guard the loads and stores instead.",
    ),
    "KR207": Code(
        "Value undefined on some path",
        "A variable is read that some path to this place has not assigned.",
        "if x[i] > 0:\n    s = 1.0\ny[i] = s",
        "Assign it before the branch.",
    ),
    "KR208": Code(
        "Launch geometry",
        "The result depends on the launch in a way that the emitted function cannot express.",
        "",
        "Guard the work (if i < n), or use a grid-stride loop.",
    ),
    "KR209": Code(
        "Recursion",
        "A function that calls itself has no bound on its depth that is known before the call.",
        "",
        "Write it as a loop.",
    ),
    "KR210": Code(
        "Side effects in a helper",
        "A helper that is called within an expression also stores to an array: the order of effects would matter.",
        "y[i] = f(x) + g(x)   # g stores to x",
        "Return the value, and store it in the kernel.",
    ),
    "KR211": Code(
        "Host code not raised",
        "A host function that launches kernels does something whose effect on its arrays cannot be followed: an array "
        "under two names of which one is written, a pointer whose place depends on data, an unknown statement.",
        "add[grid, block](x, x, n)   # add writes its first argument and reads its second",
        "Give each array a name of its own, and launch on distinct arrays. The kernels are raised all the same.",
    ),
    "KR212": Code(
        "Launched kernel was not raised",
        "A host function is raised only where all that it launches is raised.",
        "",
        "See the diagnostics of the kernel.",
    ),
    "KR213": Code(
        "Unknown library call in host code",
        "A host function calls a library that is not in the table grammar/host_library.toml, so what it does to the "
        "arrays is not known.",
        "y = cupyx.scipy.sparse.linalg.spsolve(A, b)",
        "Write the call outside the host function, or its meaning in terms of functions that are known.",
    ),
    "KR214": Code(
        "Size depends on data",
        "A number that decides the size of an array, a number of rounds or a launch is read from an array or computed "
        "by a kernel. JAX compiles for fixed sizes.",
        "count = int(counter.copy_to_host()[0])\nstep[(count + 255) // 256, 256](x, count)",
        "Pass an upper bound as a parameter, and guard the kernel by the number in an array.",
    ),
    "KR215": Code(
        "Launch that leaves something out",
        "A host function launches a kernel with fewer threads than its guard lets through, or with blocks of another "
        "size than its tile. The emitted kernel computes all that the guard allows (a launch is taken to cover it). A "
        "warning: the host function is raised, and raises a ValueError where it is called with such numbers.",
        "k[n // 256, 256](x, n)   # 3 * 256 threads for n = 1000",
        "Launch (n + 255) // 256 blocks, or narrow the guard to what is launched.",
    ),
    "KR216": Code(
        "Array that takes times",
        "A host function keeps times in one of its arrays. A time has no part in the values: the array is no result. A "
        "warning: the host function is raised, unless what it computes needs the array.",
        "for (int r = 0; r < reps; r++) { double t0 = now(); step<<<g, b>>>(x, n); ms[r] = now() - t0; }",
        "Measure outside of the function.",
    ),
    "KR299": Code(
        "Not supported yet",
        "kraise could raise this in principle, but does not do so yet. It is refused, because a wrong translation "
        "would be worse.",
        "",
        "See the hint; the README lists what is supported.",
    ),
    # --- emission ------------------------------------------------------------------------------
    "KR301": Code(
        "No array form",
        "The equations of this kernel have no form in jax.numpy that the emitter knows.",
        "",
        "See the hint; simplify the subscripts, or split the statement.",
    ),
    "KR302": Code(
        "Array read before it is made",
        "An equation reads a version of an array that no earlier one makes: raising and emission disagree. "
        "This is a bug of kraise.",
        "",
        "Please report it, with the kernel.",
    ),
    "KR303": Code(
        "Operation without an array form",
        "The emitter has no spelling in jax.numpy for an operation or a form of this kernel.",
        "",
        "See the hint; write the operation in terms of others.",
    ),
    "KR304": Code(
        "Index without a range",
        "A value depends on an index that has no range where it is used: raising and emission disagree. "
        "This is a bug of kraise.",
        "",
        "Please report it, with the kernel.",
    ),
    "KR305": Code(
        "Running value at another stride",
        "The running value of a scan is used at other steps than those at which it was computed.",
        "",
        "Store the running value in an array of its own, and read that array.",
    ),
    "KR306": Code(
        "Store without an array form",
        "The emitter knows no scatter in jax.numpy for the way in which this statement writes its array.",
        "",
        "See the hint; write the elements by their own indices, or use an atomic that adds.",
    ),
    "KR307": Code(
        "Parameter hides a name that is needed",
        "A parameter of the kernel has the name of something that the emitted function calls, such as max or range.",
        "",
        "Give the parameter another name.",
    ),
    "KR308": Code(
        "No such derivative",
        "What --grad asks for does not exist: a name is no parameter or no output of the kernel, or what it names is "
        "static (it decides a shape) or holds integers. The kernel itself comes out without these functions.",
        'kraise translate k.py --grad "loss=energy wrt positons"   # positions',
        "Correct the name; leave static and integer arguments out: they stay ordinary arguments.",
    ),
    # --- command line, files, twins ------------------------------------------------------------
    "KR401": Code(
        "Stale twin",
        "The twin on disk is not what its source gives now.",
        "",
        "kraise translate --twin FILE writes it anew; kraise diff FILE shows what differs.",
    ),
    "KR402": Code("Missing twin", "The source has no twin on disk.", "", "kraise translate --twin FILE writes it."),
    "KR403": Code(
        "Target not written by kraise",
        'kraise overwrites only files that it wrote itself (their first lines say "written by kraise").',
        "",
        "Choose another target, or say --force.",
    ),
    "KR404": Code(
        "Target cannot be written",
        "The target is a folder, is read-only, is one of the inputs, is the target of two inputs, or its folder does "
        "not exist. Nothing was changed.",
        "",
        "Choose another target with -o.",
    ),
    "KR405": Code(
        "Configuration",
        "[tool.kraise] in pyproject.toml holds a key or a value that is not understood.",
        '[tool.kraise]\nkernel-decorators = ["compile_cupy"]\ntwin-suffix = "_raised"',
        "Known keys: kernel-decorators, assume, grad, remat, max-intermediate, defines, include-dirs, twin-suffix, "
        "exclude.",
    ),
    "KR406": Code(
        "No such kernel", "A kernel that --only or --grad names is not in the file.", "", "Check its spelling."
    ),
    # --- verify --------------------------------------------------------------------------------
    "KR501": Code(
        "Verification failed",
        "The emitted function and the scalar program differ on generated inputs. This is a bug of kraise.",
        "",
        "Please report it, with the kernel.",
    ),
    "KR502": Code(
        "Inputs cannot be inferred",
        "Shapes or launch of a kernel could not be found from its subscripts.",
        "",
        "Give them: --shape x=17,19 --set n=17, or a case.toml beside the source.",
    ),
    "KR900": Code(
        "Internal error",
        "kraise itself failed. Nothing was written for this kernel.",
        "",
        "Please report it, with the kernel; KRAISE_DEBUG=1 prints the traceback.",
    ),
}


def title(code: str) -> str:
    """The title of ``code``, or "" for a code that is not in the table."""
    return CODES[code].title if code in CODES else ""


def page(code: str) -> str:
    """The page of ``code`` as plain text; KeyError for a code that is not in the table."""
    row = CODES[code]
    parts = [f"{code}: {row.title}", _wrapped(row.why)]
    if row.example:
        parts.append("Example:\n\n" + "\n".join(f"    {line}" if line else "" for line in row.example.split("\n")))
    parts.append(_wrapped("What to do: " + row.do))
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, width: int = 88) -> str:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])
