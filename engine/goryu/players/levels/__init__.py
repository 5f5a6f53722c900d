"""Ten levels of strength."""
