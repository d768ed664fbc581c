#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The lists of doc/reliability.md and doc/correctness.md, from the lines at tests' heads that say what a test shows:

    // shows SECTION: a promise in words, which may
    //     go on in indented lines

    shows.py FOLDER            compares the pages with the tests; exit status 1 where they differ
    shows.py FOLDER --write    writes the lists between `<!-- shown: SECTION -->` and `<!-- end -->`

A promise that several tests state in the same words is one entry. Tests labelled slow are marked."""
import pathlib
import re
import sys
import textwrap

PAGES = ("doc/reliability.md", "doc/correctness.md")
HEAD = 30   # lines of a file that may be its head
PLACE = re.compile(r"(<!-- shown: (\S+) -->\n).*?(<!-- end -->)", re.S)


def promises(path):
    """Each (section, promise) at the head of a test, and whether the test is slow."""
    lines = path.read_text(errors="replace").splitlines()[:HEAD]
    slow = any(re.match(r"// labels:.*\bslow\b", line) for line in lines)
    said = []
    for line in lines:
        if first := re.match(r"(?://|#) shows (\S+): (.+)", line):
            said.append(first.groups())
            open_ = True
        elif (more := re.match(r"(?://|#)     ?(\S.*)", line)) and said and open_:
            said[-1] = (said[-1][0], f"{said[-1][1]} {more[1]}")
        else:
            open_ = False
    return said, slow


def collect(top):
    found = {}   # section -> promise -> tests, in the order of their paths
    for path in sorted((top / "test").rglob("*")):
        if path.suffix in (".cpp", ".sh", ".py") and path.is_file() and path.name != "shows.py":
            said, slow = promises(path)
            for section, promise in said:
                name = f"`{path.relative_to(top)}`" + (" (slow)" if slow else "")
                found.setdefault(section, {}).setdefault(promise, []).append(name)
    return found


def entries(rows):
    """A list of at most 120 columns: the promise, and the tests that show it."""
    return "\n" + "".join(textwrap.fill(f"- {promise}: {', '.join(tests)}", 120, subsequent_indent="  ",
                                        break_long_words=False, break_on_hyphens=False) + "\n"
                          for promise, tests in rows.items()) + "\n"


def main():
    top = pathlib.Path(sys.argv[1])
    found = collect(top)
    if not found:
        sys.exit("shows.py: no test says what it shows: this script does not see them")
    fault, used = 0, set()
    for name in PAGES:
        text = (top / name).read_text()
        used |= {section for _, section, _ in PLACE.findall(text)}
        filled = PLACE.sub(lambda m: m[1] + entries(found.get(m[2], {})) + m[3], text)
        if "--write" in sys.argv:
            (top / name).write_text(filled)
        elif filled != text:
            print(f"{name} is not what the tests' heads say: run test/tools/shows.py . --write")
            fault = 1
    for section in sorted(set(found) ^ used):
        print(f"section {section}: " + ("no page has it" if section in found else "no test shows anything of it"))
        fault = 1
    sys.exit(fault)


main()
