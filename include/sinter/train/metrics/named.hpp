// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/description.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/type_text.hpp>
#include <sinter/train/metrics/merge.hpp>
#include <sinter/train/metrics/metric.hpp>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Metrics that train and evaluate feed, and whose results are found by name.
namespace sinter::inline SINTER_ORDINARY {

namespace metrics::detail { struct running; }

/// What a metric found.
struct metric_value {
    std::string name;
    double value = 0;
    bool falls = false;   ///< is less better?
    std::shared_ptr<const metrics::detail::running> measured{};   ///< with all that it counted
    /// The metric itself, for what is more than a number: as<metrics::confusion_matrix>().
    /// option_error where it is of another class.
    template <class M>
    const M& as() const;
};

namespace metrics {

/// Some of an output's rows, and what they should be: class numbers, one a row, or floats like the
/// output.
struct scored_rows {
    const float* scores;           ///< [rows, columns]
    const std::int32_t* labels;    ///< null where the targets are floats
    const float* truths;           ///< null where they are class numbers
    int rows, columns;
};

namespace detail {
template <class = void>
[[noreturn]] SINTER_COLD void refuse_metric(const char* name, const char* got, const char* needed) {
    throw option_error("the metric does not fit the output", name, got, needed);
}
template <class M>
concept of_classes = requires(M m, const float* y, const std::int32_t* t) { m.add(y, t, 1, 1); };
template <class M>
concept of_two_classes = requires(M m, const float* y, const std::int32_t* t) { m.add(y, t, 1); };
template <class M>
concept of_numbers = requires(M m, const float* y, const float* t) { m.add(y, t, 1); };
template <class M>
concept of_batches = requires(M m, const evaluated_batch& b) { m.add(b); };

/// option_error unless a metric can be given an output of so many columns, the last axis, with class numbers (`labels`)
/// or float targets; `logits`: it is known that they are that, and no probabilities.
template <class M>
void need_fit(const M& m, const char* name, bool labels, int columns, [[maybe_unused]] bool logits = false) {
    if constexpr (requires { m.needs_probabilities(); })
        if (logits && m.needs_probabilities())
            refuse_metric(name, "logits, as the loss takes them",
                          "probabilities; of logits: auc({.from_logits = true}), f1{0.f}");
    if (labels) {
        if constexpr (requires { m.classes(); })
            if (m.classes() != columns)
                refuse_metric(name, to_text({m.classes(), " classes"}).c_str(), to_text({columns}).c_str());
        if constexpr (requires { m.least_classes(); })
            if (m.least_classes() > columns)
                refuse_metric(name, to_text({columns, " classes"}).c_str(),
                              to_text({m.least_classes(), " or more"}).c_str());
        if constexpr (!of_classes<M> && of_two_classes<M>) {
            if (columns > 2) refuse_metric(name, to_text({columns, " classes"}).c_str(), "two classes");
        } else if constexpr (!of_classes<M>) {
            refuse_metric(name, "class numbers", "float targets");
        }
    } else if constexpr (requires { m.columns(); }) {
        if (m.columns() != columns)
            refuse_metric(name, to_text({m.columns(), " columns"}).c_str(), to_text({columns}).c_str());
    } else if constexpr (!of_numbers<M>) {
        refuse_metric(name, "float targets", "class numbers; of floats 0 and 1 there are binary_accuracy, f1 and auc");
    }
}
/// Gives rows to a metric as its add() takes them. Two scores a row are logits: of these a metric
/// of yes-or-no decisions is given the probability of class 1.
template <class M>
void feed(M& m, const char* name, const scored_rows& s) {
    need_fit(m, name, s.labels, s.columns);
    if (s.labels) {
        if constexpr (of_classes<M>) return m.add(s.scores, s.labels, s.rows, s.columns);
        else if constexpr (of_two_classes<M>) {
            if (s.columns == 1) return m.add(s.scores, s.labels, s.rows);
            for (int i = 0; i < s.rows; ++i) {
                const float z = s.scores[2 * i + 1] - s.scores[2 * i], p = 1.f / (1.f + __builtin_expf(-z));
                bool logits = false;
                if constexpr (requires { m.from_logits(); }) logits = m.from_logits();
                m.add(logits ? &z : &p, s.labels + i, 1);
            }
        }
    } else if constexpr (requires { m.columns(); }) m.add(s.scores, s.truths, s.rows);
    else if constexpr (of_numbers<M>) m.add(s.scores, s.truths, s.rows * s.columns);
}

struct running {
    virtual ~running() = default;
    virtual void add(const char* name, const scored_rows&) = 0;
    virtual void need_fit(const char* name, bool labels, int columns, bool logits) const = 0;
    virtual bool takes_batches() const { return false; }   ///< whole ones, and no rows
    virtual void add(const evaluated_batch&) {}
    virtual double value() const = 0;
    virtual std::unique_ptr<running> copy() const = 0;
    /// What all members have counted; false where the metric does not list its numbers. Without
    /// members: only whether it does.
    virtual bool merge(const member_sums*) = 0;
    virtual void describe(description&) const = 0;   ///< which metric, with its settings
};
template <class M>
struct running_of final : running {
    M m;
    explicit running_of(const M& x) : m(x) {}
    void add(const char* name, const scored_rows& s) override {
        if constexpr (!of_batches<M>) feed(m, name, s);
    }
    void need_fit([[maybe_unused]] const char* name, [[maybe_unused]] bool labels,
                  [[maybe_unused]] int columns, [[maybe_unused]] bool logits) const override {
        if constexpr (!of_batches<M>) detail::need_fit(m, name, labels, columns, logits);
    }
    bool takes_batches() const override { return of_batches<M>; }
    void add([[maybe_unused]] const evaluated_batch& b) override {
        if constexpr (of_batches<M>) m.add(b);
    }
    double value() const override { return static_cast<double>(m.value()); }
    std::unique_ptr<running> copy() const override { return std::make_unique<running_of>(m); }
    bool merge([[maybe_unused]] const member_sums* all) override {
        if constexpr (has_number_list<M>)
            if (all) merge_members(m, *all);
        return has_number_list<M>;
    }
    void describe(description& d) const override {
        d("metric", data::type_text<M>());
        if constexpr (base::tells_settings<M>) m.describe(d);
    }
};
} // namespace detail

/// A metric (train/metrics/metric.hpp) with its name.
class named {
public:
    template <metric M>
        requires requires { M::name; }
    named(const M& m) : named(M::name, m) {}
    /// Under a name of the caller's, and of another output than the first: {"f1 at 0.3",
    /// metrics::f1(0.3f), 1}.
    template <metric M>
    named(std::string name, const M& m, int output = 0)
        : name_(std::move(name)), empty_(std::make_shared<detail::running_of<M>>(m)), output_(output) {
        if constexpr (requires { M::falls; }) falls_ = M::falls;
    }
    /// The same of the output of this name (output<"score">), or of the output that the loss's target of
    /// this name is about (expects<"price">): {"error of the price", metrics::mae(), "price"}.
    template <metric M>
    named(std::string name, const M& m, std::string of) : named(std::move(name), m) { of_ = std::move(of); }
    const std::string& name() const { return name_; }
    bool falls() const { return falls_; }   ///< is less better?
    int output() const { return output_; }               ///< its number, unless of() says otherwise
    const std::string& of() const { return of_; }        ///< the name of an output or a target; or empty
    SINTER_SELDOM SINTER_COLD void describe(description& d) const;
    std::unique_ptr<detail::running> begin() const { return empty_->copy(); }
    bool takes_batches() const { return empty_->takes_batches(); }
    /// option_error unless it can be given such an output.
    void need_fit(bool labels, int columns, bool logits) const {
        empty_->need_fit(name_.c_str(), labels, columns, logits);
    }

private:
    std::string name_, of_;
    std::shared_ptr<const detail::running> empty_;   // as it was given; each pass begins with a copy
    int output_ = 0;
    bool falls_ = false;
};

} // namespace metrics

template <class M>
const M& metric_value::as() const {
    if (const auto* r = dynamic_cast<const metrics::detail::running_of<M>*>(measured.get())) return r->m;
    throw option_error("the metric is of another class", name, measured ? "another one" : "a value alone",
                       "the class that measured it");
}

namespace metrics::detail {
/// The metric of this name; option_error, which lists `own` names as well, where there is none.
SINTER_SELDOM const metric_value& metric_of(const std::vector<metric_value>& all, std::string_view name,
                                            const char* own);
template <class = void>
double value_of(const std::vector<metric_value>& all, std::string_view name, const char* own) {
    return metric_of(all, name, own).value;
}
} // namespace metrics::detail

#if SINTER_BODIES
namespace metrics {
SINTER_SELDOM_BODY void named::describe(description& d) const {
    if (of_.empty()) d(to_text({name_, ", output"}), output_);
    else d(to_text({name_, ", output"}), of_);
    empty_->describe(d);
}
} // namespace metrics

namespace metrics::detail {
SINTER_SELDOM_BODY const metric_value& metric_of(const std::vector<metric_value>& all, std::string_view name,
                                                 const char* own) {
    for (const metric_value& m : all)
        if (m.name == name) return m;
    std::string names;
    for (const metric_value& m : all) names += m.name + ", ";
    throw option_error("there is no metric of this name", "value", name,
                       to_text({names, own, "or another metric, if it is asked for"}));
}
} // namespace metrics::detail
#endif

} // namespace sinter
