"""The search algorithms, one readable module each.

In the order in which the field learned them: random_move, minimax, alpha_beta, depth_limited,
flat_monte_carlo, uct, puct (with node_table, selection and final_move), gumbel. mate (with
mate_table and mate_refutation) searches for forced mates in shogi.
"""
