"""Learning from one's own games: the games, the problems made from them, and when each is due.

Read in this order: `database`, `games`, `problems`; then the way of a problem: `reviewing`, `reviews`,
`collecting`, `checking`, `schedule`, `answering`; then `dojo`, which holds all of it. `worker` is the thread
of background work; `watching`, `reviewing`, `checker` and `collecting.Collector` are its kinds.
"""
