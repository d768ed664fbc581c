// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/train/checkpoint/import/convention.hpp>
#include <sinter/train/checkpoint/import/name_map.hpp>

/// From a tensor's name in a file to the path of a parameter or state.
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART SINTER_COLD const import_convention& convention_of(framework f);

struct found_variable {
    std::string path;               ///< that there is, or, where there is none, the one that was looked for
    const name_rule* rule = nullptr;
    bool exists = false, ignored = false;
};

/// Has the model a variable of this path?
using variable_exists = base::function_ref<bool(const std::string&)>;
SINTER_APART SINTER_COLD found_variable find_variable(std::string_view theirs, const name_map& map,
                                                      variable_exists exists);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/train/checkpoint/import/keras.hpp>
#include <sinter/train/checkpoint/import/pytorch.hpp>
#include <algorithm>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART const import_convention& convention_of(framework f) {
    static constexpr import_convention ours{};
    return f == framework::keras ? keras_convention : f == framework::pytorch ? pytorch_convention : ours;
}

/// `part` is `layer` or `layer_3`: then it becomes `to`, its number kept.
SINTER_COLD inline void rename_layer(std::string& part, const import_convention::renamed& r) {
    if (!part.starts_with(r.theirs)) return;
    const std::string_view rest = std::string_view(part).substr(r.theirs.size());
    const bool number = rest.size() > 1 && rest[0] == '_' && rest.find_first_not_of("0123456789", 1) == rest.npos;
    if (rest.empty() || number) part = std::string(r.ours) + std::string(rest);
}

/// Their name, spelled our way but for its last part.
SINTER_COLD inline std::string respelled(std::string name, const import_convention& c) {
    if (c.dots) std::replace(name.begin(), name.end(), '.', '/');
    std::string out;
    for (std::size_t begin = 0;;) {
        const std::size_t end = name.find('/', begin);
        std::string part = name.substr(begin, end - begin);
        if (end != name.npos)
            for (const auto& r : c.layers) rename_layer(part, r);
        out += part;
        if (end == name.npos) return out;
        out += '/';
        begin = end + 1;
    }
}

/// The last part of `f.path`, by what the layer has; where it has nothing of the kind, the
/// likeliest name stays.
SINTER_COLD inline void find_spelled(found_variable& f, const import_convention& c, variable_exists exists) {
    const std::size_t last = f.path.rfind('/') + 1;   // 0 where there is no slash
    const std::string layer = f.path.substr(0, last), tensor = f.path.substr(last);
    f.ignored = std::find(c.ignored.begin(), c.ignored.end(), tensor) != c.ignored.end();
    f.exists = exists(f.path);
    bool first = true;
    for (const auto& r : c.tensors) {
        if (f.exists || r.theirs != tensor) continue;
        const std::string path = layer + std::string(r.ours);
        f.exists = exists(path);
        if (f.exists || first) f.path = path;
        first = false;
    }
}

SINTER_APART found_variable find_variable(std::string_view theirs, const name_map& map, variable_exists exists) {
    const import_convention& c = convention_of(map.from);
    found_variable f;
    if (!c.dropped_ending.empty() && theirs.ends_with(c.dropped_ending)) theirs.remove_suffix(c.dropped_ending.size());
    f.path = theirs;
    std::vector<std::string_view> stars;
    for (const name_rule& rule : map.rules)
        if (matches(rule.theirs, theirs, stars)) {
            f.rule = &rule;
            f.path = filled_in(rule, stars);
            break;
        }
    f.exists = exists(f.path);
    if (f.exists) return f;
    f.path = respelled(f.path, c);
    find_spelled(f, c, exists);
    if (const std::size_t slash = f.path.find('/');
        !f.exists && !f.rule && c.model_first && slash != std::string::npos) {
        found_variable inner = f;
        inner.path.erase(0, slash + 1);
        find_spelled(inner, c, exists);
        if (inner.exists) return inner;
    }
    return f;
}

} // namespace sinter::training_parts
#endif
