"""Tell the most while promises hold that are linear in a column, such as independence (paper 000).

A column is a law of the input given a released letter, and the best mixture of columns is a linear program; `design`
takes the first of these routes that fits:

    cells            posteriors of W in cells: the max-affine search, for a W of few values
    boxes            the input itself is wanted (W = X): columns are generated; `view_parts` where views part the inputs
    peeling          supports that no other route closes
    random_columns   a mechanism of its own: a few extreme columns drawn at random

`box_proof` writes what `boxes` found as terms of the kernel, and `own_letters` gives the best channel the letters of
the columns.
"""
