"""Forced mates by checks: df-pn, a mate in one, and what refutes a mate."""
