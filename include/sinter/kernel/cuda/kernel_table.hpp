// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/kernel.hpp>

/// Value to type, on GPUs: each spec of a program becomes a kernel made of 64-bit words alone. Its
/// extents stay numbers at run time, so convolutions of different extents with the same work behind
/// them are one kernel.
namespace sinter::inline SINTER_TARGET::gpu {

template <class Engine>
struct kernel_entry {
    void (*run)(Engine&, const work&) = nullptr;
};

namespace detail {

/// Instruction i of spec S, but for the stream that it draws random numbers from: dropout in each
/// block of a net is one kernel, which is told when it is launched. In the stream's place is its
/// number among the spec's draws.
template <class P>
constexpr std::uint64_t word_of(int s, int i) {
    const std::uint64_t* const code = P::v.code + P::v.specs[s].code;
    instruction w = instruction::unpack(code[i]);
    if (!w.is(op::random_uniform)) return code[i];
    int before = 0;
    for (int k = 0; k < i; ++k) before += instruction::unpack(code[k]).is(op::random_uniform);
    w.arg = static_cast<std::uint16_t>(before);
    return w.pack();
}
template <class Engine, class P, int S, class = std::make_integer_sequence<int, P::v.specs[S].instructions>>
struct kernel_of;
template <class Engine, class P, int S, int... I>
struct kernel_of<Engine, P, S, std::integer_sequence<int, I...>> {
    using type = kernel<Engine, P::v.specs[S].kind, word_of<P>(S, I)...>;
    static constexpr kernel_entry<Engine> entry{&type::run};
};
template <class Engine, class P, class>
struct table_of;
template <class Engine, class P, int... S>
struct table_of<Engine, P, std::integer_sequence<int, S...>> {
    static constexpr kernel_entry<Engine> entries[sizeof...(S) + 1] = {kernel_of<Engine, P, S>::entry..., {}};
    /// Floats of scratch space that a launch of kernel `spec` wants. Asking makes no code of the
    /// kernels.
    static constexpr std::int64_t scratch(int spec, const work& w) {
        using function = std::int64_t (*)(const work&);
        constexpr function of[sizeof...(S) + 1] = {&kernel_of<Engine, P, S>::type::scratch..., nullptr};
        return of[spec](w);
    }
};

} // namespace detail

/// The kernels of a compiled program, by spec.
template <class Engine, class P>
using kernel_table = detail::table_of<Engine, P, std::make_integer_sequence<int, P::n_specs>>;

} // namespace sinter::gpu
