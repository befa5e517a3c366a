"""What the threads of a block (or of a warp) compute together: trees, scans and shuffles as reductions and scans.

The statements are run for every thread of a block on marks in place of data (:mod:`.simulate`), what each thread and
each cell holds at the end is compared with the sums and running sums that there are (:mod:`.describe`), for every size
of block that the emitted function admits, and what was found is put into the symbolic run (:mod:`.apply`).

numpy is loaded only where a kernel has shared arrays or warp primitives: this package imports nothing by itself.
"""
