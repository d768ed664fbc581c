// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/row_list.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What an optimizer must know beside the gradient of what it updates. Sums over a tensor are no
/// question of the server: a run of whole tensors (run::tensor) is always updated by one call for
/// each.
enum class norm_need : std::uint8_t {
    none,
    all_gradients,   ///< the sum of squares of all gradients of the step, on all servers (clipping by it)
    whole_tensors    ///< sums over a tensor alone, which is therefore kept whole by one server and updated at once
};

/// An optimizer as a server uses it: its kernels, for any range of floats. No net is in its type.
/// Calls for ranges that do not overlap may run at the same time.
class updater {
public:
    virtual ~updater() = default;

    /// Floats of the optimizer's scalars of one step (rates, corrections).
    virtual int scalars() const = 0;
    /// Floats of slots for each float of a parameter of this group.
    virtual int slots(int group) const = 0;
    /// The values that a slot begins with, where a parameter's are these: zeros, or for averages
    /// the parameter.
    virtual void first_slot(int group, int slot, float* to, const float* parameter, std::int64_t n) const = 0;
    /// Does a slot begin anew with a parameter that is written: an average, or another copy of it?
    virtual bool copies_parameter(int /*group*/, int /*slot*/) const { return false; }
    virtual norm_need needs() const = 0;

    /// Updates n floats (whole lines of 16) at p by the gradient g; slot k is at slots + k *
    /// stride. `square_sum`: of all gradients of the step, where needs() asks for it; else
    /// anything.
    virtual void update(int group, float* p, const float* g, float* slots, std::int64_t stride, std::int64_t n,
                        const float* scalars, float square_sum) const = 0;
    /// Updates only those rows of a table that the list has a gradient for; slot k of the table is
    /// at slots + k * stride.
    virtual void update_rows(int group, float* table, float* slots, std::int64_t stride, const row_list& gradients,
                             const float* scalars, float square_sum) const = 0;

    /// The sum of the squares of one tensor's gradient, n floats or the rows of a list. Those of
    /// make_updater (strategy/parameter_server/shard_update.hpp) have the bits that a trainer has.
    virtual float squares(const float* gradient, std::int64_t n) const {
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
        return static_cast<float>(sum);
    }
    virtual float squares(const row_list& gradient) const { return squares(gradient.rows, 16 * gradient.lines()); }
    /// The sum of all tensors' squares, likewise: parameter i's are at squares[16 * i] (i is
    /// run::tensor), and all other floats are 0, also those of parameters without gradients.
    virtual float total(const float* squares, int parameters) const {
        double sum = 0;
        for (std::int64_t i = 0; i < parameters; ++i) sum += static_cast<double>(squares[16 * i]);
        return static_cast<float>(sum);
    }
};

} // namespace sinter::parameter_servers
