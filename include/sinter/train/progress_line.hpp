// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/span.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sinter::inline SINTER_ORDINARY {

/// A value that progress shows beside the loss.
struct named_value {
    const char* name;
    double value;
};

} // namespace sinter

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// What there is to tell about a pass over the data.
struct progress_state {
    std::string title;                       ///< "epoch 2/5"
    const char* unit = "examples";             ///< what an example is called
    std::int64_t done = 0, total = 0;        ///< examples; a total of 0 or less is unknown
    double seconds = 0;                      ///< since the pass began
    double loss = 0;                         ///< shown unless NaN
    span<const named_value> metrics{};
};

template <class... A>
SINTER_COLD std::string formatted(const char* format, A... a) {
    char text[96];
    const int n = std::snprintf(text, sizeof text, format, a...);
    return std::string(text, n < 0 ? 0u : n < 96 ? static_cast<std::size_t>(n) : 95u);
}

/// "%.4f" with a point in every locale. Not by base/decimal.hpp: each file that includes sinter.hpp
/// would parse <charconv>, which takes a fifteenth of that header's time.
SINTER_SELDOM SINTER_COLD std::string four_decimals(double value);

/// 60000 as "60,000".
SINTER_SELDOM SINTER_COLD std::string grouped(std::int64_t n);

/// Seconds as "m:ss" or "h:mm:ss".
SINTER_SELDOM SINTER_COLD std::string duration(double seconds);

/// Loss and metrics, as both lines below show them: "loss 0.3121  accuracy 0.8890".
SINTER_SELDOM SINTER_COLD std::string progress_values(const progress_state& p);

/// Examples a second so far; 0 before anything can be said.
SINTER_SELDOM double progress_rate(const progress_state& p);

/// One line of at most `width` columns for a terminal: the bar takes what room is left, and where
/// there is little the least important parts go first.
SINTER_SELDOM SINTER_COLD std::string progress_line(const progress_state& p, int width);

/// The same for files and pipes: everything, whatever the width, without a bar.
SINTER_SELDOM SINTER_COLD std::string plain_progress_line(const progress_state& p);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string four_decimals(double value) {
    if (!(value > -1e14 && value < 1e14))
        return value == value ? formatted("%.0f", value) : "nan";   // infinity, and what has no such digits
    const double size = value < 0 ? -value : value;
    const auto n = static_cast<std::int64_t>(size * 1e4 + 0.5);
    return formatted("%s%lld.%04d", value < 0 ? "-" : "", static_cast<long long>(n / 10000),
                     static_cast<int>(n % 10000));
}

SINTER_SELDOM_BODY std::string grouped(std::int64_t n) {
    std::string s = to_text({n});
    for (std::size_t at = s.size(); at > 3 + (n < 0);) s.insert(at -= 3, 1, ',');
    return s;
}

SINTER_SELDOM_BODY std::string duration(double seconds) {
    const auto s = static_cast<std::int64_t>(seconds + 0.5);
    if (s < 3600) return formatted("%d:%02d", static_cast<int>(s / 60), static_cast<int>(s % 60));
    return formatted("%lld:%02d:%02d", static_cast<long long>(s / 3600), static_cast<int>(s / 60 % 60),
                     static_cast<int>(s % 60));
}

SINTER_SELDOM_BODY std::string progress_values(const progress_state& p) {
    std::string s;
    if (p.loss == p.loss) s += to_text({"  loss ", four_decimals(p.loss)});
    for (const named_value& m : p.metrics) s += to_text({"  ", m.name, " ", four_decimals(m.value)});
    return s;
}

SINTER_SELDOM_BODY double progress_rate(const progress_state& p) {
    return p.seconds > 0 ? static_cast<double>(p.done) / p.seconds : 0;
}

SINTER_SELDOM_BODY std::string progress_line(const progress_state& p, int width) {
    const double rate = progress_rate(p);
    const bool known = p.total > 0;
    const double share = !known              ? 0
                         : p.done >= p.total ? 1
                                             : static_cast<double>(p.done) / static_cast<double>(p.total);
    const std::string values = progress_values(p);
    const std::string count = known ? to_text({"  ", grouped(p.done), "/", grouped(p.total)})
                                    : to_text({"  ", grouped(p.done)});
    std::string speed, left;
    if (rate > 0) speed = to_text({"  ", grouped(static_cast<std::int64_t>(rate)), " ", p.unit, "/s"});
    if (rate > 0 && known)
        left = to_text({share >= 1 ? "  " : "  eta ",
                       duration(share >= 1 ? p.seconds : static_cast<double>(p.total - p.done) / rate)});
    const std::string percent = known ? formatted(" %3d%%", static_cast<int>(100 * share)) : "";

    const auto columns = [](const std::string& s) { return static_cast<int>(s.size()); };
    std::string tail = values;
    const std::string* const parts[] = {&left, &speed, &count};   // in this order they matter
    for (const std::string* part : parts)
        if (columns(p.title) + columns(percent) + columns(tail) + columns(*part) <= width)
            tail = to_text({*part, tail});
    const int capacity = width - columns(p.title) - columns(percent) - columns(tail) - 3;
    std::string bar;
    if (known && capacity >= 8) {
        const int cells = capacity < 32 ? capacity : 32, full = static_cast<int>(share * cells);
        bar = std::string(static_cast<std::size_t>(cells), ' ');
        for (int i = 0; i < full; ++i) bar[static_cast<std::size_t>(i)] = '=';
        if (full < cells) bar[static_cast<std::size_t>(full)] = '>';
        bar = to_text({" [", bar, "]"});
    }
    std::string line = to_text({p.title, bar, percent, tail});
    if (columns(line) > width) line.resize(static_cast<std::size_t>(width > 0 ? width : 0));
    return line;
}

SINTER_SELDOM_BODY std::string plain_progress_line(const progress_state& p) {
    std::string line =
        to_text({p.title, ": ", grouped(p.done), p.total > 0 ? "/" : "",
                p.total > 0 ? grouped(p.total) : "", " ", p.unit, ", ", duration(p.seconds)});
    if (const double rate = progress_rate(p); rate > 0)
        line += to_text({", ", grouped(static_cast<std::int64_t>(rate)), " ", p.unit, "/s"});
    return to_text({line, progress_values(p)});
}
#endif

} // namespace sinter::training_parts
