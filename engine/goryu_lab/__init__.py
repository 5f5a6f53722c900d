"""The laboratory: networks trained and converted, matches and what they prove, books, speed."""
