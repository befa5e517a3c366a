"""``kraise rule KR201``: the page of a code; without one, the table of all codes."""

from __future__ import annotations

import click

from kraise.diagnostics.codes import CODES, page


@click.command("rule")
@click.argument("codes", metavar="[CODE]...", nargs=-1)
def command(codes: tuple[str, ...]) -> int:
    """Print the page of a KR code: what it means, why it is a problem, an example, what to do."""
    unknown = [code for code in codes if code.upper() not in CODES]
    if unknown:
        raise click.UsageError(f"there is no code {unknown[0]}; `kraise rule` lists all")
    if codes:
        click.echo("\n".join(page(code.upper()) for code in codes), nl=False)
    else:
        for code, row in CODES.items():
            click.echo(f"{code}  {row.title}")
    return 0
