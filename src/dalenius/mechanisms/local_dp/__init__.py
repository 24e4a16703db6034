"""Local differential privacy: matrices of form (8), staircases, subset selection, kept margins, least variance."""
