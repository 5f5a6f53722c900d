"""The commands of `goryu` that belong to the page: arguments and printing."""
