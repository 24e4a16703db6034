"""What statement and studio promise to those who open them, nine assertions, and the browser test of each by name.

The tests themselves need Chromium (`make test-browser`); this one reads that each of them is there.
"""

import ast
from pathlib import Path

import pytest

BROWSER = Path(__file__).parent / "browser"

ASSERTIONS = {
    "1 every state, two widths, two schemes: no scroll, error, outside request, axe violation, small target": (
        "test_statement.test_the_page_has_no_fault",
        "test_statement.test_an_answer_has_a_page_without_a_fault",
        "test_studio.test_every_state_has_no_fault",
    ),
    "2 the whole walk with keys alone, the heading has the focus, the step is said": (
        "test_studio.test_the_whole_walk_with_keys_alone",
    ),
    "3 drag and keys give the same numbers, which are those of solve, in the direction of the curve": (
        "test_studio.test_dragging_and_keys_give_the_proved_numbers",
        "test_studio.test_an_answer_to_an_earlier_move_does_not_take_back_a_later_one",
        "test_studio.test_a_move_along_the_curve_takes_a_moment",
    ),
    "4 losses are accepted first, cancel leaves no file, a reload keeps the state": (
        "test_studio.test_losses_are_accepted_before_a_release",
        "test_studio.test_a_cancelled_release_leaves_no_file_and_a_reload_keeps_the_state",
    ),
    "5 flags and TOML give the same file byte for byte, and the same design": (
        "test_studio.test_command_and_problem_file_give_the_same_bytes_and_the_same_design",
    ),
    "6 statement: three pages, readable without scripts, the same in print, its fingerprint that of sha256sum": (
        "test_statement.test_it_prints_on_three_pages",
        "test_statement.test_every_kind_that_init_writes_is_as_short",
        "test_statement.test_it_is_small",
        "test_statement.test_it_reads_the_same_without_scripts",
        "test_statement.test_paper_says_what_the_screen_says",
        "test_statement.test_the_fingerprint_is_what_sha256sum_prints",
        "test_statement.test_the_page_proves_itself",
        "test_statement.test_a_forged_page_turns_red",
    ),
    "7 hostile labels are text and overflow nothing": (
        "test_statement.test_hostile_labels_are_text",
        "test_studio.test_hostile_names_and_values_are_text",
    ),
    "8 700 combinations and 40 columns stay readable": (
        "test_statement.test_700_combinations_stay_readable",
        "test_studio.test_forty_columns_stay_readable",
    ),
    "9 the door refuses everybody else": (
        "test_door.test_the_door",
        "test_door.test_requests_that_make_no_sense_are_refused_in_one_sentence",
        "test_door.test_it_listens_on_this_computer_alone",
    ),
}


@pytest.mark.parametrize("tests", ASSERTIONS.values(), ids=ASSERTIONS)
def test_each_assertion_has_its_browser_tests(tests: tuple[str, ...]) -> None:
    for name in tests:
        module, _, function = name.partition(".")
        tree = ast.parse((BROWSER / f"{module}.py").read_text("utf-8"))
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in functions, name
        assert any(isinstance(node, ast.Assert) for node in ast.walk(functions[function])), name
