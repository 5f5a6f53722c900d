"""Observers of the searches: every step of `goryu.search`, recorded without a change to an algorithm.

Read model first (steps and positions), then recording (all steps, and the graph after any of them), rewiring
(how a function is observed), then one observer a search: minimax (also alpha-beta and depth-limited), uct,
puct_tree, puct, gumbel; algorithms names them all. games reads positions and names moves; view chooses what a
picture shows, layout places it, and picture draws it.
"""
