"""AlphaZero from nothing: the loop of the tutorials on tic-tac-toe, reversi and shogi."""
