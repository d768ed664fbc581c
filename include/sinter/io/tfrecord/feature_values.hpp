// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/tfrecord/feature.hpp>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <cstring>
#endif

/// Values of features that become fields of structs.
namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// The only text of a feature; data_error where it has another number.
SINTER_SELDOM span<const std::byte> only_bytes(const feature_view& f);
/// Its bytes where it has as many as `to`; data_error else.
SINTER_SELDOM void copy_bytes(const feature_view& f, span<std::byte> to);
/// data_error for a feature whose value is not between `least` and `most`.
[[noreturn]] SINTER_APART SINTER_COLD void refuse_value(const char* what, const feature_view& f, std::int64_t got,
                                                        std::int64_t least, std::int64_t most);
/// Within a catch block: the same data_error or format_error, which says the step of a list, too.
[[noreturn]] SINTER_APART SINTER_COLD void rethrow_with_step(std::size_t step);

#if SINTER_BODIES
SINTER_SELDOM_BODY span<const std::byte> only_bytes(const feature_view& f) {
    span<const std::byte> first;
    std::int64_t n = 0;
    f.each_bytes([&](span<const std::byte> b) {
        if (n++ == 0) first = b;
    });
    if (n != 1) throw data_error("feature has another number of texts", f.where(), to_text({n}), "1");
    return first;
}

SINTER_SELDOM_BODY void copy_bytes(const feature_view& f, span<std::byte> to) {
    const span<const std::byte> b = only_bytes(f);
    if (b.size() != to.size())
        throw data_error("feature has another number of bytes", f.where(), to_text({b.size()}), to_text({to.size()}));
    if (!b.empty()) std::memcpy(to.data(), b.data(), b.size());
}

SINTER_APART void refuse_value(const char* what, const feature_view& f, std::int64_t got, std::int64_t least,
                               std::int64_t most) {
    throw data_error(what, f.where(), to_text({got}), to_text({least, " to ", most}));
}

SINTER_APART void rethrow_with_step(std::size_t step) {
    try {
        throw;
    } catch (const data_error& e) {
        throw data_error(e.fault(), to_text({e.where(), ", step ", step}), e.got(), e.needed());
    } catch (const format_error& e) {
        throw format_error(e.fault(), to_text({e.where(), ", step ", step}), e.got(), e.needed());
    }
}
#endif

} // namespace sinter::tfrecord
