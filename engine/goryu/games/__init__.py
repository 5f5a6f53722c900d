"""The rules of the games. This layer imports nothing else of goryu but `base`."""
