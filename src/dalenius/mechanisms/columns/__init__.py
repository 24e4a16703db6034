"""One channel for the whole input, written out: independence, leakage, information privacy, distortion, rate.

disclosure/         most information, promises that are linear in a column (paper 000)
funnel/             most information, promises that are convex in a column; and the other direction
leakage/            least leakage, distortion or rate (papers 003 and 004), and the trade-off curve
categorical, rate   the closed form for one column, and plain rate-distortion
contraction         least distortion whatever the secret is (paper 004)
robust_leakage, near_proofs      a leakage under every law near the counted one
regions             rate, distortion and equivocation at once (paper 003)
exact_columns       columns in exact rationals, for all of them
"""
