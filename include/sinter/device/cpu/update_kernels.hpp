// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/row_list.hpp>
#include <sinter/device/cpu/denormals.hpp>
#include <sinter/kernel/cpu/kernel_table.hpp>
#include <sinter/compiler/emit/update_program.hpp>
#include <algorithm>

namespace sinter::inline SINTER_TARGET::runtime {

/// Runs an optimizer's kernels (U: an update_program) on memory that the caller has, by the calling
/// thread. Arrays begin on lines of 16 floats; lengths are whole lines. Nothing is allocated, and
/// nothing is remembered from call to call.
template <class U>
class update_kernels {
public:
    /// What an update is of. Slot k of parameter[i] is slots[k * stride + i].
    struct operands {
        float* parameter = nullptr;
        const float* gradient = nullptr;
        float* slots = nullptr;
        std::int64_t stride = 0;
        const float* scalars = nullptr;      ///< what the optimizer's scalars() wrote
        const float* square_sum = nullptr;   ///< of all gradients, where the optimizer asks for it
    };

    /// Updates n floats of a parameter group; where the optimizer sums over a tensor, a whole one.
    static void update(int group, const operands& o, std::int64_t n) {
        const flush_denormals here;
        const compiler::update_launches& l = U::v.of_group[group];
        if (l.stretch < 0 || !n) return;
        alignas(64) float sums[std::size_t{most_sums * 16}] = {};
        for (const int k : l.sums)
            if (k >= 0) run(k, o, sums, n / 16, parts_of_sum(n));
        run(l.stretch, o, sums, n, 1);
    }
    /// Updates the rows of a table that a list names. For groups of `TableGroups` whose updates sum
    /// over no tensor.
    static void update_rows(int group, operands o, const row_list& list) {
        const flush_denormals here;
        const int number = U::v.of_group[group].rows;
        if (number < 0 || !list.size()) return;
        o.gradient = list.rows;
        alignas(64) std::int64_t e[std::size_t{compiler::extent::count}];
        std::copy_n(U::v.extents + U::v.launches[number].first_extent, std::size(e), e);
        e[scatter_rows_extent::width] = list.row_floats;
        run(number, o, nullptr, 1, 1, list.keys, e);
    }
    /// The sum of the squares of n floats, of a tensor's gradient.
    static float squares(const float* gradient, std::int64_t n) {
        return sum(U::v.squares, gradient, n / 16, parts_of_sum(n));
    }
    /// Of a list of rows.
    static float squares(const row_list& list) {
        return list.lines() ? sum(U::v.squares, list.rows, list.lines(), U::target.parts) : 0.f;
    }
    /// The sum of a table [tensors, 16] of such sums, each at the first place of its row.
    static float total(const float* table, int tensors) {
        return sum(U::v.total, table, tensors, parts_of_sum(std::int64_t{16} * tensors));
    }

private:
    static constexpr int most_sums = update_context::most_sums;
    static constexpr std::int64_t scratch_floats = [] {
        std::int64_t most = 0;
        for (int i = 0; i < U::v.n_launches; ++i) {
            const compiler::launch& l = U::v.launches[i];
            if (l.role != op_role::scatter_rows)   // which needs none where it reads a list
                most = std::max(most, cpu::kernel_table<U>::scratch(l.spec, U::v.extents + l.first_extent,
                                                                    U::target.parts, l.m));
        }
        return most;
    }();

    /// As programs cut sums over n floats (launch_writer.hpp), on which their bits depend.
    static constexpr int parts_of_sum(std::int64_t n) {
        return n > compiler::undivided_elements ? compiler::parts_of_rows(n / 16, 16, U::target.parts) : 1;
    }
    static float sum(int number, const float* from, std::int64_t rows, int parts) {
        const flush_denormals here;
        alignas(64) float sums[std::size_t{most_sums * 16}] = {};
        operands o;
        o.gradient = from;
        run(number, o, sums, rows, parts);
        return sums[0];
    }
    static float* place(int port, const operands& o, float* sums, std::int32_t* keys) {
        if (port == 0) return o.parameter;
        if (port == 1) return const_cast<float*>(o.gradient);   // no kernel writes it
        if (port == compiler::keys_operand) return reinterpret_cast<float*>(keys);
        if (port == compiler::norm_operand) return const_cast<float*>(o.square_sum);
        if (port >= compiler::first_sum_operand) return sums + 16 * (port - compiler::first_sum_operand);
        return o.slots + (port - 2) * o.stride;
    }
    static void run(int number, const operands& o, float* sums, std::int64_t m, int parts, std::int32_t* keys = nullptr,
                    const std::int64_t* extents = nullptr) {
        const compiler::launch& l = U::v.launches[number];
        float* p[20];
        for (int i = 0; i < l.args; ++i) p[i] = place(port_of(U::v.args[l.first_arg + i]), o, sums, keys);
        alignas(64) float scratch[std::size_t{scratch_floats + 1}];
        call c;
        c.p = p;
        c.e = extents ? extents : U::v.extents + l.first_extent;
        c.k = U::v.constants + l.first_constant;
        c.scalars = o.scalars;
        c.scratch = scratch;
        c.m = m;
        c.batch = c.global_batch = 1;
        c.parts = parts;
        cpu::kernel_table<U>::entries[l.spec].run_alone(c);
    }
};

} // namespace sinter::runtime
