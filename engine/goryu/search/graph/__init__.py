"""The search that plays: PUCT on a graph in which move orders meet, with batches and proofs."""
