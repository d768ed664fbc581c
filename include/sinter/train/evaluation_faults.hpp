// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <exception>
#include <sinter/base/cluster_error.hpp>
#include <sinter/strategy/broadcast_by_sums.hpp>
#include <sinter/train/members.hpp>
#include <sinter/train/not_finite.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// What keeps an evaluation from its numbers. Where several members make it, one that has met
/// something goes on to where all tell each other, and all throw there: else they would wait for it.
class evaluation_faults {
public:
    explicit evaluation_faults(evaluated_model& t) : t_(t) {}

    /// This member's part of the pass.
    template <class Part>
    SINTER_COLD void look(Part part) {
        own_ = {};
        words_.clear();
        exceeded_ = after_weights_ = false;
        for (double& x : all_) x = 0;
        if (is_alone(t_.session())) return part();
        try {
            part();
        } catch (const cluster_error&) {   // which all have
            throw;
        } catch (const std::exception& e) {
            own_ = std::current_exception();
            words_ = e.what();
        } catch (...) {
            own_ = std::current_exception();
        }
    }
    /// A batch's loss is not finite. data_error where a number of the batch is the cause or, asked
    /// before infinities, a weight, at which several members look together, later.
    SINTER_COLD void explain_loss(const batch_view& b) {
        exceeded_ = true;
        after_weights_ = false;
        need_finite_batch(t_.ports, b, "evaluate", wrong_number::nan);
        if (is_alone(t_.session())) need_finite_model(t_.state(), "evaluate");
        after_weights_ = true;
        need_finite_batch(t_.ports, b, "evaluate");
    }
    /// Whether any member has something to throw. All make this call at the end of their parts.
    SINTER_COLD bool any() {
        if (is_alone(t_.session())) return false;
        if (own_) {
            double* const mine = all_ + own_kind();
            mine[0] = 1;
            mine[1] = t_.session().member().index;
            mine[2] = static_cast<double>(words_.size());
        }
        all_[exceeded] = exceeded_;
        t_.session().reduce(span<double>(all_, exceeded + 1));
        return all_[others] + all_[after_weights] > 0;
    }
    /// Throws it, on every member; the words of one are heard by all.
    SINTER_COLD void tell() {
        if (all_[others] > 0) raise(others);
        if (all_[exceeded] > 0) need_finite_model(t_.state(), "evaluate");
        if (all_[after_weights] > 0) raise(after_weights);
    }

private:
    static constexpr int after_weights = 0, others = 3, exceeded = 6;   // in all_
    int own_kind() const { return after_weights_ ? after_weights : others; }

    [[noreturn]] SINTER_COLD void raise(int kind) {
        const auto n = static_cast<std::int64_t>(all_[kind]), member = static_cast<std::int64_t>(all_[kind + 1]);
        if (n == 1 && all_[kind + 2] > 0) {
            const bool mine = own_ && own_kind() == kind;
            std::vector<std::byte> text(static_cast<std::size_t>(all_[kind + 2]));
            if (mine) std::memcpy(text.data(), words_.data(), text.size());
            session_parts::broadcast_by_sums(span<std::byte>(text.data(), text.size()), mine,
                                             [&](span<double> x) { t_.session().reduce(x); });
            words_.assign(reinterpret_cast<const char*>(text.data()), text.size());
        }
        if (own_) std::rethrow_exception(own_);
        throw data_error("a member could not evaluate its part",
                         n == 1 ? to_text({"evaluate, member ", member}) : to_text({"evaluate, ", n, " members"}),
                         n == 1 ? words_ : "errors of their own");
    }

    evaluated_model& t_;
    std::exception_ptr own_{};
    std::string words_;       ///< its
    bool exceeded_ = false;   ///< a loss was not finite
    bool after_weights_ = false;   ///< `own_` came behind such a loss: a weight is blamed first
    /// For faults behind a loss that is not finite, and for others: the number of members, the sums
    /// of their indices and of the lengths of their words. The members with such losses.
    double all_[exceeded + 1] = {};
};

} // namespace sinter::training_parts
