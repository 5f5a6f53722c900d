"""Learning from one's own games: the games, the problems made from them, and when each is due.

Read in this order: `database`, `games`, `problems`; then the way of a problem, `collecting`, `checking`,
`schedule`, `answering`; then `dojo`, which holds all of it, and `worker`, in which reviews and checks run.
"""
