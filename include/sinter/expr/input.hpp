// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/graph/text.hpp>

/// What goes into a net: the extents of one example. The batch axis is added by the program.
namespace sinter::inline SINTER_TARGET {

template <dtype Type, int... D>
struct input_spec : input_tag {
    static_assert(sizeof...(D) <= max_rank, "an input has five axes at the most");
    static constexpr shape example() {
        shape s = batch_of(D...);
        s.type = Type;
        return s;
    }
    static constexpr bundle make_inputs(compiler::graph& g, bool image = false) {
        if (!((D > 0) && ...)) return fail(&g, fault_kind::extents_not_positive, op::input, example(), extents());
        const int port = g.inputs.n;
        const tensor t = make<op::input>(&g, example(), {}, {port, 0, image});
        g.inputs.push(t.id);
        return t;
    }
};
/// Remembers what its three axes mean (see layers/dense.hpp).
template <int H, int W, int C>
struct image_spec : input_spec<dtype::f32, H, W, C> {
    static constexpr bundle make_inputs(compiler::graph& g) {
        return input_spec<dtype::f32, H, W, C>::make_inputs(g, true);
    }
};

/// Several inputs, in the order in which a batch holds them: `inputs(image<28, 28, 1>,
/// features<10>)`.
template <class... I>
struct input_list : input_tag {
    static_assert(sizeof...(I) > 0 && sizeof...(I) <= bundle::most, "inputs: one to six of them");
    static constexpr bundle make_inputs(compiler::graph& g) {
        bundle all;
        all.g = &g;
        ((all.t[all.n++] = I::make_inputs(g)[0]), ...);
        return all;
    }
};

/// One input with a name (input<...> below).
template <compiler::text T, class I>
struct named_input : I {
    static constexpr bundle make_inputs(compiler::graph& g) {
        const int number = g.inputs.n;
        if (number < compiler::port_names::most) g.names.inputs[number] = T.c;
        return I::make_inputs(g);
    }
};
namespace detail {
template <class I>
inline constexpr bool has_name = false;
template <compiler::text T, class I>
inline constexpr bool has_name<named_input<T, I>> = true;
template <class I>
inline constexpr bool is_list_of_inputs = false;
template <class... I>
inline constexpr bool is_list_of_inputs<input_list<I...>> = true;
} // namespace detail

template <int H, int W, int C>
inline constexpr image_spec<H, W, C> image{};                    ///< [H, W, C], channels last
template <int N>
inline constexpr input_spec<dtype::f32, N> features{};           ///< [N]
template <int... D>
inline constexpr input_spec<dtype::f32, D...> array{};           ///< any extents
template <int... D>
inline constexpr input_spec<dtype::i32, D...> indices{};         ///< integers for an embedding
template <int N>
inline constexpr input_spec<dtype::i32, N, 2> keys{};   ///< 64-bit ones for a hashed_embedding, low halves first
template <class... I>
constexpr input_list<I...> inputs(I...) {
    return {};
}
/// `input<"age">(features<1>)`: an input with a name, which the batch's column of that name goes to,
/// wherever it stands: `inputs(input<"age">(features<1>), input<"job">(indices<1>))`. A batch whose
/// columns have no names is taken in their order. Of a net's inputs all have names or none.
template <compiler::text T, class I>
    requires std::is_base_of_v<input_tag, I>
constexpr named_input<T, I> input(I) {
    static_assert(sizeof(T.c) > 1, "input: the name is empty");
    static_assert(!detail::has_name<I> && !detail::is_list_of_inputs<I>,
                  "input names one input, once: inputs(input<\"a\">(features<1>), input<\"b\">(features<2>))");
    return {};
}

} // namespace sinter
