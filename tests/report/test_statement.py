"""The statement: well-formed, self-contained, escaped, and silent in public about what is confidential."""

import gzip
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from dalenius import solve
from dalenius.core import Channel, Design, Leakage, TableSource
from dalenius.evidence import Audit, beliefs
from dalenius.evidence.before_after import BeforeAfter, ValueCount
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.columns.leakage.trade import Trade
from dalenius.report.facts import Facts, Promise
from dalenius.report.gains import one_more
from dalenius.report.statement import _titled, _use, public_statement, statement
from dalenius.report.tiles import recipe
from dalenius.testing import binary_tradeoff, two_binary
from tests.test_words import dialect

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """Every tag closed in its order, every id once, every reference to one that is there."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: list[str] = []
        self.headings: list[int] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert len(given) == len(attrs), f"an attribute of <{tag}> stands twice"
        self.tags.append(tag)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.references += (given.get("aria-labelledby") or "").split()
        if tag == "a":
            self.references.append((given["href"] or "").removeprefix("#"))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script", "pre"} & set(self.open):
            self.text += data


def words_of(outline: Outline) -> str:
    return " ".join(outline.text.split())


def checked(page: str) -> Outline:
    outline = Outline(page)
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert len(set(outline.ids)) == len(outline.ids)
    assert set(outline.references) <= set(outline.ids)
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(outline.headings, outline.headings[1:], strict=False))
    assert outline.tags.count("table") == outline.tags.count("caption")
    unscripted = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    for outside in ("http://", "https://", "src=", "@import", "<link", "javascript:", "<img"):
        assert outside not in unscripted.lower(), outside
    assert set(re.findall(r"url\((.*?)\)", unscripted)) <= {"#p-base", "#p-extra", "#p-none"}
    page.encode("utf-8")
    return outline


def test_every_design_has_both_statements(design: Design, fine: Audit, against: Audit) -> None:
    for audit in (None, fine, against):
        text = words_of(checked(statement(design, audit)))
        assert "Confidential" in text
        assert "Sign-off" in text
        assert "Tests of the released table" in text
    text = words_of(checked(public_statement(design.card(), text=design.card_text() if design.text else "")))
    assert "Public" in text
    assert "Confidential" not in text
    assert "Sign-off" not in text
    assert "How to use the released table" in text


def test_the_parts_of_a_statement_stand_in_their_order(fine: Audit) -> None:
    design = solve(Trade.of(binary_tradeoff("1/10", "1/20")).at_leakage(Fraction(1, 10)))
    counts = BeforeAfter((ValueCount(("X",), ("0",), 100, 60), ValueCount(("X",), ("1",), 100, 140)), ())
    made = datetime(2026, 11, 16, 9, 12, tzinfo=UTC)
    page = statement(design, fine, counts=counts, beliefs=beliefs(design), made=made, tried=("another way: 3",))
    text = words_of(checked(page))
    parts = (
        "The promise",
        "What an attacker gains",
        "With this release",
        "If the same columns were published unchanged",
        "The most an attacker can believe",
        "Worst case",
        "What analysts lose",
        "“X: 0” fell from 100 to 60 rows.",
        "Another way: 3.",
        "Is it true?",
        "What this does not protect",
        "Sign-off",
        "Details",
        "For specialists",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "16 November 2026" in text
    assert "One group lost over a quarter of its rows: X 0" in text


def test_a_release_that_reveals_the_least_says_how_much_that_is() -> None:
    text = words_of(checked(statement(solve(binary_tradeoff("1/10", "1/20")))))
    assert "On average, a released row reveals at most 0.416 bits about S" in text
    assert "Nothing is promised" not in text


def test_the_statement_speaks_plainly(fine: Audit) -> None:
    design = solve(Trade.of(binary_tradeoff("1/10", "1/20")).at_leakage(Fraction(1, 10)))
    for page in (statement(design, fine, beliefs=beliefs(design)), public_statement(design.card())):
        lay = re.sub(r'<details id="technical">.*?</details>', "", page, flags=re.DOTALL)
        texts = re.findall(r">([^<>]+)<", re.sub(r"<(style|script|pre)[^>]*>.*?</\1>", "", lay, flags=re.DOTALL))
        assert [(words, text) for text in texts if (words := dialect(text))] == []


def test_one_fingerprint_and_it_is_that_of_the_file(design: Design) -> None:
    page = statement(design)
    shown = set(re.findall(r"\b[0-9a-f]{64}\b", re.sub(r"<(script|pre).*?</\1>", "", page, flags=re.DOTALL)))
    assert shown == {design.fingerprint()}
    if design.text:
        assert shown == {sha256(design.dumps().encode()).hexdigest()}
    assert f"Privacy statement <b>{design.fingerprint()[:8]}</b>" in page


def carried(page: str, name: str) -> list[str]:
    """What the page carries compressed under a name."""
    found = re.findall(f'<pre id="{name}" hidden>(.*?)</pre>', page, flags=re.DOTALL)
    return [gzip.decompress(b64decode(text)).decode() for text in found]


def test_the_policy_allows_the_two_scripts_of_the_page_and_no_other(design: Design) -> None:
    page = statement(design)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.DOTALL) + carried(page, "checker")
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert re.findall(r"'sha256-([^']*)'", policy[1]) == digests
    assert len(digests) == (2 if design.text else 0)


def test_the_page_carries_its_proof_file_to_the_letter(designs: dict[str, Design]) -> None:
    for name in ("xor", "example2", "kept"):
        assert carried(statement(designs[name]), "proof-file") == [designs[name].dumps()]


def test_guesses_are_rounded_against_us(designs: dict[str, Design]) -> None:
    text = words_of(checked(statement(designs["made up"])))
    assert (
        "right 513 times in 1,000 without the released row, and at most 19 times more with it" in text
    )  # 0.51279, 0.53121
    assert "at most 19 more right guesses" in text
    assert "can exclude an answer about kind and secret together" in text


def test_a_value_that_is_a_script_is_inert(designs: dict[str, Design], against: Audit) -> None:
    design = designs["made up"]
    problem = replace(design.problem, source=TableSource(f"{EVIL}.csv", title=EVIL, owner=EVIL))
    evil = replace(design, problem=problem, method=EVIL, remarks=(EVIL,), versions={EVIL: EVIL})
    counts = BeforeAfter((ValueCount((EVIL,), (EVIL,), 100, 0),), ())
    inside = statement(evil, against, details={EVIL: EVIL}, counts=counts, tried=(EVIL,))
    for page in (inside, public_statement(evil.card() | {"title": EVIL, "owner": EVIL})):
        outline = checked(page)
        assert "script" not in outline.tags
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert EVIL in outline.text


def test_lone_surrogates_and_control_characters_can_be_written(designs: dict[str, Design]) -> None:
    card = designs["xor"].card()
    card["channel"]["inputs"]["X1"] = ["\ud800", "\x00\u202e"]
    assert "\\ud800" in checked(public_statement(card)).text


def test_the_public_statement_gives_nothing_away(designs: dict[str, Design]) -> None:
    design = designs["made up"]
    inside, outside = statement(design), public_statement(design.card())
    assert "patients_2024.csv" in inside
    assert "/very/private" not in inside
    for secret in ("patients", "/very/private", "joint", "pmf"):
        assert secret not in Outline(outside).text.lower()
    weights = {str(int(w)) for w in design.problem.pmf.weights} | {str(design.problem.pmf.total)}
    numbers = set(re.findall(r"\d+", Outline(outside).text.replace(",", "")))
    assert {w for w in weights if len(w) > 2} & numbers == set()


def test_the_public_statement_does_not_claim_that_the_statistics_stay_secret(design: Design) -> None:
    text = words_of(checked(public_statement(design.card()))).lower()
    assert "confidential" not in text
    assert "not in the card" not in text


def test_what_a_card_says_of_changes_is_shown_without_counts_before(designs: dict[str, Design]) -> None:
    changes = [{"column": "age", "value": "old", "rows_after": 77, "change_percent": -76}]
    text = words_of(checked(public_statement(designs["xor"].card() | {"changes": changes})))
    assert "“age: old” lost about 76 % of its rows." in text
    assert "One group lost over a quarter of its rows: age old" in text
    assert "before" not in text.partition("What analysts lose")[2].partition("Is it true?")[0]


def test_changes_below_one_per_cent_are_all_told_alike(designs: dict[str, Design], fine: Audit) -> None:
    counts = BeforeAfter((ValueCount(("X",), ("0",), 1000, 1007), ValueCount(("X",), ("1",), 1000, 996)), ())
    text = words_of(checked(statement(designs["xor"], fine, counts=counts)))
    assert text.count("< 1 %") == 2
    assert "0.7 %" not in text


def test_both_statements_round_a_change_alike(designs: dict[str, Design], fine: Audit) -> None:
    """496 of 701 rows were a loss of 29 % on one page and of 30 % on the other; 200 to 470 were +140 % and +135 %."""
    counts = BeforeAfter((ValueCount(("X",), ("0",), 701, 496), ValueCount(("X",), ("1",), 200, 470)), ())
    inside = statement(designs["xor"], fine, counts=counts)
    outside = public_statement(designs["xor"].card() | {"changes": counts.public(1)})
    for page in (inside, outside):
        text = words_of(checked(page))
        assert "−30 %" in text
        assert "+135 %" in text
    assert counts.single[0].words().endswith("(loses 30 %)")


@pytest.mark.parametrize(
    ("kept", "withheld", "said"),
    [
        (True, False, "are right, up to chance. dalenius estimate card.json released.csv adds intervals."),
        (True, True, "So shares that are counted in the released table are right, up to chance."),
        (False, False, "Do not count as if nothing had been changed."),
        (False, True, "do not read shares of the original table off the released one."),
    ],
)
def test_the_public_statement_says_whether_shares_can_be_counted(
    kept: bool, withheld: bool, said: str, designs: dict[str, Design]
) -> None:
    """It warned against counting where every share is kept, and left it open where none is."""
    facts = Facts.of_card(designs["xor"].card())
    facts = replace(facts, output=facts.inputs, withheld=withheld, shape=replace(facts.shape, keeps_shares=kept))
    assert said in _use(facts)


def test_a_card_without_its_recipe_is_not_said_to_show_it(designs: dict[str, Design]) -> None:
    card = designs["xor"].card()
    assert "published recipe" in words_of(checked(public_statement(card)))
    card["channel"] = {k: card["channel"][k] for k in ("inputs", "output")} | {"form": "withheld"}
    text = words_of(checked(public_statement(card)))
    assert "neither this page nor card.json holds it" in text
    assert "published recipe" not in text


def test_a_secret_in_groups_is_said_to_be_protected_as_groups(designs: dict[str, Design]) -> None:
    card = designs["xor"].card()
    said = "X1 is protected in its groups. Which value within a group a row has is not protected."
    assert said not in words_of(checked(public_statement(card)))
    assert said in words_of(checked(public_statement(card | {"grouped_secrets": ["X1"]})))


def test_a_small_change_is_not_called_none_in_public(designs: dict[str, Design]) -> None:
    """6,614 rows that became 6,633 are not the same; the card knows whole per cent alone."""
    changes = [{"column": "visits", "value": "1-2", "rows_after": 6633, "change_percent": 0}]
    lost = words_of(checked(public_statement(designs["xor"].card() | {"changes": changes})))
    said = lost.partition("What analysts lose")[2].partition("Is it true?")[0]
    assert "< 1 %" in said
    assert "same" not in said


def test_what_one_more_column_adds_to_the_promise_is_rounded_against_us(designs: dict[str, Design]) -> None:
    """0.0512 bits where a twentieth is promised: 2.4 % more, and a hair above it is not 2.4."""
    facts = Facts.of_card(designs["made up"].card())
    figures = {"with_one_more_bits": {"kind": "0.05120001"}}
    promise = Promise(Leakage("secret", "1/20"), figures)
    (line,) = one_more(replace(facts, promises=(promise,)))
    assert line["against"] == "2.5 % more than promised"


def test_an_address_with_a_password_is_not_shown(designs: dict[str, Design]) -> None:
    design = designs["xor"]
    source = TableSource("postgresql://me:hunter2@host/patients")
    page = statement(replace(design, problem=replace(design.problem, source=source)))
    assert "hunter2" not in page
    assert "a database query" in page


def test_a_contradiction_stands_on_the_first_page(designs: dict[str, Design], fine: Audit, against: Audit) -> None:
    text = words_of(checked(statement(designs["xor"], against)))
    assert text.index("The released table contradicts the proof: do not use it") < text.index("Is it true?")
    assert "FAILED" in text
    text = words_of(checked(statement(designs["xor"], fine)))
    assert "contradicts the proof:" not in text
    assert "FAILED" not in text
    assert "Not tested" in words_of(checked(statement(designs["xor"])))


def test_title_owner_and_details(designs: dict[str, Design]) -> None:
    called = TableSource("survey.csv", title="Survey 2024", owner="Office")
    named = replace(designs["xor"], problem=replace(designs["xor"].problem, source=called))
    page = statement(named, details={"Digest of the table": "c0ffee"})
    assert "<title>Privacy statement: Survey 2024</title>" in page
    assert "<td>c0ffee</td>" in page
    assert "Owner of the table: Office" in page
    assert "<title>Privacy statement: Release of Y</title>" in statement(designs["xor"])


def test_a_recipe_too_large_to_be_written_out_has_no_picture(designs: dict[str, Design]) -> None:
    card, letters = designs["xor"].card(), [str(k) for k in range(3000)]
    both = {"inputs": {"X": letters}, "output": {"X": letters}}
    card["channel"] = {"form": "resample", **both, "keep": ["1"] * 3000, "q": ["1/3000"] * 3000}
    assert "The recipe is a rule and not a list" in checked(public_statement(card)).text


def changing(sizes: dict[str, int]) -> Channel:
    """Columns that keep all but one combination, the first, which always becomes the last."""
    alphabets = {name: tuple(f"{name}{k}" for k in range(size)) for name, size in sizes.items()}
    many = 1
    for size in sizes.values():
        many *= size
    rows = [tuple(Fraction(int(y == (x or many - 1))) for y in range(many)) for x in range(many)]
    return Channel(alphabets, alphabets, tuple(rows))


@pytest.mark.parametrize(
    "sizes",
    [
        {"a": 3},
        {"a": 2, "b": 3},
        {"a": 2, "b": 4, "c": 4},
        pytest.param({"a": 14, "b": 7, "c": 7}, marks=pytest.mark.slow),
    ],
)
def test_there_is_one_tile_for_each_combination(sizes: dict[str, int], designs: dict[str, Design]) -> None:
    channel = changing(sizes)
    found = recipe(channel, None)
    tiles = [tile for table in found.tables for _, line in table.lines for tile in line]
    assert len(tiles) == channel.shape[0] == found.combinations
    assert [tile.word for tile in tiles].count("all") == 1
    assert found.still == len(tiles) - 1
    assert tiles[0].step == 5
    assert found.flows[0].name == " · ".join(f"{name}0" for name in sizes)
    text = checked(public_statement(designs["xor"].card() | {"channel": channel.to_json()})).text
    for name, size in sizes.items():
        assert all(f"{name}{k}" in text for k in range(size))  # every label is written out, none is cut


def test_rows_that_do_not_occur_have_an_empty_tile() -> None:
    found = recipe(changing({"a": 2, "b": 2}), [0, 5, 1, 7])
    words = [(tile.word, tile.rows) for _, line in found.tables[0].lines for tile in line]
    assert words == [("–", "no row"), ("0", "of 5"), ("0", "of 1"), ("0", "of 7")]


def test_a_release_under_other_values_lists_where_rows_go() -> None:
    found = recipe(disclose(two_binary(["1/2", "0", "1/4", "1/4"], ["1/3", "1/2", "3/4", "1/5"])).channel, None)
    assert found.tables == ()
    assert found.flows


def test_a_title_names_few_columns_and_counts_many() -> None:
    assert _titled(["a", "b"]) == "a and b"
    assert _titled([str(k) for k in range(7)]) == "7 columns"


def test_rows_stay_where_they_are_although_the_recipe_also_looks_at_a_secret() -> None:
    """Rows that stay were drawn as changed ones: the recipe looks at one more column than it releases."""
    looks = Channel({"sex": ("f", "m"), "ill": ("no", "yes")}, {"sex": ("f", "m")}, rows=ROWS)
    flows = recipe(looks, [10, 20, 30, 40]).flows
    assert [(flow.name, flow.parts[0].words, flow.parts[0].kind) for flow in flows][:1] == [
        ("m · yes", "stay as they are", "keep")
    ]
    assert [part.words for flow in flows for part in flow.parts if part.kind != "keep"] == ["sex f", "sex m"]


ROWS = tuple(tuple(map(Fraction, row)) for row in ((1, 0), ("3/4", "1/4"), (0, 1), ("1/2", "1/2")))
