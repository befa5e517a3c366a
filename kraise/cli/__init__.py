"""The command line. VERBS lists the verbs, one module each, imported only when its verb is used."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
from typing import NoReturn

import click

from kraise import __version__

VERBS = {
    "translate": "Kernels in, JAX modules out.",
    "verify": "Compare values and gradients of what is emitted with the scalar program.",
    "explain": "Show the equations, and which form each loop got and why.",
    "check": "Say which twins are stale or missing; write nothing.",
    "diff": "Show what differs between the twin on disk and what would be emitted now.",
    "rule": "Print the page of a KR code.",
}

INTERRUPTED, BROKEN_PIPE = 130, 141  # as shells count them: 128 + SIGINT, 128 + SIGPIPE


class Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        return importlib.import_module(f"kraise.cli.{name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-") and os.path.exists(args[0]):
            raise click.UsageError(f"no verb given; did you mean: kraise translate {args[0]}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kraise")
def kraise() -> None:
    """Raise scalar GPU kernels and loop nests to JAX modules that can be read, reviewed and differentiated.

    Exit status: 0 all raised; 1 something was refused, stale or different; 2 usage, or input that cannot be read.
    """


def main(args: list[str] | None = None) -> NoReturn:
    """Runs the command line and exits; every way out is one clear message and a documented status."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (a closed stream is None)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    signal.signal(signal.SIGTERM, _terminated)
    gc.set_threshold(50_000, 20, 20)  # modules, trees and expressions are many small objects that live on
    try:
        with kraise.make_context("kraise", sys.argv[1:] if args is None else list(args)) as context:
            status = kraise.invoke(context) or 0
        sys.stdout.flush()
    except click.exceptions.Exit as finished:
        status = finished.exit_code
    except click.ClickException as error:
        error.show()
        status = 2
    except (click.Abort, KeyboardInterrupt):
        _say("kraise: interrupted; no file was left half written")
        status = INTERRUPTED
    except BrokenPipeError:
        status = BROKEN_PIPE
    except OSError as error:  # the standard output is full or closed
        _say(f"kraise: cannot write the output: {error.strerror or error}")
        status = 2
    _leave(int(status))


def _terminated(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)  # by way of an exception, so that temporary files are removed


def _say(message: str) -> None:
    with contextlib.suppress(OSError):
        click.echo(message, err=True)


def _leave(status: int) -> NoReturn:
    # what is still buffered for a stream that is gone must not become a traceback at exit
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status)
