"""Arrays, what their cells hold between barriers, and who may touch them (raising.md, steps 3 and 6)."""
