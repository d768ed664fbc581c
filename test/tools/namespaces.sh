#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# shows numbers: files of one program that are compiled for different processors coexist
# namespaces.sh FOLDER: all headers but those of base/ put what they declare into the target's inline namespace or that
# of ordinary code, in one spelling, and include what defines its name (base/target_namespace.hpp says why); and that
# name says all macros of the compiler's target that any of them looks at. Files, data, connections and servers are
# ordinary, and no ordinary header includes one of the target's.
set -u
cd "$1/include" 2>/dev/null && [ -d sinter/base ] ||
    { echo "$1 has no include/sinter: needed is the repository's root"; exit 1; }
fault=0
complain() { echo "include/$*"; fault=1; }

bare='^(inline )?namespace sinter(::[a-z_:]+)? *\{'
while IFS=: read -r header line text; do
    needed=${text/namespace sinter/namespace sinter::inline SINTER_TARGET}
    complain "$header:$line: got \"$text\", needed \"$needed\" or SINTER_ORDINARY"
done < <(grep -rnE "$bare" sinter --include='*.hpp' | grep -v '^sinter/base/')
while IFS=: read -r header line text; do
    needed=$(sed -E 's/::inline SINTER_[A-Z]+//' <<<"$text")
    complain "$header:$line: base/ is the same for all targets; got \"$text\", needed \"$needed\""
done < <(grep -rnE '^namespace.*SINTER_(TARGET|ORDINARY)' sinter/base --include='*.hpp')
while IFS=: read -r header line text; do
    complain "$header:$line: what is here is ordinary; got \"$text\", needed \"${text/SINTER_TARGET/SINTER_ORDINARY}\""
done < <(grep -rnE '^namespace.*SINTER_TARGET' sinter/{io,data,net,collective,parameter_server} --include='*.hpp' |
    grep -v '^sinter/io/onnx/term')   # which has arithmetic<term>

# Which headers reach the macro's definition; elsewhere its name would be the namespace's.
without=$(grep -rE '^ *# *include <sinter/' sinter sinter/base/target_namespace.hpp --include='*.hpp' | awk -F'[:<>]' '
    { of[++n] = $1; what[n] = $3 }
    END {
        has["sinter/base/target_namespace.hpp"] = 1
        do {
            more = 0
            for (i = 1; i <= n; ++i) if (what[i] in has && !(of[i] in has)) { has[of[i]] = 1; more = 1 }
        } while (more)
        for (h in has) print h
    }' | sort | comm -13 - <(grep -rlE '^namespace.*SINTER_(TARGET|ORDINARY)' sinter --include='*.hpp' | sort))
for header in $without; do
    complain "$header uses SINTER_TARGET or SINTER_ORDINARY; needed is an #include <sinter/base/target_namespace.hpp>"
done

# An ordinary header is the same for all targets: nothing that it includes, at once or in the end, is of the target. A
# header that has both (a template for each model, over ordinary functions) is neither; so is keep_best, whose
# restore() takes any model. io/onnx/ reads the headers of ops, whose attributes it knows by name; files that do so are
# included by functions' bodies alone (compiled/onnx_source.hpp).
while read -r header via; do
    complain "$header is ordinary, and includes $via, which is the target's"
done < <({ grep -rE '^ *# *include <sinter/' sinter --include='*.hpp' | sed -E 's/^([^:]*):[^<]*<([^>]*)>.*/i \1 \2/'
           grep -rlE '^namespace.*SINTER_TARGET' sinter --include='*.hpp' |
               xargs grep -LE '^namespace.*SINTER_ORDINARY' | sed 's/^/t /'
           grep -rlE '^namespace.*SINTER_ORDINARY' sinter --include='*.hpp' | grep -vE 'hooks/keep_best|io/onnx/' |
               xargs grep -LE '^namespace.*SINTER_TARGET' | sed 's/^/o /'; } | awk '
    $1 == "i" { of[++n] = $2; what[n] = $3; next }
    $1 == "t" { via[$2] = $2; next }
    { ordinary[$2] = 1 }
    END {
        do {
            more = 0
            for (i = 1; i <= n; ++i)
                if (what[i] in via && !(of[i] in via)) { via[of[i]] = via[what[i]]; more = 1 }
        } while (more)
        for (h in ordinary) if (h in via) print h, via[h]
    }' | sort)

# Macros of instructions: those that the name is made of, and those that come and go with them.
known=$(grep -oE '__[A-Za-z0-9_]+__' sinter/base/target_namespace.hpp | sort -u
        printf '%s\n' __x86_64__ __i386__ __linux__)
for macro in $(grep -rhE '^ *# *(if|ifdef|ifndef|elif) ' sinter --include='*.hpp' |
        grep -oE '__((SSE|AVX|AMX|FMA|BMI|ARM|F16|GFNI|POPCNT|LZCNT)[A-Z0-9_]*|aarch64|x86_64)__' | sort -u); do
    grep -qxF -- "$macro" <<<"$known" ||
        complain "sinter/base/target_namespace.hpp: the namespace's name lacks $macro, which a header looks at"
done
exit $fault
