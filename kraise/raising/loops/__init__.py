"""Loops, best form first, and the forms of loops that stay (raising.md, step 5)."""
