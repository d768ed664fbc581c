// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/runtime/row_source.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// A buffer that has some examples of batch number `batch` of the source gets `examples` as well, and what lies
/// between. `thread`: of the source's, whose state is used.
SINTER_SELDOM SINTER_COLD void widen_part(row_source& rows, int thread, int batch, batch_buffer& into,
                                          example_range examples);

#if SINTER_BODIES
SINTER_SELDOM_BODY void widen_part(row_source& rows, int thread, int batch, batch_buffer& into,
                                   example_range examples) {
    const batch_view& v = into.view();
    const int whole = v.whole;
    if (v.size == 0) {
        rows.fill(thread, batch, examples.first, examples.size, into, 0);
        return into.set_part(examples, whole);
    }
    const int had = v.first, had_end = v.first + v.size;
    const int first = examples.first < had ? examples.first : had;
    const int end = examples.first + examples.size > had_end ? examples.first + examples.size : had_end;
    if (first < had) {
        into.move_back(v.size, had - first);
        rows.fill(thread, batch, first, had - first, into, 0);
    }
    if (end > had_end) rows.fill(thread, batch, had_end, end - had_end, into, had_end - first);
    into.set_part({first, end - first}, whole);
}
#endif

} // namespace sinter::data
