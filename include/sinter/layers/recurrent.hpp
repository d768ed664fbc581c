// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/detail/lengths.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/scan.hpp>
#include <sinter/ops/where.hpp>

/// What recurrent layers share: the loop over time, sequence lengths, and a state that goes in and
/// comes out.
namespace sinter::inline SINTER_TARGET {

/// What rnn, lstm and gru may be given.
struct recurrent_options {
    bool sequences = true;    ///< the result of every step, [T, N]; false: of the last one alone, [N]
    bool reverse = false;     ///< from the last step to the first
    bool carried = false;     ///< in training a batch's examples begin where those of the batch before ended
    bool recompute = false;   ///< the gradient computes a step again instead of keeping what it computed (see scan)

    bool operator==(const recurrent_options&) const = default;
};

/// A recurrent layer's result: what each step (or the last) gives, and what the last step hands on.
struct recurrent_result {
    tensor y;
    bundle state;
};

namespace detail {

constexpr tensor zero_state(tensor x, int units) {
    shape s = extents(units);
    s.batched = x.shape().batched;
    return ops::broadcast_to(constant(x.g, 0.f), s);
}

/// A gate's weights for the input, and what it makes of all steps at once: one product, outside of
/// the loop. [T, ..., Units]
constexpr tensor input_part(tensor x, const char* kernel, const char* bias, int units, int gates,
                            initializer first_bias = zeros) {
    const int features = x.shape().last();
    const tensor w = weights(x, kernel, extents(features, units), glorot_uniform(features, gates * units));
    return matmul(x, w) + parameter(x, bias, extents(units), first_bias);
}
constexpr tensor recurrent_kernel(tensor x, const char* name, int units) {
    return weights(x, name, extents(units, units), orthogonal);
}

/// The loop: step(state, inputs of this step) gives the next state, whose first tensor is the
/// step's result. Where there are `lengths` (one number an example), steps from there on leave the
/// state as it is, and their results are zero.
template <recurrent_options O, class Step>
constexpr recurrent_result recur(Step step, bundle state, bundle inputs, tensor lengths) {
    const bool bounded = lengths.g != nullptr;
    if (bounded) lengths = ops::reshape(ops::to_float(lengths), extents(1));
    const scan_step r = scan(
        [=](bundle h, bundle x) {
            bundle next = step(h, x);
            if (!next.ok()) return scan_step{next, next};
            tensor y = next[0];
            if (bounded) {
                const tensor goes_on = ops::greater(lengths, ops::loop_index(lengths));
                for (int i = 0; i < next.n; ++i) next.t[i] = ops::where(goes_on, next[i], h[i]);
                if (O.sequences) y = ops::where(goes_on, y, 0.f);
            }
            return scan_step{next, O.sequences ? bundle(y) : bundle()};
        },
        state, inputs, {.reverse = O.reverse, .recompute = O.recompute});
    if (!r.carry.ok()) return {{state.g, -1}, r.carry};
    return {O.sequences ? r.outputs[0] : r.carry[0], r.carry};
}

/// x as [T, features] by steps; a fault if it is not that.
constexpr tensor by_steps(tensor x, const char* layer) {
    if (x.ok() && (x.shape().rank != 2 || !x.shape().batched))
        return fail(x.g, fault_kind::needs_steps, op_name(layer), x.shape(), batch_of(1, x.shape().last()));
    return ops::to_steps(x);
}

} // namespace detail

/// Base of a layer over sequences: it takes x, or x and the examples' lengths, also as a bundle.
template <class D>
struct sequence_layer : layer<D> {
    static constexpr int arity = detail::any_number;
};

/// Base of a recurrent layer D: `D::steps(x, lengths, state)` does the work, D::state(x) is what it
/// begins with. As a layer it takes x [T, features], or x and the examples' lengths; run() takes
/// and gives the state, too.
///
/// Under `carried`, sequences are trained in pieces (truncated backpropagation through time):
/// example i of a batch continues example i of the batch before, whose last state it begins with;
/// the gradient ends there. trainer::begin_sequences() begins anew. Evaluation and prediction
/// always begin with zeros.
template <class D>
struct recurrent_layer : sequence_layer<D> {
    static constexpr tensor trace(tensor x) { return run(x, {}, {}).y; }
    static constexpr tensor trace(tensor x, tensor lengths) { return run(x, lengths, {}).y; }
    /// `lengths` and `state` may be empty: all steps count, and it begins with zeros. What x holds
    /// from an example's length on is not looked at, be it NaN. Lengths are from 0 to T: those of a
    /// batch are checked when it is bound, others act as the nearest of these (a NaN as 0), a
    /// fraction as the next integer.
    static constexpr recurrent_result run(tensor x, tensor lengths, bundle state) {
        x = detail::by_steps(x, D::name);
        if (!x.ok()) return {x, x};
        if (lengths.g) x = ops::within_lengths(x, lengths);
        if (!x.ok()) return {x, x};
        if (state.n) return D::steps(x, lengths, state);
        const bundle from_zero = D::state(x);
        if (!D::options.carried) return D::steps(x, lengths, from_zero);
        bundle kept = from_zero;
        constexpr const char* names[] = {"carried", "carried_2"};
        for (int i = 0; i < kept.n; ++i) kept.t[i] = sinter::state(x, names[i], from_zero[i].shape(), zeros);
        const recurrent_result r = D::steps(x, lengths, x.g->mode() == program_mode::training ? kept : from_zero);
        for (int i = 0; i < kept.n; ++i) detail::assign_value(kept[i], r.state[i], false);
        return r;
    }
    /// The layer within a net of your own that is given the state and gives it back, for streams: x
    /// [T, features] and the state that the step before it handed on, tensors [N] each
    /// (doc/recurrent.md). Parameters have the paths of `>> layer`.
    constexpr recurrent_result from(tensor x, bundle state) const {
        if (!x.ok() || !state.ok()) return {{x.g, -1}, state};
        const compiler::scoped s(x.g, D::name);
        return run(x, {}, state);
    }
};

} // namespace sinter
