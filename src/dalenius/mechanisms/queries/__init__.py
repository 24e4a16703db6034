"""Queries on a whole table: how much noise keeps them within a budget of bits."""
