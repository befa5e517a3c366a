"""The symbolic run of a function for all threads at once (raising.md, steps 1 and 4)."""
