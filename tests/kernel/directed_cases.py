"""All cases whose bounds stand beside their values, and what a kernel says about them."""

from tests.kernel.directed import (
    a_line_that_is_low_at_one_corner,
    a_missing_leaf,
    a_missing_letter,
    a_negative_limit,
    a_negative_pair,
    a_negative_weight,
    a_ratio_of_some_pairs,
    a_ratio_under_delta,
    a_variance_by_lines,
    a_view_that_is_no_function_of_the_input,
    an_open_map,
    both_sides_of_odds,
    corners_in_another_order,
    corners_that_are_far,
    kept_columns,
    letters_where_maps_compete,
    maps_with_a_letter_for_each_world,
    margins_of_a_part,
    margins_that_are_not_preserved,
    never_occurs,
    never_occurs_beside_prices,
    never_occurs_for_a_letter,
    pairs_of_different_worlds,
    pairs_of_one_world,
    pairs_under_delta,
    prices_in_another_order,
    rows_of_a_person,
    worlds_of_a_worst_case,
)
from tests.kernel.directed_rules import (
    a_law_of_another_divergence,
    a_law_of_another_variation,
    a_law_without_confidence,
    a_share_that_passes,
    actions_beyond_their_weight,
    capacity_of_single_columns,
    capacity_of_two_rows,
    delta_between_strata,
    faces_beside_cuts,
    faces_beside_pairs,
    faces_of_some_inputs,
    inputs_beyond_their_weight,
    slopes_of_delta_beyond_one,
    variations_beyond_their_weight,
)
from tests.kernel.documents import (
    text_of,
)

CASES = {
    case.__name__: case
    for case in (
        a_share_that_passes,
        capacity_of_single_columns,
        actions_beyond_their_weight,
        variations_beyond_their_weight,
        inputs_beyond_their_weight,
        slopes_of_delta_beyond_one,
        delta_between_strata,
        capacity_of_two_rows,
        a_law_of_another_divergence,
        a_law_of_another_variation,
        a_law_without_confidence,
        faces_of_some_inputs,
        faces_beside_pairs,
        faces_beside_cuts,
        never_occurs,
        never_occurs_beside_prices,
        never_occurs_for_a_letter,
        prices_in_another_order,
        corners_in_another_order,
        corners_that_are_far,
        pairs_of_different_worlds,
        pairs_of_one_world,
        pairs_under_delta,
        a_ratio_of_some_pairs,
        a_ratio_under_delta,
        kept_columns,
        worlds_of_a_worst_case,
        both_sides_of_odds,
        margins_that_are_not_preserved,
        margins_of_a_part,
        rows_of_a_person,
        maps_with_a_letter_for_each_world,
        a_missing_leaf,
        a_missing_letter,
        a_negative_weight,
        a_negative_limit,
        a_negative_pair,
        an_open_map,
        a_line_that_is_low_at_one_corner,
        a_variance_by_lines,
        letters_where_maps_compete,
        a_view_that_is_no_function_of_the_input,
    )
}


def judged(document, kernel):
    """What a kernel says about a case: "sound", "false" where the value passes the bound, or "refused".

    Parameters
    ----------
    document : dict
        A case.
    kernel : module
        With the names of `dalenius.kernel.check` and the reader; the package, or the exported file.
    """
    try:
        found = kernel.read_document(text_of(document))
        value = kernel.reached(found, found.objective)
        bound = kernel.proved_bound(found.setting, found.promises, found.limits, found.objective, found.proof)
    except kernel.Refused:
        return "refused"
    apart = bound - value if found.objective.maximise else value - bound
    return "sound" if apart >= 0 else "false"
