#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# documents.sh COMPILER FOLDER: README.md's first C++ block compiles as it is printed; every link between the documents
# leads somewhere; and doc/errors.md has every fault that is raised and every kind of error.
set -u
cd "$2" || exit 1
fault=0
complain() { echo "$*"; fault=1; }

example() { awk '/^```cpp$/ { on = 1; next } on && /^```$/ { exit } on' README.md; }
[ -n "$(example)" ] || complain "README.md has no C++ block"
if said=$(example | "$1" -std=c++20 -fsyntax-only -Wall -Wextra -Iinclude -x c++ - 2>&1); then
    [ -z "$said" ] || complain "README.md's example gives warnings: $said"
elif grep -q 'fatal error: .*zlib\.h' <<<"$said"; then
    echo "left out: README.md's example needs zlib.h"
else
    complain "README.md's example does not compile: $said"
fi

for page in README.md zoo/*.md doc/*.md doc/ops/*.md; do
    while IFS= read -r link; do
        [ -e "$(dirname "$page")/$link" ] || complain "$page: $link leads nowhere"
    done < <(awk '/^```/ { code = !code } !code' "$page" | grep -oE '\]\([^)#]+' | cut -c3- | grep -v '^https:')
done

for name in $(grep -rhoE 'fault_kind::[a-z_]+' include | sort -u | sed 's/.*:://; /^none$/d') \
            $(sed -nE 's/^struct ([a-z_]+) : error .*/\1/p' include/sinter/base/error.hpp); do
    grep -qF "| \`$name\` |" doc/errors.md || complain "doc/errors.md says nothing about $name"
done
exit $fault
