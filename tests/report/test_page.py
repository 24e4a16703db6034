"""The page: well-formed, self-contained, escaped, and silent in public about what is confidential."""

import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from dalenius.core import Channel, Design, Pmf, TableSource
from dalenius.designs.disclose import disclose
from dalenius.evidence import Audit
from dalenius.report import __all__ as names
from dalenius.report import render, render_public
from dalenius.report.picture import exact_rows, picture
from dalenius.testing import two_binary

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
        if "style" not in self.open:
            self.text += data


def checked(page: str) -> Outline:
    outline = Outline(page)
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert len(set(outline.ids)) == len(outline.ids)
    assert set(outline.references) <= set(outline.ids)
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(outline.headings, outline.headings[1:], strict=False))
    assert outline.tags.count("table") == outline.tags.count("caption")
    for outside in ("http://", "https://", "src=", "href=", "url(", "<script", "@import", "<link", "javascript:"):
        assert outside not in page.lower(), outside
    page.encode("utf-8")
    return outline


def test_every_design_renders_inside_and_outside(design: Design, fine: Audit, against: Audit) -> None:
    for audit in (None, fine, against):
        outline = checked(render(design, audit))
        assert "Confidential" in outline.text
        assert "What was seen" in outline.text
    outline = checked(render_public(design.card()))
    assert "Public report" in outline.text
    assert "What was seen" not in outline.text
    assert "Confidential" not in outline.text
    assert "How to use the released table" in outline.text


def test_all_sections_are_there(designs: dict[str, Design], fine: Audit) -> None:
    text = checked(render(designs["example2"], fine)).text
    for heading in (
        "What was promised",
        "What was proved, and how",
        "What was seen",
        "On average, and at worst",
        "What one more attribute would give away",
        "How useful it is",
        "The channel",
        "The exact fractions",
        "What is not protected",
        "Technical details",
    ):
        assert heading in text
    for figure in ("0.0134208 bits", "0.0134209 bits", "0.793 bits", "2/3", designs["example2"].digest()):
        assert figure in text


def test_table_of_gains_rounds_against_us(designs: dict[str, Design]) -> None:
    page = render(designs["made up"])
    row = re.search(r'<tr><th scope="row">secret</th>(.*?)</tr>', page)
    assert row is not None
    cells = re.findall(r"<td[^>]*>([^<]*)", row[1])
    assert cells == ["51.2 %", "53.2 %", "0.0488 bits", "0.114 bits", "× 1.36"]
    assert page.count('<tr><th scope="row">secret</th><td class="figure"') == 1  # two promises, the same figures
    assert "a value is ruled out" in page
    assert "at least 81.0 % of the most" in page


def test_a_letter_that_is_a_script_is_inert(designs: dict[str, Design], against: Audit) -> None:
    design = designs["made up"]
    problem = replace(design.problem, source=TableSource(f"{EVIL}.csv"))
    evil = replace(design, problem=problem, method=EVIL, remarks=(EVIL,), versions={EVIL: EVIL})
    for page in (render(evil, against, title=EVIL, details={EVIL: EVIL}), render_public(evil.card(), title=EVIL)):
        outline = checked(page)
        assert "script" not in outline.tags
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert EVIL in outline.text


def test_lone_surrogates_and_control_characters_can_be_written(designs: dict[str, Design]) -> None:
    card = designs["xor"].card()
    card["channel"]["inputs"]["X1"] = ["\ud800", "\x00\u202e"]
    assert "\\ud800" in checked(render_public(card)).text


def test_the_public_page_gives_nothing_away(designs: dict[str, Design]) -> None:
    design = designs["made up"]
    inside, outside = render(design), render_public(design.card())
    assert "patients_2024.csv" in inside
    assert "/very/private" not in inside
    for secret in ("patients", "/very/private", "joint", "pmf"):
        assert secret not in outside.lower()
    weights = {str(int(w)) for w in design.problem.pmf.weights} | {str(design.problem.pmf.total)}
    numbers = set(re.findall(r"\d+", Outline(outside).text.replace(",", "")))
    assert {w for w in weights if len(w) > 2} & numbers == set()


def test_only_the_internal_page_says_which_inputs_do_not_occur() -> None:
    design = disclose(two_binary(["1/2", "0", "1/4", "1/4"], ["1/3", "1/2", "3/4", "1/5"]))
    assert render(design).count(">does not occur<") == 1
    assert "does not occur" not in render_public(design.card())


def test_an_address_with_a_password_is_not_shown(designs: dict[str, Design]) -> None:
    design = designs["xor"]
    source = TableSource("postgresql://me:hunter2@host/patients")
    page = render(replace(design, problem=replace(design.problem, source=source)))
    assert "hunter2" not in page
    assert "a database query" in page


def test_a_contradiction_is_the_first_thing_one_reads(designs: dict[str, Design], fine: Audit, against: Audit) -> None:
    text = checked(render(designs["xor"], against)).text
    assert text.index("The evidence contradicts the proof.") < text.index("What was promised")
    assert "Do not publish" in text
    assert "contradicts the proof." not in checked(render(designs["xor"], fine)).text.replace("Nothing contradicts", "")
    assert "The released rows were not audited." in checked(render(designs["xor"])).text


def test_title_and_details(designs: dict[str, Design]) -> None:
    page = render(designs["xor"], title="Survey 2024", details={"Digest of the table": "c0ffee"})
    assert "<title>Survey 2024</title>" in page
    assert '<td class="mono">c0ffee</td>' in page
    assert "<title>Release of Y</title>" in render(designs["xor"])


def test_nothing_to_tell_draws_no_bar(designs: dict[str, Design]) -> None:
    page = render(designs["one letter"])
    assert "there is nothing to tell" in page
    assert "utility-title" not in page


def test_a_channel_too_large_to_be_written_out_has_no_picture(designs: dict[str, Design]) -> None:
    card, letters = designs["xor"].card(), [str(k) for k in range(3000)]
    both = {"inputs": {"X": letters}, "output": {"X": letters}}
    card["channel"] = {"form": "resample", **both, "keep": ["1"] * 3000, "q": ["1/3000"] * 3000}
    assert "given by a rule and not row by row" in checked(render_public(card)).text


def channel_of(rows: int, letters: int) -> Channel:
    law = tuple(Fraction(2 * (y + 1), letters * (letters + 1)) for y in range(letters))
    return Channel({"x": tuple(f"v{k}" for k in range(rows))}, {"Y": tuple(map(str, range(letters)))}, (law,) * rows)


@pytest.mark.parametrize("shape", [(1, 1), (1, 60), (40, 50), (41, 51), (1000, 50)])
def test_pictures_of_every_size(shape: tuple[int, int], designs: dict[str, Design]) -> None:
    channel = channel_of(*shape)
    drawn, table = picture(channel), exact_rows(channel)
    assert (drawn.rows, len(drawn.letters)) == (min(shape[0], 40), min(shape[1], 50))
    assert (drawn.hidden_rows, drawn.hidden_letters) == (max(0, shape[0] - 40), max(0, shape[1] - 50))
    assert len(drawn.cells) == drawn.rows * len(drawn.letters)
    assert all(0 <= float(c.opacity) <= 1 and c.x + drawn.cell[0] <= drawn.width for c in drawn.cells)
    assert max(c.y for c in drawn.cells) + drawn.cell[1] <= drawn.height
    assert table.hidden_rows == max(0, shape[0] - 100)
    card = designs["xor"].card() | {"channel": channel.to_json()}
    text = checked(render_public(card)).text
    assert (f"{shape[0] - 40:,} more are hidden" in text) == (shape[0] > 40)


def test_the_most_probable_inputs_are_shown(designs: dict[str, Design]) -> None:
    page = render(designs["made up"])
    assert "The most probable 40 inputs are shown; 20 more are hidden." in page
    channel = channel_of(60, 2)
    assert [w.text for w in picture(channel, range(60)).outcomes] == [f"v{k}" for k in range(20, 60)]
    assert [w.text for w in picture(channel).outcomes] == [f"v{k}" for k in range(40)]


def test_inputs_are_grouped_by_their_leading_letters() -> None:
    alphabets = {"a": ("0", "1"), "b": ("x", "y")}
    channel = Channel(alphabets, {"Y": ("0",)}, ((Fraction(1),),) * 4)
    drawn = picture(channel, [1, 1, 0, 1])
    assert [w.text for w in drawn.outcomes] == ["0", "x", "y", "1", "x", "y"]
    ys = sorted({c.y for c in drawn.cells})
    assert ys[2] - ys[1] > ys[1] - ys[0] == ys[3] - ys[2]
    assert len(drawn.absent) == 1


def test_internal_page_holds_no_record_of_the_joint(designs: dict[str, Design]) -> None:
    assert "7001" not in render(designs["made up"])
    assert isinstance(designs["made up"].problem.joint, Pmf)


def test_public_names_are_sorted_and_there() -> None:
    import dalenius.report as room

    assert names == sorted(names)
    assert all(hasattr(room, name) for name in names)
