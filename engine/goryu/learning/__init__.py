"""Learning: training records, self-play, training and export."""
