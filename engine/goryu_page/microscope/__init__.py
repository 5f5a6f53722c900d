"""Observers of the searches: every step of `goryu.search`, recorded without a change to an algorithm.

Read `model` first (steps and positions), then `recording` (all steps, and the graph after any of them) and
`rewiring` (how a function is observed), then the observer of one search: `minimax` (also one bound,
alpha-beta and depth-limited search), `uct`, `puct_tree`, `puct` or `gumbel`. `observed` names them all.
`games` reads positions and names moves; `view` chooses what a picture shows, `layout` places it, and
`picture` draws it.
"""
