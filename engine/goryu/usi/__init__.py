"""The USI protocol: the engine as GUIs see it.

`engine.py` is the protocol without input and output, `loop.py` the process around it, `options.py` the table
of the options, `output.py` the lines about a search.
"""
