"""Host functions that launch kernels, as values (contract, section 6)."""
