// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/name.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/none.hpp>
#include <tuple>

/// Optimizers for parts of a model, chosen by the parameters' paths while compiling.
namespace sinter::inline SINTER_TARGET {

/// Parameters whose whole path matches one of the patterns, in which `*` stands for any characters
/// (`/` too) or none.
template <class Optimizer, compiler::text... Patterns>
struct parameter_group {
    static_assert(sizeof...(Patterns) > 0, "a group of parameters needs a pattern");
    Optimizer optimizer{};
};
/// `group_of<"*/bias", "*/gamma">(sgd{})`.
template <compiler::text... Patterns, class Optimizer>
constexpr parameter_group<Optimizer, Patterns...> group_of(Optimizer o) {
    return {o};
}

namespace detail {
struct frozen_weights_alone : no_optimizer {};
} // namespace detail

/// `frozen<"encoder/*">`: these parameters are not trained. No gradient is computed for them, and
/// they have no slots. A layer of which all parameters are frozen, or which has none and whose own
/// path matches (`encoder/dropout`), runs as in inference: batch_norm normalises by its running
/// statistics, which stay as they are, and dropout and noise do nothing. As Keras' `trainable =
/// False`; PyTorch's `requires_grad_(False)` and `eval()`.
template <compiler::text... Patterns>
inline constexpr parameter_group<no_optimizer, Patterns...> frozen{};
/// The same, but layers run as in training: batch_norm normalises by the batch, and its running
/// statistics move. PyTorch's `requires_grad_(False)` alone.
template <compiler::text... Patterns>
inline constexpr parameter_group<detail::frozen_weights_alone, Patterns...> frozen_weights{};

/// Each parameter is trained by the optimizer of the first group that it belongs to, all others by
/// the one named first:
///
///     parameter_groups{adamw{.weight_decay = 0.1f}, group_of<"*/bias", "*/gamma", "*/beta">(adamw{.weight_decay = 0}),
///                      frozen<"embedding/*">}
///
/// is an optimizer itself, and optimizers around it see all of it (clip_by_global_norm: one norm
/// over all groups). A pattern that nothing matches is a compile-time error.
template <class Others, class... Groups>
struct parameter_groups {
    Others others{};
    std::tuple<Groups...> members{};

    constexpr parameter_groups() = default;
    constexpr parameter_groups(Others o, Groups... g) : others(o), members(g...) {}

private:
    template <class G>
    struct facts;
    template <class O, compiler::text... P>
    struct facts<parameter_group<O, P...>> {
        using optimizer = O;
        static constexpr int n = sizeof...(P);
        static constexpr bool infers = std::is_same_v<O, no_optimizer>,
                              is_frozen = infers || std::is_same_v<O, detail::frozen_weights_alone>;
        static constexpr const char* pattern[] = {P.c...};
    };
    struct pattern_list {
        compiler::group_pattern p[(facts<Groups>::n + ... + 1)] = {};
    };
    static constexpr pattern_list make_patterns() {
        pattern_list all;
        int n = 0, number = 0;
        auto add = [&](const char* const* pattern, int count, bool is_frozen, bool infers) {
            ++number;
            for (int i = 0; i < count; ++i)
                all.p[n++] = {pattern[i], is_frozen ? compiler::frozen_group : number, infers};
        };
        (add(facts<Groups>::pattern, facts<Groups>::n, facts<Groups>::is_frozen, facts<Groups>::infers), ...);
        return all;
    }
    static constexpr int most(std::initializer_list<int> x) {
        int m = 0;
        for (int i : x) m = i > m ? i : m;
        return m;
    }
    static constexpr pattern_list list = make_patterns();

public:
    static constexpr int groups = 1 + sizeof...(Groups);
    static constexpr auto& patterns = list.p;
    static constexpr int slots = most({Others::slots, facts<Groups>::optimizer::slots...});
    static constexpr int n_scalars = (facts<Groups>::optimizer::n_scalars + ... + Others::n_scalars);
    static_assert(compiler::groups_of<Others>() == 1 &&
                      ((compiler::groups_of<typename facts<Groups>::optimizer>() == 1) && ...),
                  "parameter_groups within parameter_groups");
    static_assert(compiler::batches_of<Others>() == 1 &&
                      ((compiler::batches_of<typename facts<Groups>::optimizer>() == 1) && ...),
                  "accumulate stands around parameter_groups, not within");
    static_assert(compiler::average_slot_of<Others>() < 0 &&
                      ((compiler::average_slot_of<typename facts<Groups>::optimizer>() < 0) && ...),
                  "moving_average stands around parameter_groups, not within");

    static constexpr void update(update_context& u) {
        int number = 0, first = Others::n_scalars;
        if (u.group() == 0) Others::update(u);
        auto one = [&]<class O>(const O*) {
            if (++number == u.group()) {
                u.shift_scalars(first);
                O::update(u);
                u.shift_scalars(-first);
            }
            first += O::n_scalars;
        };
        (one(static_cast<const typename facts<Groups>::optimizer*>(nullptr)), ...);
    }
    void scalars(std::int64_t step, float* out) const {
        others.scalars(step, out);
        out += Others::n_scalars;
        auto one = [&](const auto& o) {
            o.scalars(step, out);
            out += o.n_scalars;
        };
        std::apply([&](const auto&... g) { (one(g.optimizer), ...); }, members);
    }
    static constexpr bool copies_parameter(int group, int k) {
        bool copies = group == 0 && k < Others::slots && compiler::copies_parameter<Others>(0, k);
        int number = 0;
        auto one = [&]<class O>(const O*) {
            if (++number == group) copies = k < O::slots && compiler::copies_parameter<O>(0, k);
        };
        (one(static_cast<const typename facts<Groups>::optimizer*>(nullptr)), ...);
        return copies;
    }
    float first_of_slot(int group, int k) const {
        float first = group == 0 ? sinter::compiler::first_of_slot(others, 0, k) : 0.f;
        int number = 0;
        auto one = [&](const auto& o) {
            if (++number == group) first = sinter::compiler::first_of_slot(o, 0, k);
        };
        std::apply([&](const auto&... g) { (one(g.optimizer), ...); }, members);
        return first;
    }
};
template <class Others, class... Groups>
parameter_groups(Others, Groups...) -> parameter_groups<Others, Groups...>;

} // namespace sinter
