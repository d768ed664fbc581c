// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Which tensor of a file is which parameter.
namespace sinter::inline SINTER_ORDINARY {

/// Who wrote the weights: decides what their names mean and how kernels lie
/// (train/checkpoint/import/keras.hpp, pytorch.hpp).
enum class framework : std::uint8_t { sinter, keras, pytorch };

/// From their names to ours. `theirs` is a name, or a pattern in which each `*` is any text; the
/// `*`s of `ours` are those texts, in their order: {"features.0.*", "conv2d/*"}.
struct name_rule {
    std::string theirs, ours;
    /// How their axes come to lie, where the framework's own rule does not fit: our axis i is their
    /// axes[i].
    std::vector<int> axes{};
    /// For the kernel of a dense layer behind a flatten, from a framework with channels first: the
    /// extents [C, H, W] that were flattened there. Its rows are put into our order, [H, W, C].
    std::vector<std::int64_t> flattened{};
};

/// Which variable of a file is which of the model.
struct name_map {
    framework from = framework::sinter;
    std::vector<name_rule> rules{};      ///< the first that fits holds; what none fits is named as the framework does
    std::vector<std::string> ignore{};   ///< their tensors, as names or patterns, that are not wanted
    std::vector<std::string> keep{};     ///< our parameters and states, likewise, that stay as they are if theirs are
                                         ///< not there, or ignored
};

namespace training_parts {

/// Does `pattern` describe `name`? The texts of its `*`s, as short as they can be from the left,
/// are left in `stars`.
SINTER_APART SINTER_COLD bool matches(std::string_view pattern, std::string_view name,
                                      std::vector<std::string_view>& stars);
SINTER_APART SINTER_COLD bool matches_any(const std::vector<std::string>& patterns, std::string_view name);
/// `ours` with its `*`s replaced. option_error where it has more of them than the rule's left side.
SINTER_APART SINTER_COLD std::string filled_in(const name_rule& rule, const std::vector<std::string_view>& stars);

} // namespace training_parts

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/io/printable.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART bool matches(std::string_view pattern, std::string_view name, std::vector<std::string_view>& stars) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name;
    if (!name.starts_with(pattern.substr(0, star))) return false;
    name.remove_prefix(star);
    const std::size_t mark = stars.size();
    for (std::size_t n = 0; n <= name.size(); ++n) {
        stars.resize(mark);
        stars.push_back(name.substr(0, n));
        if (matches(pattern.substr(star + 1), name.substr(n), stars)) return true;
    }
    stars.resize(mark);
    return false;
}
SINTER_APART bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
    std::vector<std::string_view> stars;
    for (const std::string& p : patterns)
        if (matches(p, name, stars)) return true;
    return false;
}
SINTER_APART std::string filled_in(const name_rule& rule, const std::vector<std::string_view>& stars) {
    std::string out;
    std::size_t used = 0;
    for (const char c : rule.ours) {
        if (c != '*') {
            out += c;
            continue;
        }
        if (used == stars.size())
            throw option_error("rule has more *s on its right", io::printable(rule.theirs), io::printable(rule.ours),
                               "as many as on its left");
        out += stars[used++];
    }
    return out;
}

} // namespace sinter::training_parts
#endif
