"""Networks in 8-bit integers."""
