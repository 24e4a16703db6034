"""What the documentation site needs beside its pages: links that leave the folder become the names of files."""

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(((?:\.\./)+[^)\s#]+)(#[^)\s]*)?\)")
OUTSIDE = re.compile(r'<script src="https?://[^"]*"></script>')
"""A script from another host: the theme loads one for the search of a site that is opened from a folder."""

ROOT = Path(__file__).resolve().parents[1]


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Links to files of the source tree, which the site does not hold, become text with the name of the file.

    Parameters
    ----------
    markdown : str
        The text of a page.
    page, config : object
        As MkDocs gives them.

    Returns
    -------
    str
    """
    docs = Path(config["docs_dir"]).resolve()
    here = (docs / page.file.src_uri).parent

    def named(found: re.Match[str]) -> str:
        target = (here / found[2]).resolve()
        if target.is_relative_to(docs):
            return found[0]
        return f"{found[1]} (`{target.relative_to(ROOT)}`)"

    return LINK.sub(named, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Take out scripts from other hosts: the site asks nothing from outside.

    Parameters
    ----------
    output : str
        The page as HTML.

    Returns
    -------
    str
    """
    return OUTSIDE.sub("", output)


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for pages that are no documents, such as that of a missing page.

    Parameters
    ----------
    output_content : str
        The page as HTML.

    Returns
    -------
    str
    """
    return OUTSIDE.sub("", output_content)
