// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/quoted_text.hpp>
#include <concepts>

namespace sinter {

/// How a program calls a type of its own: a function object's above all.
struct name_in_code {
    std::string text;
    operator std::string() const { return text; }
    operator std::string_view() const { return text; }
    /// Whether the same program always calls it so. A lambda has a number, which another lambda before it changes, and
    /// which each compiler writes in its own way.
    bool lasts() const { return text.find("lambda") == text.npos && text.find("$_") == text.npos; }
};

/// What a result depends on, as a list of names with values. Members of a job each make one of what they
/// are about to do, compare the hashes, and name what differs. Parts of a pipeline, optimizers and hooks
/// add their kinds and settings to it:
///
///     void describe(description& d) const { d("patience", patience_)("smallest change", min_delta_); }
///
/// Two descriptions of the same thing have the same names in the same order. What changes no bit of the
/// result (threads, buffers, folders) does not belong here.
class description {
public:
    description() = default;
    explicit description(std::string text) : text_(std::move(text)), lasting_(text_) {}   ///< of another one

    /// What follows is of this: "training data". Empty: of nothing in particular.
    SINTER_SELDOM SINTER_COLD description& of(std::string_view what);
    /// One more stage of it, of this kind: settings that follow are the stage's.
    SINTER_SELDOM SINTER_COLD description& stage(std::string_view kind);
    SINTER_APART SINTER_COLD description& operator()(std::string_view name, std::string_view value);
    SINTER_COLD description& operator()(std::string_view name, const char* value) {
        return (*this)(name, std::string_view(value));
    }
    /// Members of a job run one program and share it.
    SINTER_SELDOM SINTER_COLD description& operator()(std::string_view name, const name_in_code& value);
    /// A number: with as many digits as tell it from all others of its type.
    template <class N>
        requires std::integral<N> || std::floating_point<N>
    SINTER_COLD description& operator()(std::string_view name, N value) {
        if constexpr (std::same_as<N, bool>) return (*this)(name, value ? "yes" : "no");
        else return (*this)(name, std::string_view(base::number_text(value)));
    }

    /// A line for each name: the name, a tab, its value.
    const std::string& text() const { return text_; }
    /// The same without names that do not last: what a file may be held against, which a program has written that was
    /// changed elsewhere since, or compiled by another compiler.
    const std::string& lasting_text() const { return lasting_; }
    std::uint64_t hash() const { return base::fnv1a(text_); }

    /// The first `most` names whose values differ: "learning rate: rank 0 has 0.1, rank 1 has 0.2". Empty where
    /// none do.
    SINTER_SELDOM SINTER_COLD static std::string differences(std::string_view a, std::string_view who_a,
                                                             std::string_view b, std::string_view who_b, int most = 3);

private:
    static constexpr std::string_view none = "none";
    std::string text_, lasting_, of_;
    int stages_ = 0;

    SINTER_SELDOM SINTER_COLD std::string line_of(std::string_view name, std::string_view value) const;
    template <class F>
    SINTER_COLD static void each(std::string_view text, F f) {
        while (!text.empty()) {
            const std::size_t end = text.find('\n'), tab = text.find('\t');
            if (end == text.npos || tab > end) return;   // of another process, and no description
            f(text.substr(0, tab), text.substr(tab + 1, end - tab - 1));
            text.remove_prefix(end + 1);
        }
    }
    SINTER_SELDOM SINTER_COLD static std::string_view value_of(std::string_view text, std::string_view name);
};

namespace base {

/// What names its settings itself.
template <class T>
concept tells_settings = requires(const T& x, description& d) { x.describe(d); };

} // namespace base

#if SINTER_BODIES
SINTER_SELDOM_BODY description& description::of(std::string_view what) {
    of_ = what;
    stages_ = 0;
    return *this;
}

SINTER_SELDOM_BODY description& description::stage(std::string_view kind) {
    const std::string number = to_text({"stage ", ++stages_});
    const std::size_t cut = of_.find(", stage ");
    if (cut != of_.npos) of_.resize(cut);
    (*this)(number, kind);
    of_ += to_text({", ", number, " (", kind, ")"});
    return *this;
}

SINTER_APART description& description::operator()(std::string_view name, std::string_view value) {
    const std::string line = line_of(name, value);
    text_ += line;
    lasting_ += line;
    return *this;
}

SINTER_SELDOM_BODY description& description::operator()(std::string_view name, const name_in_code& value) {
    const std::string line = line_of(name, value.text);
    text_ += line;
    if (value.lasts()) lasting_ += line;
    return *this;
}

SINTER_SELDOM_BODY std::string description::line_of(std::string_view name, std::string_view value) const {
    const std::string whole = of_.empty() ? std::string(name) : to_text({of_, ": ", name});
    return to_text({base::one_line(whole), "\t", base::one_line(value), "\n"});
}

SINTER_SELDOM_BODY std::string description::differences(std::string_view a, std::string_view who_a, std::string_view b,
                                                        std::string_view who_b, int most) {
    std::string out;
    int found = 0;
    const auto add = [&](std::string_view name, std::string_view in_a, std::string_view in_b) {
        if (in_a == in_b || found++ >= most) return;
        out += to_text({out.empty() ? "" : "; ", name, ": ", who_a, " has ", in_a, ", ", who_b, " has ", in_b});
    };
    each(a, [&](std::string_view name, std::string_view value) { add(name, value, value_of(b, name)); });
    each(b, [&](std::string_view name, std::string_view value) {
        if (value_of(a, name) == none) add(name, none, value);
    });
    if (found > most) out += to_text({"; and ", found - most, " more"});
    return out;
}

SINTER_SELDOM_BODY std::string_view description::value_of(std::string_view text, std::string_view name) {
    std::string_view found = none;
    each(text, [&](std::string_view n, std::string_view value) {
        if (n == name) found = value;
    });
    return found;
}
#endif

} // namespace sinter
