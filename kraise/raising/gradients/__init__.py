"""Safe operands: what no lane uses contributes exactly zero to a derivative (contract, section 5)."""
