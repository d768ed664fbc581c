// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu.hpp>
#include <sinter/compiler/program.hpp>

#include "measure.hpp"

/// One kernel of a compiled program, by itself.
namespace sinter::bench {
using namespace compiler;

/// Launch L of program P, a walk over elements or rows, on memory of its own and of any length:
/// every array that it reads or writes element by element is given `n` floats, whatever the
/// program's own are.
template <class P, int L>
class lone_launch {
    static constexpr launch l = P::v.launches[L];
    static constexpr spec s = P::v.specs[l.spec];
    static_assert(s.kind == walk::flat || s.kind == walk::rows, "this kernel does more than walk over its arrays");
    struct counts {
        int arrays = 0, walked = 0, read = 0, written = 0, of[l.args + 1] = {};
    };
    static constexpr counts counted = [] {
        counts c;
        bool reads[l.args + 1] = {}, writes[l.args + 1] = {};
        for (int i = 0; i < l.args; ++i) {   // one array for each address
            c.of[i] = -1;
            for (int k = 0; k < i; ++k)
                if (P::v.args[l.first_arg + k] == P::v.args[l.first_arg + i]) c.of[i] = c.of[k];
            if (c.of[i] < 0) c.of[i] = c.arrays++;
        }
        for (int i = 0; i < s.instructions; ++i) {
            const instruction w = instruction::unpack(P::v.code[s.code + i]);
            if (w.is(opcode::load) && w.columns() && w.rows() == row_map::same) reads[c.of[w.arg]] = true;
            if (w.is(opcode::store) && !w.row) writes[c.of[w.arg]] = true;
        }
        for (int i = 0; i < c.arrays; ++i) {
            c.walked += reads[i] || writes[i];
            c.read += reads[i];
            c.written += writes[i];
        }
        return c;
    }();

public:
    static constexpr int arrays = counted.walked;   ///< of n floats
    static constexpr int moved = counted.read + counted.written;   ///< what is read and written counts twice
    explicit lone_launch(std::int64_t n)
        : n_(n), step_((n + 1023) / 1024 * 1024 + 640), memory_(counted.arrays * step_),
          scratch_(cpu::kernel_table<P>::scratch(l.spec, extents_of(), l.parts, rows()) + 16) {
        memory_.random(1);   // between 0 and 2, where all functions have values
        for (std::int64_t i = 0; i < memory_.size(); ++i) memory_[i] = 1.01f + memory_[i];
        for (int i = 0; i < l.args; ++i) operands_[i] = memory_ + counted.of[i] * step_;
        typename P::request::optimizer{}.scalars(0, scalars_);
    }
    void run() {
        call c;
        c.p = operands_;
        c.e = extents_of();
        c.k = P::v.constants + l.first_constant;
        c.scalars = scalars_;
        c.scratch = scratch_;
        c.batch = 1;
        c.m = static_cast<int>(rows());
        c.parts = l.parts;
        cpu::kernel_table<P>::entries[l.spec].run_alone(c);
    }

private:
    static constexpr const std::int64_t* extents_of() { return P::v.extents + l.first_extent; }
    std::int64_t rows() const { return s.kind == walk::flat ? n_ : n_ / extents_of()[extent::columns]; }
    std::int64_t n_, step_;   ///< step: no array's line lies where another's next ones do in a page
    buffer memory_, scratch_;
    float* operands_[l.args + 1];
    float scalars_[P::request::optimizer::n_scalars + 1] = {};
};

} // namespace sinter::bench
