"""The search algorithms, one readable module each.

In reading order: random_move, minimax, alpha_beta, depth_limited,
flat_monte_carlo, uct, puct_tree, puct (with node, node_table, selection, root_pruning, proof, forgetting and
final_move), gumbel. mate (with mate_table and mate_refutation) searches for forced mates in shogi.
TRIED.md lists what was tried to make the search stronger.
"""
