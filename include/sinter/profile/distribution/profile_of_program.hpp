// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/training_profile.hpp>
#include <sinter/profile/text_of_model.hpp>

/// A program's training_profile: all of it is known when the program is compiled.
namespace sinter::inline SINTER_TARGET::profile {

/// The training program of a model as strategies with several workers ask for it: gradients in
/// buckets. It is the model's own where the model trains so.
template <class R>
struct in_buckets {
    static constexpr program_options options = [] {
        program_options o = R::options;
        o.gradients = gradient_policy::reduced;
        return o;
    }();
    using type = compiled<request<typename R::net, typename R::loss, typename R::optimizer, R::mode, R::max_batch,
                                  R::target, options>>;
};

inline per_batch figure_of(const batch_count& c, int times) {
    return {static_cast<double>(c.per_example) * times, static_cast<double>(c.once) * times};
}

/// `P`: a training program with gradient_policy::reduced. Kernels in loops count for as many
/// iterations as there can be. `scratch`: bytes of a device's kernels.
template <class P>
SINTER_COLD training_profile profile_of_program(double scratch = 0) {
    constexpr auto& v = P::v;
    const program_text text = text_of_program<P>();
    training_profile p;
    p.batch = v.max_batch;
    for (const kernel_text& k : text.kernels) {
        int times = 1;
        for (int l = 0; l < v.n_loops; ++l)
            if (k.launch >= v.loops[l].first && k.launch < v.loops[l].end) times = v.loops[l].steps;
        batch_count bytes = k.cost.read;
        bytes.add(k.cost.written);
        (k.launch < v.segments.first_update ? p.launches : p.updates)
            .push_back({figure_of(k.cost.flops, times), figure_of(bytes, times)});
    }
    const double batch = v.max_batch;
    for (int i = 0; i < v.n_buckets; ++i) {
        const gradient_bucket& b = v.buckets[i];
        p.every = std::max(p.every, b.every);
        if (b.is_list()) {
            const double bytes = 4.0 * b.most_rows * (b.row_floats + 1);
            const bool whole_table = b.most_rows >= v.parameters[b.parameter].s.d[0];
            p.buckets.push_back({whole_table ? per_batch{0, bytes} : per_batch{bytes / batch, 0}, b.final_after, true});
        } else {
            p.buckets.push_back({{0, 4.0 * static_cast<double>(b.floats)}, b.final_after, false});
        }
    }
    p.status_bytes = 32;   // loss, examples and flags of all workers
    p.parameter_bytes = 4.0 * static_cast<double>(v.z.parameters);
    p.slot_bytes = 4.0 * static_cast<double>(v.floats(space::slot));
    p.gradient_bytes = 4.0 * static_cast<double>(v.gradients);
    p.state_bytes = 4.0 * static_cast<double>(v.z.states);
    p.scratch_bytes = scratch;
    p.activation_bytes.per_example = 4.0 * static_cast<double>(v.z.activations) / batch;
    return p;
}

/// What has no training program: the one error says so.
template <class Model>
concept has_training_program = requires { typename Model::training; };

/// A trainer's or estimator's type.
template <class Model>
training_profile profile_of_model() {
    if constexpr (has_training_program<Model>) {
        using P = typename in_buckets<typename Model::training::request>::type;
        return profile_of_program<P>(static_cast<double>(Model::bytes() - Model::training::v.bytes()));
    } else if constexpr (requires(const Model& m) { m.inner(); }) {
        return profile_of_model<std::remove_cvref_t<decltype(std::declval<const Model&>().inner())>>();
    } else {
        static_assert(has_training_program<Model>,
                      "describe_distribution(model, cluster): got something without a training program; needed is a "
                      "trainer or an estimator, which know the net's loss and optimizer, or a training_profile");
        return {};
    }
}

} // namespace sinter::profile
