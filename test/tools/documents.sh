#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# documents.sh COMPILER FOLDER: the programs of README.md and doc/ and doc/design.md's op compile;
# every link between the documents leads somewhere; their prose has at most 120 columns; the tables
# of README.md and doc/benchmarks.md are those that bench/tables.py makes of bench/results; the code
# of doc/data.md, doc/estimator.md and doc/layers.md is that of their tests; doc/errors.md has every fault that is
# raised and every kind of error; no header is longer than 500 lines.
set -u
cd "$2" || exit 1
[ -d include/sinter ] || { echo "$2 has no include/sinter: needed is the repository's root"; exit 1; }
fault=0
complain() { echo "$*"; fault=1; }

# Every program of a page compiles without a warning: what has a main() is one, and what includes a net of the zoo.
programs=$(mktemp -d)
for page in README.md doc/*.md; do
    awk -v to="$programs/$(basename "$page" .md)" '/^```cpp$/ { on = 1; text = ""; next }
        on && /^```$/ { on = 0; if (text ~ /int main\(|#include <zoo/) print text > (to "." ++n ".cpp") }
        on { text = text $0 "\n" }' "$page"
done
[ -e "$programs/README.1.cpp" ] || complain "README.md has no program"
for program in "$programs"/*.cpp; do
    page=$(basename "$program" | sed 's/\..*/.md/')
    if said=$("$1" -std=c++20 -fsyntax-only -DSINTER_ALLOW_UNOPTIMISED -Wall -Wextra -Wno-unused-but-set-variable \
            -Iinclude -I. "$program" 2>&1); then
        [ -z "$said" ] || complain "a program of $page gives warnings: $said"
    elif library=$(grep -oE 'fatal error: .*(zlib\.h|png\.h)|#error "sinter[^"]*needs [^"]*' <<<"$said"); then
        echo "left out: a program of $page: ${library%%$'\n'*}"
    else
        complain "a program of $page does not compile: $said"
    fi
done
rm -rf "$programs"

# doc/design.md shows all of an op, softsign; under another name it is a user's op.
op=$(awk '/^\/\/ ops\/softsign.hpp/ { on = 1 } on && /^```$/ { exit } on' doc/design.md |
    sed '/#pragma once/d; s/oftsign/oftsine/g')
if said=$({ echo "#include <sinter/sinter.hpp>"; echo "$op"; echo 'using namespace sinter;
constexpr auto net = features<3> >> [](tensor x) { return ops::softsine(x); } >> dense<2>;
int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }'; } |
        "$1" -std=c++20 -fsyntax-only -DSINTER_ALLOW_UNOPTIMISED -Iinclude -x c++ - 2>&1); then
    [ -n "$op" ] || complain "doc/design.md has no op"
elif ! grep -q 'fatal error: .*zlib\.h' <<<"$said"; then
    complain "doc/design.md's op does not compile: $said"
fi

# doc/cluster.md: its manifests and shell snippets are what they should be.
if command -v python3 >/dev/null; then
    python3 -B test/tools/cluster_page.py . || fault=1
else
    echo "left out: doc/cluster.md's snippets, which need python3"
fi

for page in *.md zoo/*.md doc/*.md doc/ops/*.md bench/notes/*.md; do
    while IFS= read -r link; do
        [ -e "$(dirname "$page")/$link" ] || complain "$page: $link leads nowhere"
    done < <(awk '/^```/ { code = !code } !code' "$page" | grep -oE '\]\([^)#]+' | cut -c3- | grep -v '^https:')
done

for page in *.md zoo/*.md doc/*.md doc/ops/*.md; do   # prose: neither code nor tables; a character counts once
    LC_ALL=C awk -v page="$page" '/^```/ { code = !code } !code && !/^\|/ && !/^    / {
        gsub(/[\200-\277]/, ""); if (length > 120) { print page ":" FNR " is " length " columns wide"; bad = 1 } }
        END { exit bad }' "$page" || fault=1
done

if command -v python3 >/dev/null; then
    filled=$(mktemp -d)
    mkdir -p "$filled/doc" "$filled/bench/notes"
    cp README.md "$filled/" && cp doc/benchmarks.md "$filled/doc/"
    if python3 -B bench/tables.py fill --top "$filled"; then
        for page in README.md doc/benchmarks.md $(cd "$filled" && echo bench/notes/*.md); do
            cmp -s "$page" "$filled/$page" || complain "$page is not what 'bench/tables.py fill' makes of bench/results"
        done
    else
        complain "bench/tables.py fill fails"
    fi
    rm -rf "$filled"
else
    echo "left out: whether the tables are those of bench/results, which needs python3"
fi

squeezed() { sed -E 's/^ +//; s/ +$//; /^$/d' "$@"; }
for folder in data estimator layers; do   # folder/guide.cpp has the code of a page
    page=doc/$folder.md
    missing=$(awk '/^```cpp$/ { on = 1; next } /^```$/ { on = 0 } on' $page | squeezed |
        grep -vxFf <(squeezed test/$folder/guide.cpp))
    [ -z "$missing" ] || complain "$page has code that test/$folder/guide.cpp lacks: $missing"
done

for name in $(grep -rhoE 'fault_kind::[a-z_]+' include | sort -u | sed 's/.*:://; /^none$/d') \
            $(sed -nE 's/^struct ([a-z_]+) : error .*/\1/p' include/sinter/base/error.hpp); do
    grep -qF "| \`$name\` |" doc/errors.md || complain "doc/errors.md says nothing about $name"
done

for header in $(find include zoo -name '*.hpp'); do
    [ "$(wc -l <"$header")" -le 500 ] || complain "$header has $(wc -l <"$header") lines"
done

# doc/ops/README.md says under which names an op is found: in ops::, and in sinter:: unless a layer is called so.
for page in doc/ops/*.md; do
    op=$(basename "$page" .md)
    [ "$op" != README ] || continue
    grep -qE "^constexpr (tensor|bundle|scan_step) $op\(" "include/sinter/ops/$op.hpp" 2>/dev/null || continue
    grep -rqE "^using ops::$op;|^SINTER_ACTIVATION\($op\)|^inline constexpr .*[ >]$op\{\};" \
            include/sinter/ops include/sinter/autodiff include/sinter/layers ||
        complain "include/sinter/ops/$op.hpp: there is neither a layer $op nor 'using ops::$op;' in namespace sinter"
done

exit $fault
