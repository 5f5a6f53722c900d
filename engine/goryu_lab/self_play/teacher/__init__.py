"""Makes training games with a USI engine as the teacher.

The engine plays against itself in several processes; its scores and moves become training targets.
"""
