// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <initializer_list>
#include <sinter/graph/graph.hpp>
#include <sinter/graph/winograd.hpp>

/// What ops' rules derive from.
namespace sinter::inline SINTER_TARGET {

/// In node::p of elementwise ops: what some tell their kernels besides operands.
namespace elementwise_attribute { enum : int { argument }; }

/// What an op whose rule says `reads_batch` is told besides its operands: value(a, batch_numbers,
/// argument).
struct batch_numbers {
    int batch = 0;                         ///< examples in this call
    int global_batch = 0;                  ///< examples of all shards; `batch` where the batch is not divided
    const float* loss_weights =
        nullptr;   ///< what the losses' means are divided by; null: what this batch's values weigh
};

/// Base of an elementwise op's rule: `Operands` operands (three at most), about `Flops` operations
/// an element.
template <int Operands, int Flops>
struct elementwise_rule {
    using node = compiler::node;
    static constexpr op_kind kind = op_kind::elementwise;
    static constexpr int operands = Operands, operations = Flops;
    static constexpr bool monotone = false, reads_batch = false;
    static constexpr long flops(const node& n, const node*) { return static_cast<long>(Flops) * n.s.size(); }
};

/// Base of the rule of an op with a kernel of its own. Its extents(request, out) says what the
/// kernel is told, its kernel is cpu::nest<op::name, ...> (kernel/cpu/) and gpu::source<op::name>
/// (kernel/cuda/sources/). Without a rule for its gradient nothing can be trained through it, which
/// is said (`no_gradient`), and never taken for zeros.
struct root_op_rule {
    using node = compiler::node;
    static constexpr op_kind kind = op_kind::root_op;
    static constexpr bool monotone = false;
    static constexpr bool epilogue = true;
    static constexpr long flops(const node&, const node*) { return 0; }
    static constexpr void gradient(gradient_of& g);   ///< a fault (gradient.hpp)
};

/// Base of the rule of an op that is the same memory under another shape.
struct view_rule {
    using node = compiler::node;
    static constexpr op_kind kind = op_kind::view;
    static constexpr bool monotone = false, moves = true;
    static constexpr long flops(const node&, const node*) { return 0; }
    static constexpr void gradient(gradient_of&) {}
};

/// Base of the rule of a value that is there before a program runs.
struct leaf_rule : view_rule {
    static constexpr op_kind kind = op_kind::leaf;
    static constexpr bool moves = false;
};

/// What the kernel of a root op is asked for: its node with operands, and what fusion has put with
/// it.
struct kernel_request {
    const compiler::node& n;
    const compiler::node* operands[compiler::max_operands] = {};
    const compiler::node* pool = nullptr;      ///< a max-pool that a convolution's kernel does in its registers
    bool updates = false;            ///< the optimizer's update of a parameter rides on this gradient
    int list_rows = 0;   ///< this gradient is made as a list of so many rows at most, whose keys are one more operand
    bool one_example =
        false;   ///< is all that there ever is, with packed weights and in one part: extents may be fixed
    winograd_choice winograd = {};   ///< for 3 x 3 and 5 x 5 convolutions

    constexpr const shape& y() const { return n.s; }
    constexpr const shape& x(int i) const { return operands[i]->s; }
};

/// The answer. Equal `fixed` (and bodies) share one kernel; all else is told at run time.
struct kernel_extents {
    static constexpr int most_fixed = 12,
                         spare = 12;   ///< two before `spare` are the body's (namespace extent); four more begin there
    int* fixed = nullptr;            ///< compile-time extents, where known bounds pay
    std::int64_t* e = nullptr;       ///< run-time extents: call::e, from 0
    std::int64_t rows = 1;           ///< call::m (rows, images, matrices): of one example if `batched`
    bool batched = false;
    bool second_result = false, third_result = false;   ///< the kernel writes what get_output 1 (and 2) show, too

    constexpr void set_fixed(std::initializer_list<int> v) const {
        int i = 0;
        for (int x : v) fixed[i++] = x;
    }
    /// A number of call::e by its kernel's name for its position.
    struct extent_value {
        int at;
        std::int64_t value;
    };
    constexpr void set(std::initializer_list<extent_value> v) const {
        for (const extent_value& x : v) e[x.at] = x.value;
    }
    constexpr void by_example(const shape& of, std::int64_t rows_of_one) {
        batched = of.batched;
        rows = rows_of_one;
    }
};

} // namespace sinter
