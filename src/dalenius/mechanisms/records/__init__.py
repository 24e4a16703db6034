"""Form "records": records of a table become records of the table, so that wide tables can be released.

takes, design, wide                   what is taken, which way a problem goes, and the table in arrays
few_records                           few records: one matrix
independent                           nothing is told of a secret that is seen; `independent_medians` where no class
                                      holds half of the table
independent_unseen, independent_packs       the same of a secret that is not seen: two values, and more
leakage, leakage_by_prices            at most b bits: the secret is seen; it is not, or the law of the table stays
two_values, two_sides, exchanges, guesses   promises about single records, and their bounds
any_promises, any_promises_by_prices  several promises at once
limits, common_records, forbidden_changes   what is asked for beside promises
rows, proof                           a channel in the search, and proofs as terms of the kernel
form, evidence, words, preflight, trading   what is done with a release, and what is said before and after it
"""
