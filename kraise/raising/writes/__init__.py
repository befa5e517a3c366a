"""Writes on their way to equations: accumulations, domains, fusion."""
