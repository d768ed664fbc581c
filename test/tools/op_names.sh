#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# op_names.sh FOLDER: passes, plans, emission and devices ask for traits (graph/traits.hpp), not for
# names. Only two kinds of ops may be named there: those that a graph is built of, which no user
# could write anew, and those of ops/internal/, which passes make. scatter_rows is also the kernel of
# a table's lazy update, and gather_rows what looks up a remote table's copy.
set -u
cd "$1" || exit 1
built_in='none constant input parameter state table optimizer_port broadcast reshape get_output to_float column_index
    random_uniform over_batch over_global_batch runtime_scalar loop_begin loop_index loop_input loop_last loop_saved
    loop_stack loop_value mul add row_sum
    round_to_bfloat16 scatter_rows gather_rows'
made=$(grep -rhoE '[a-z_0-9]+\{"' include/sinter/ops/internal | tr -d '{"')
found=$(grep -rnoE '\bop::[a-z_0-9]+' include/sinter/compiler include/sinter/device --include=*.hpp) ||
    { echo "no op is named at all: this test does not see them"; exit 1; }
bad=0
while IFS=: read -r file line name; do
    name=${name##*::}
    op=${name#op::}
    grep -qwF -- "$op" <<<"$built_in $made" && continue
    echo "$file:$line names op::$op: ask for a trait of graph/traits.hpp instead"
    bad=1
done < <(sed -E 's/:op::/:/' <<<"$found")
exit $bad
