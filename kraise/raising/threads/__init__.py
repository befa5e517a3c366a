"""Threads, blocks and lanes as indices with ranges (raising.md, step 2)."""
