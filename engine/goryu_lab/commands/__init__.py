"""The commands of `goryu` that belong to the lab: arguments and printing."""
