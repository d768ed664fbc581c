#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# paths.sh FOLDER: doc/find-your-way.md answers at least twenty questions, each by one path; all
# paths that it, the other pages and CONTRIBUTING.md name in backticks exist, in the repository, in
# include/ or in include/sinter/; and doc/compiler.md has every pass, in the order in which they run.
set -u
cd "$1" || exit 1
fault=0
complain() { echo "$*"; fault=1; }

answers=doc/find-your-way.md
rows=$(grep -E '^- ' "$answers")
[ "$(wc -l <<<"$rows")" -ge 20 ] || complain "$answers has fewer than twenty questions"
while IFS= read -r row; do
    [[ $row =~ ^'- '[^?]+'? `'([^\`]+)'`'$ ]] ||
        { complain "$answers: not one question and one path: $row"; continue; }
    [ -f "${BASH_REMATCH[1]}" ] || complain "$answers: there is no ${BASH_REMATCH[1]}"
done <<<"$rows"

# What looks like a path: a name with a folder that ends as files do, or in a slash; NAME stands for any name. Neither
# what a build makes nor names in saved files.
checked=0
file='[A-Za-z0-9_./-]*\.(hpp|cpp|cu|cuh|sh|py|md|txt|cmake|json)'
for page in *.md doc/*.md doc/ops/*.md zoo/*.md $(find include -name '*.md'); do
    for path in $(awk '/^```/ { code = !code } !code' "$page" | grep -oE '`[A-Za-z0-9_./-]+`' | tr -d '`' |
            grep -E "^[A-Za-z0-9_.-]+/($file|[A-Za-z0-9_./-]*/|)\$" |
            grep -vE 'NAME|^build/|^optimizer/'); do
        checked=$((checked + 1))
        [ -e "$path" ] || [ -e "include/sinter/$path" ] || [ -e "include/$path" ] ||
            [ -e "$(dirname "$page")/$path" ] || complain "$page: there is no $path"
    done
done
for pass in include/sinter/compiler/passes/*.hpp; do
    grep -qF "\`$(basename "$pass")\`" doc/compiler.md || complain "doc/compiler.md says nothing about $pass"
done
# The table of passes has them in the order of the list.
last=0
for pass in $(grep -oE 'pass_list<[a-z_, ]+>' include/sinter/compiler/passes/list.hpp |
        sed 's/pass_list<//; s/[>,]/ /g'); do
    row=$(grep -nE "^\| [a-z -]+ \|[^|]*\`$pass\.hpp\`" doc/compiler.md | cut -d: -f1 | head -n 1)
    [ -n "$row" ] || { complain "doc/compiler.md has no row for the pass $pass"; continue; }
    [ "$row" -gt $last ] ||
        complain "doc/compiler.md: the pass $pass stands at another place than in compiler/passes/list.hpp"
    last=$row
done
[ $last -gt 0 ] || complain "compiler/passes/list.hpp has no passes that this test sees"
[ $checked -ge 100 ] || complain "only $checked paths were found: this test does not see them"
exit $fault
