#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# documents.sh COMPILER FOLDER: the programs of README.md and doc/ compile; doc/design.md's op is the header's, and
# compiles as a user's; every link between the documents leads somewhere; their prose has at most 120 columns; the
# tables of README.md and bench/README.md are those that bench/tables.py makes of bench/results, those of
# doc/reliability.md and doc/correctness.md what the tests' heads say; each cell of doc/combinations.md has a program
# that shows it; the code of doc/data.md, pipelines.md, estimator.md and layers.md is that of their tests; doc/errors.md
# has every fault that is raised and every kind of error; no header is longer than 500 lines; doc/ has at most 45,000
# words.
set -u
cd "$2" || exit 1
[ -d include/sinter ] || { echo "$2 has no include/sinter: needed is the repository's root"; exit 1; }
fault=0
pages=$(echo *.md bench/*.md zoo/*.md doc/*.md doc/ops/*.md; find include -name '*.md')
complain() { echo "$*"; fault=1; }

# Every program of a page compiles without a warning: what has a main() is one, and what includes a net of the zoo. A
# block whose first line is `// NAME.hpp` is a header that the page's programs include.
programs=$(mktemp -d)
for page in README.md doc/*.md; do
    awk -v folder="$programs" -v to="$programs/$(basename "$page" .md)" '/^```cpp$/ { on = 1; text = ""; next }
        on && /^```$/ { on = 0; if (text ~ /int main\(|#include <zoo/) print text > (to "." ++n ".cpp")
                        else if (text ~ /^\/\/ [a-z_]+\.hpp\n/) {
                            name = substr(text, 4, index(text, "\n") - 4); print text > (folder "/" name) } }
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

# doc/design.md shows all of an op, softsign, and its test, as they are; under another name the op is a user's.
listing() { awk -v head="// $1" 'on && /^```$/ { exit } on; $0 == head { on = 1 }' doc/design.md; }
diff <(listing ops/softsign.hpp) <(tail -n +2 include/sinter/ops/softsign.hpp) >/dev/null ||
    complain "doc/design.md's op is not include/sinter/ops/softsign.hpp"
test_of_op=$(listing test/ops/softsign.cpp)
[ -n "$test_of_op" ] && [[ $(<test/ops/softsign.cpp) == *"$test_of_op"* ]] ||
    complain "doc/design.md's test of an op is not in test/ops/softsign.cpp"
op=$(listing ops/softsign.hpp | sed '/#pragma once/d; s/oftsign/oftsine/g')
if said=$({ echo "#include <sinter/sinter.hpp>"; echo "$op"; echo 'using namespace sinter;
constexpr auto net = features<3> >> [](tensor x) { return ops::softsine(x); } >> dense<2>;
int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }'; } |
        "$1" -std=c++20 -fsyntax-only -DSINTER_ALLOW_UNOPTIMISED -Iinclude -x c++ - 2>&1); then
    [ -n "$op" ] || complain "doc/design.md has no op"
elif ! grep -q 'fatal error: .*zlib\.h' <<<"$said"; then
    complain "doc/design.md's op does not compile: $said"
fi

if command -v python3 >/dev/null; then
    python3 -B test/tools/cluster_page.py . || fault=1   # doc/cluster.md: its manifests and shell snippets
    python3 -B test/tools/shows.py . || fault=1          # doc/reliability.md, doc/correctness.md: what tests show
    python3 -B test/tools/combinations.py . || fault=1   # doc/combinations.md: each cell's program
    python3 -B test/tools/anchors.py . || fault=1        # links to headings; doc/README.md has all pages
else
    echo "left out: what needs python3: doc/cluster.md's snippets, tables of tests, links to headings"
fi

words=$(cat doc/*.md | tr -s '[:space:]' '\n' | grep -c '[[:alnum:]]')   # tables' bars are no words
[ "$words" -le 45000 ] || complain "doc/ has $words words without the ops' pages; 45,000 are allowed"

for page in $pages bench/notes/*.md; do
    while IFS= read -r link; do
        [ -e "$(dirname "$page")/$link" ] || complain "$page: $link leads nowhere"
    done < <(awk '/^```/ { code = !code } !code' "$page" | grep -oE '\]\([^)#]+' | cut -c3- | grep -v '^https:')
done

for page in $pages; do   # prose: neither code nor tables; a character counts once
    LC_ALL=C awk -v page="$page" '/^```/ { code = !code } !code && !/^\|/ && !/^    / {
        gsub(/[\200-\277]/, ""); if (length > 120) { print page ":" FNR " is " length " columns wide"; bad = 1 } }
        END { exit bad }' "$page" || fault=1
done

if command -v python3 >/dev/null; then
    filled=$(mktemp -d)
    mkdir -p "$filled/bench/notes"
    cp README.md "$filled/" && cp bench/README.md "$filled/bench/"
    if python3 -B bench/tables.py fill --top "$filled"; then
        for page in README.md bench/README.md $(cd "$filled" && echo bench/notes/*.md); do
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
for pair in data:data/guide estimator:estimator/guide layers:layers/guide pipelines:data/pipelines_guide; do
    page=doc/${pair%:*}.md guide=test/${pair#*:}.cpp   # which has the page's code
    missing=$(awk '/^```cpp$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" | squeezed |
        grep -vxFf <(squeezed "$guide"))
    [ -z "$missing" ] || complain "$page has code that $guide lacks: $missing"
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
