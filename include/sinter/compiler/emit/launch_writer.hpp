// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/product_sum.hpp>
#include <sinter/compiler/emit/emit_body.hpp>
#include <sinter/compiler/emit/spec.hpp>
#include <sinter/compiler/target.hpp>

/// Launches as they are written down one after the other, and their specs, of which equal ones are
/// one.
namespace sinter::inline SINTER_TARGET::compiler {

struct listing {
    view<spec> specs;
    view<std::uint64_t> code;
    view<launch> launches;
    view<address> args;
    view<std::int64_t> extents;
    view<float> constants;
    view<loop_launches> loops;
    view<loop_buffer> buffers;
    int first_update = 0, first_sweep = 0;   ///< see program_segments
};

template <class T>
constexpr void append(view<T>& to, view<const T> more) {
    T* const end = to.p + to.n;
    for (int i = 0; i < more.n; ++i) end[i] = more.p[i];
    to.n += more.n;
}

/// A walk over so many elements, whatever the batch is, is not divided.
inline constexpr std::int64_t undivided_elements = 4096;
/// Into how many of `most` parts a larger one is cut that goes over rows.
constexpr int parts_of_rows(std::int64_t rows, std::int64_t columns, int most) {
    /// Rows of so few columns may be gone over by vectors whose lanes are rows: a part has some of
    /// these, or is no part by itself.
    constexpr std::int64_t short_row = 128, rows_together = 32;
    const std::int64_t groups = columns > short_row ? rows : rows / rows_together;   // a part without one has sums, too
    return groups < 1 ? 1 : groups < most ? static_cast<int>(groups) : most;
}

class launch_writer {
public:
    constexpr launch_writer(const graph_view& g, const grouping& r, const address* at, const target& t, int max_batch,
                            listing& o)
        : body(g, r, at, t.non_temporal_floats ? (t.non_temporal_floats - 1) / max_batch + 1 : 0, t.non_temporal_walks),
          t_(t), max_batch_(max_batch), o_(o), bucket_(256, -1) {}

    body_emitter body;   ///< of the launch that is being made

    /// Of the launch that is being made, extent::count of them, at first 0.
    constexpr std::int64_t* extents() const { return o_.extents.p + o_.extents.n; }

    /// The launch is whole: `work` elements of it pass through the body.
    constexpr void finish(spec& s, launch& l, std::int64_t work) {
        std::int64_t* const e = extents();
        e[extent::columns] = body.columns();
        e[extent::buffer_stride] = round_up(body.columns(), 16);
        for (int i = 0; i < body.divisors(); ++i) e[extent::first_q + i] = body.divisor(i);
        l.parts = l.list >= 0 ? t_.parts : parts_of(s, l, e, work);   // the same, whatever the largest batch
        l.brief_to = brief_to(s, l, e, work);
        l.first_arg = o_.args.n;
        l.args = body.args().n;
        append(o_.args, body.args());
        l.first_extent = o_.extents.n;
        o_.extents.n += extent::count;
        l.first_constant = o_.constants.n;
        append(o_.constants, body.literals());
        const view<const instruction> instructions = body.instructions();
        s.code = o_.code.n;
        s.instructions = instructions.n;
        if (s.instructions > most_instructions)
            throw "a kernel's body is too long: its instructions' numbers must fit into a byte";
        for (int i = 0; i < instructions.n; ++i) o_.code.p[s.code + i] = instructions.p[i].pack();
        o_.code.n += instructions.n;
        l.spec = intern(s);
        o_.launches.push(l);
    }

private:
    const target& t_;
    int max_batch_;
    listing& o_;
    growing<int> bucket_, chain_;

    /// What a few microseconds are about: instructions times elements of a walk, multiply-adds of a
    /// product.
    static constexpr std::int64_t small_walk = 8192, small_product = 1 << 18;
    /// Each part costs something (one of a product gathers its operand anew): what takes a few
    /// microseconds is cut in two, what takes less than one not at all.
    constexpr int parts_of(const spec& s, const launch& l, const std::int64_t* e, std::int64_t work) const {
        if (s.kind == walk::flat || s.kind == walk::rows) {
            if (l.batched ? work * max_batch_ * body.instructions().n <= small_walk : work <= undivided_elements)
                return 1;
            if (s.kind == walk::flat) return t_.parts;
            return parts_of_rows(std::int64_t{l.m} * (l.batched ? max_batch_ : 1), e[extent::columns], t_.parts);
        }
        if (!is_product(s, l) || t_.parts <= 2 || terms(l, e) >= small_product) return t_.parts;
        return terms(l, e) < 1 << 14 ? 1 : 2;
    }
    static constexpr bool is_product(const spec& s, const launch& l) {
        return l.role == op_role::product || l.role == op_role::weights_gradient || s.kind == op::product_sum;
    }
    /// Multiply-adds of a product, of one example if it is batched.
    static constexpr std::int64_t terms_of_one(const launch& l, const std::int64_t* e) {
        static_assert(+gemm_tn_extent::rows == +gemm_extent::depth &&
                      +gemm_tn_extent::columns == +gemm_extent::columns);
        static_assert(+product_sum_extent::depth == +gemm_extent::depth &&
                      +product_sum_extent::columns == +gemm_extent::columns);
        return l.m * e[gemm_extent::depth] * e[gemm_extent::columns];
    }
    constexpr std::int64_t terms(const launch& l, const std::int64_t* e) const {
        return terms_of_one(l, e) * (l.batched ? max_batch_ : 1);
    }
    /// See launch::brief_to.
    constexpr int brief_to(const spec& s, const launch& l, const std::int64_t* e, std::int64_t work) const {
        const auto fitting = [&](std::int64_t most, std::int64_t each) {
            const std::int64_t n = l.batched ? most / each : each <= most ? max_batch_ : 0;
            return static_cast<int>(n < max_batch_ ? n : max_batch_);
        };
        if (s.kind == walk::flat || s.kind == walk::rows)
            return l.parts == 1 ? max_batch_ : fitting(small_walk, work * body.instructions().n);
        if (l.role == op_role::weights_transpose)
            return e[transpose_extent::rows] * e[transpose_extent::columns] <= 1 << 14 ? max_batch_ : 0;
        return is_product(s, l) ? fitting(small_product, terms_of_one(l, e)) : 0;
    }
    /// The number of the equal spec that is there already, or of this one, now added.
    constexpr int intern(spec& s) {
        unsigned h = static_cast<unsigned>(s.kind);
        for (int i = 0; i < 12; ++i) h = (h ^ static_cast<unsigned>(s.extents[i])) * 16777619u;
        const std::uint64_t* const code = o_.code.p + s.code;
        for (int i = 0; i < s.instructions; ++i)
            h = (h ^ static_cast<unsigned>(code[i]) ^ static_cast<unsigned>(code[i] >> 32) * 31u) * 16777619u;
        s.hash = h;
        int& first = bucket_[static_cast<int>((h ^ h >> 13) & 255u)];
        for (int i = first; i >= 0; i = chain_[i])
            if (equal(o_.specs.p[i], s)) {
                o_.code.n = s.code;
                return i;
            }
        chain_.push(first);
        first = o_.specs.n;
        return o_.specs.push(s);
    }
    constexpr bool equal(const spec& a, const spec& b) const {
        if (a.hash != b.hash || a.kind != b.kind || a.instructions != b.instructions) return false;
        for (int i = 0; i < 12; ++i)
            if (a.extents[i] != b.extents[i]) return false;
        const std::uint64_t *const x = o_.code.p + a.code, *const y = o_.code.p + b.code;
        for (int i = 0; i < a.instructions; ++i)
            if (x[i] != y[i]) return false;
        return true;
    }
};

} // namespace sinter::compiler
