#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""anchors.py FOLDER: each link to a heading, `page.md#heading` or `#heading`, names one that the page has, and
doc/README.md lists every page of doc/."""
import pathlib
import re
import sys


def prose(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def headings(path):
    """As GitHub makes anchors of them: lower case, without punctuation, hyphens for spaces."""
    found = re.findall(r"^#+ (.+?)\s*$", prose(path.read_text()), re.M)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h).replace("`", "") for h in found]
    anchors = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in plain]
    return {a if anchors[:i].count(a) == 0 else f"{a}-{anchors[:i].count(a)}" for i, a in enumerate(anchors)}


def main():
    top = pathlib.Path(sys.argv[1])
    pages = [p for pattern in ("*.md", "doc/*.md", "doc/ops/*.md", "zoo/*.md", "bench/*.md",
                               "bench/notes/*.md", "include/**/*.md") for p in sorted(top.glob(pattern))]
    fault = checked = 0
    for page in pages:
        for path, anchor in re.findall(r"\]\(([\w./-]*\.md)?#([^)\s]+)\)", prose(page.read_text())):
            target = page.parent / path if path else page
            checked += 1
            if target.exists() and anchor not in headings(target):
                print(f"{page.relative_to(top)}: {path}#{anchor} leads to no heading")
                fault = 1
    door = (top / "doc/README.md").read_text()
    for page in sorted((top / "doc").glob("*.md")):
        if page.name != "README.md" and f"]({page.name})" not in door:
            print(f"doc/README.md does not list {page.name}")
            fault = 1
    if checked < 20:
        print(f"only {checked} links to headings were found: this test does not see them")
        fault = 1
    sys.exit(fault)


main()
