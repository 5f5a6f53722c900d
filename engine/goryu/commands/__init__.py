"""The commands of `goryu`: arguments and printing."""
