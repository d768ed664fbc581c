// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/compiler/program.hpp>
#include <sinter/graph/path_of.hpp>
#include <sinter/strategy/strategy.hpp>
#include <bit>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// What processes that train one model compare before the first byte of data: hashes of the model,
/// of the layout of its arenas and buckets, of the strategy and its options.
struct program_identity {
    std::uint64_t model = 0, layout = 0, policy = 0;
    friend bool operator==(const program_identity&, const program_identity&) = default;
};

/// FNV-1a over numbers.
class number_hash {
public:
    constexpr number_hash& add(std::uint64_t x) {
        for (int i = 0; i < 8; ++i) hash_.add(static_cast<unsigned char>(x >> 8 * i & 0xff));
        return *this;
    }
    constexpr number_hash& add(std::int64_t x) { return add(static_cast<std::uint64_t>(x)); }
    constexpr number_hash& add(int x) { return add(std::int64_t{x}); }
    constexpr number_hash& add(float x) { return add(std::uint64_t{std::bit_cast<std::uint32_t>(x)}); }
    constexpr number_hash& add(const address& a) { return add(std::uint64_t{a.bits}); }
    constexpr number_hash& add(const shape& s) {
        add(static_cast<int>(s.batched)).add(static_cast<int>(s.type)).add(s.rank);
        for (int i = 0; i < s.rank; ++i) add(s.d[i]);
        return *this;
    }
    number_hash& text(std::string_view s) {
        for (const char c : s) add(static_cast<int>(c));
        return add(static_cast<int>(s.size()));
    }
    constexpr std::uint64_t value() const { return hash_.value(); }

private:
    base::fnv1a_hash hash_;
};

/// The model: what its variables are called, their extents, how they begin and in which group of
/// the optimizer they are; what goes in and comes out.
template <class P>
SINTER_COLD void add_model(number_hash& h) {
    constexpr auto& p = P::v;
    const auto variable = [&](const variable_info& v) {
        h.text(compiler::path_of(P::scopes, v.scope, v.name)).add(v.s).add(v.group);
        h.add(static_cast<int>(v.init.kind)).add(v.init.a).add(v.init.middle);
    };
    for (int i = 0; i < p.n_parameters; ++i) variable(p.parameters[i]);
    for (int i = 0; i < p.n_states; ++i) variable(p.states[i]);
    for (int i = 0; i < p.n_inputs; ++i) h.add(p.inputs[i].s).add(p.inputs[i].below);
    for (int i = 0; i < p.n_targets; ++i) h.add(p.targets[i].s).add(p.targets[i].below);
    for (int i = 0; i < p.n_outputs; ++i) h.add(p.output_shapes[i]);
    h.add(p.slots);
}
/// Where all of it lies, and the kernels: net, loss, optimizer and options as this machine's
/// vectors want them.
template <class P>
SINTER_COLD void add_layout(number_hash& h) {
    constexpr auto& p = P::v;
    h.add(P::request::target.lanes).add(P::request::target.parts);
    for (int i = 0; i < P::v.n_args; ++i) h.add(p.args[i]);
    for (int i = 0; i < p.n_parameters; ++i)
        h.add(p.parameters[i].at).add(p.parameters[i].floats).add(p.parameters[i].gradient);
    for (int i = 0; i < p.n_states; ++i) h.add(p.states[i].at).add(p.states[i].floats);
    for (int i = 0; i < p.n_buckets; ++i) {
        const gradient_bucket& b = p.buckets[i];
        h.add(b.at).add(b.floats).add(b.every).add(b.most_rows).add(b.row_floats);
    }
    for (const std::uint64_t c : p.code) h.add(c);
    for (const float c : p.constants) h.add(c);
}
template <class Programs, int... I>
program_identity identity_of(std::uint64_t policy, std::integer_sequence<int, I...>) {
    number_hash model, layout;
    (add_model<typename Programs::template training<I>>(model), ...);
    (add_layout<typename Programs::template training<I>>(layout), ...);
    return {model.value(), layout.value(), policy};
}
template <class Programs>
SINTER_COLD program_identity identity_of(std::uint64_t policy) {
    return identity_of<Programs>(policy, std::make_integer_sequence<int, Programs::n_training>{});
}

} // namespace sinter::strategy_parts
