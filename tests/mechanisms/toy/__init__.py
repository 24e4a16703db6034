"""A toy mechanism: with one probability the truth, else any value, all alike. One folder and one registration."""
