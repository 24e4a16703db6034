"""Flows between points that few numbers describe: distances over all pairs, transport, and convex flows."""
