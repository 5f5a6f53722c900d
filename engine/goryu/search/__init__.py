"""The search algorithms, one readable module each, in the order in which the field learned them."""
