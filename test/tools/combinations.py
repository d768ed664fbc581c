#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""combinations.py FOLDER: each cell of doc/combinations.md is `[yes](TEST#CASE)`, `[no](PROGRAM)` or
`[error](TEST#CASE)`, or empty; TEST is a test with that case, and PROGRAM one in test/bad, whose head says what its one
error must hold. The test command runs all of them."""
import pathlib
import re
import sys

LINK = re.compile(r"\[(yes|no|error|test)\]\((\.\./test/[\w./]+)(?:#(\w+))?\)")


def fault_of(verdict, path, case):
    """What is wrong with a cell's program, or ""."""
    if not path.is_file():
        return "there is no such file"
    text = path.read_text()
    if verdict == "no":
        if path.parent.name != "bad":
            return "what must not compile is in test/bad"
        return "" if re.search(r"^// expect: ", text, re.M) else "its head says of no error that it must give"
    if path.parent.name == "bad":
        return "it must not compile, so it shows nothing that works"
    if not re.search(r"BOOST_\w+_TEST_CASE", text):
        return "it has no test case"
    return "" if not case or re.search(rf"TEST_CASE\w*\(\s*{case}\b", text) else f"it has no test case {case}"


def main():
    top = pathlib.Path(sys.argv[1])
    page = top / "doc/combinations.md"
    text = page.read_text()
    fault = checked = 0

    def complain(words):
        nonlocal fault
        print(f"doc/combinations.md: {words}")
        fault = 1

    for verdict, path, case in LINK.findall(text):
        checked += 1
        if said := fault_of(verdict, page.parent / path, case):
            complain(f"[{verdict}]({path}{'#' + case if case else ''}): {said}")
    rows = [line for line in text.splitlines() if line.startswith("|") and not line.startswith(("| |", "|---"))]
    for row in rows:
        for cell in row.split("|")[2:-1]:
            if cell.strip() and not LINK.fullmatch(cell.strip()):
                complain(f"a cell says neither yes, no nor error of a program: {cell.strip()}")
    # What must not compile of a strategy's and is in no cell would be a rule that this page does not tell.
    named = {pathlib.Path(path).name for _, path, _ in LINK.findall(text)}
    for program in sorted((top / "test/bad").glob("*.cpp")):
        about = re.search(r"_(on|of|without)_servers|_in_(shards|parts)|^(elastic|canonical|sharded_update|servers)_",
                          program.stem)
        if about and program.name not in named and not program.stem.startswith(("scalar_", "mode_")):
            complain(f"it does not tell of {program.relative_to(top)}")
    if checked < 50:
        complain(f"only {checked} cells were found: this test does not see them")
    sys.exit(fault)


main()
