"""Local differential privacy: matrices of form (8), staircases, subset selection, kept margins, least variance.

pram, invariant                            form (8): keep the letter, else any other one
staircase, subset_selection                all channels, for any number of letters
delta, delta_few_letters                   (epsilon, delta)
own_letters                                any matrix in the letters of its column
beside_kept, pram_beside_kept, each_beside_kept      columns that leave as they are
by_parts                                   a matrix for each column or stratum
variance, metric_variance                  for whoever will count: the least variance of estimated frequencies
"""
