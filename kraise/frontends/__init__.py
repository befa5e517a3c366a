"""Front ends: text to Kernel IR. Each folder is one language; no later stage knows which it was."""
