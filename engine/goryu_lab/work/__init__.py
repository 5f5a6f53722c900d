"""Work that is split into numbered tasks and done by many workers: threads, processes, or a Ray cluster.

`seam.py` has the terms: a job, its tasks, an inbox, a pool of workers. `driver.py` gives the tasks and yields
each result once. `threads.py`, `processes.py` and `cluster.py` are the pools.
"""
