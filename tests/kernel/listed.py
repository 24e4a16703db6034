"""Channels of form `listed` over two inputs: honest ones, and lists that are none."""

LISTED = {"form": "listed", "letters": 2, "scale": "1", "places": [1], "rows": [["0", "1"], ["1", "0"]]}
FLAT = LISTED | {"scale": "2", "rows": [["1", "1"], ["1", "1"]]}
THREE_ROWS = [["1", "0"], ["0", "1"], ["1", "0"]]

NO_LISTS = {
    "inputs that do not rise": LISTED | {"places": [1, 0], "rows": THREE_ROWS},
    "an input that is listed twice": LISTED | {"places": [1, 1], "rows": THREE_ROWS},
    "an input that there is not": LISTED | {"places": [2]},
    "no row for all other inputs": LISTED | {"places": [0, 1]},
    "a row of all others that sums to more": LISTED | {"rows": [["0", "1"], ["1", "1"]]},
    "a listed row of other letters": LISTED | {"letters": 3},
}
