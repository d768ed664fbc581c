#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# public_names.sh FOLDER: what `using namespace sinter` shows of the machinery's folders is what
# public_names.txt, beside this script, lists, header by header. Everything else of these folders is
# in sinter::base, compiler, runtime, session_parts, strategy_parts or detail, or in the namespace of its files or
# kernels. Layers, ops, losses, metrics, optimizers, schedules and hooks are for users, and are not listed.
# `public_names.sh FOLDER print` writes the list as it is.
set -u
cd "$1/include" 2>/dev/null && [ -d sinter/base ] ||
    { echo "$1 has no include/sinter: needed is the repository's root"; exit 1; }
list=../test/tools/public_names.txt

# Declarations begin in column 0. `at` is the innermost namespace that is open: sinter itself is "", and whatever is
# opened within it hides what follows, to the brace in column 0 that closes it.
names() {
    find sinter/{base,graph,autodiff,compiler,kernel,device,collective,net,parameter_server,strategy,estimator} \
        sinter/{train,data,io,profile} -name '*.hpp' |
        grep -vE '/(losses|metrics|optimizers|schedules|hooks)/' | LC_ALL=C sort | xargs awk '
        function opened(line,    up) {   # braces that a line opens, less those that it closes
            sub(/\/\/.*/, "", line)
            gsub(/"([^"\\]|\\.)*"|\x27([^\x27\\]|\\.)\x27/, "", line)
            up = gsub(/\{/, "", line)
            return up - gsub(/\}/, "", line)
        }
        FNR == 1 { public = nested = 0 }
        nested { nested += opened($0); next }
        /^#/ || /^ *\/\// { next }
        /^(inline )?namespace sinter(::inline SINTER_(TARGET|ORDINARY))? \{/ { public = 1; nested = 0; next }
        /^namespace sinter/ { public = 0; next }
        /^\} \/\/ namespace sinter/ { public = 0; next }
        public && /^(inline )?namespace / {
            name = $1 == "inline" ? $3 : $2
            if (name !~ /^(base|compiler|runtime|detail|(session|strategy|training)_parts|facts|svg)$/)
                print FILENAME " " name
            nested = opened($0)
            next
        }
        public && /^[a-zA-Z\[]/ && !/^(private|protected|public):|^static_assert|^requires/ {
            line = $0
            sub(/^SINTER_[A-Z_]+ /, "", line)
            while (line ~ /^template *</) {            # the parameters may hold <> of their own
                depth = 0
                for (i = index(line, "<"); i <= length(line); ++i) {
                    c = substr(line, i, 1)
                    if (c == "<") ++depth
                    if (c == ">" && --depth == 0) break
                }
                line = substr(line, i + 1)
                sub(/^ +/, "", line)
            }
            if (line == "") next
            if (match(line, /^(struct|class|enum class|enum|concept|using) /)) {
                line = substr(line, RLENGTH + 1)
                sub(/^namespace .*/, "", line)
                sub(/^alignas\([^)]*\) /, "", line)
                sub(/^([a-z]+::)+/, "", line)          # using base::name
                match(line, /^[A-Za-z_0-9]*/)
                name = substr(line, 1, RLENGTH)
            } else {
                sub(/[({=;].*/, "", line)
                if (line ~ /operator/ || line ~ /::[a-z_]+ *$/) next
                sub(/ *(<[^<>]*>|\[[^]]*\])? *$/, "", line)
                match(line, /[A-Za-z_0-9]+$/)
                name = substr(line, RSTART)
            }
            if (name != "") print FILENAME " " name
        }' | LC_ALL=C sort -u | awk '
        $1 != last { printf "%s%s:", last == "" ? "" : "\n", $1; last = $1 }
        { printf " %s", $2 }
        END { print "" }'
}
[ "${2:-}" = print ] && { names; exit 0; }
names | diff <(grep -v '^#' $list) - >/tmp/public_names.$$ && { rm -f /tmp/public_names.$$; exit 0; }
echo "Names in sinter itself differ from test/tools/public_names.txt (< listed, > found). Move them to"
echo "sinter::compiler, runtime, base, session_parts, strategy_parts or detail; or list them, if they are for users."
cat /tmp/public_names.$$
rm -f /tmp/public_names.$$
exit 1
