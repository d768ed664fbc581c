// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/checksum.hpp>
#include <sinter/train/hooks/hook.hpp>
#include <sinter/train/loop_run.hpp>
#include <sinter/train/members.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

namespace training_parts {

/// Those whose value is not the one that most have; all, where no value is of more than half.
SINTER_COLD inline std::vector<int> minority(const std::vector<std::uint64_t>& values) {
    std::vector<int> odd;
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::size_t alike = 0;
        for (const std::uint64_t v : values) alike += v == values[i];
        if (2 * alike <= values.size()) odd.push_back(static_cast<int>(i));
    }
    return odd;
}

} // namespace training_parts

/// Compares the parameters of all members of a job, bit by bit, every so many steps: a bit that has
/// flipped in one member's memory would otherwise spoil the model without a word. data_error, on
/// every member, names those whose parameters differ from what most have; of two members both. For
/// strategies whose members have equal parameters (multi_worker, canonical and sharded_update over
/// it), at the cost of reading all parameters once every `every_steps` steps.
class check_replicas {
public:
    /// option_error unless `every_steps` is 1 or more.
    SINTER_APART explicit check_replicas(std::int64_t every_steps = 100);
    SINTER_APART SINTER_COLD void check_run(training_run& run);
    void after_step(loop_run& run, const batch_view&) {
        if (!run.alone && run.step % every_ == 0) compare(run);
    }
    void describe(description& d) const { d("every_steps", every_); }

private:
    std::int64_t every_;
    std::vector<float> x_;

    SINTER_APART SINTER_COLD void compare(loop_run& run);
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART check_replicas::check_replicas(std::int64_t every_steps) : every_(every_steps) {
    if (every_steps < 1)
        throw option_error("number of steps", "check_replicas", to_text({every_steps}), "1 or more");
}
SINTER_APART void check_replicas::check_run(training_run& run) {
    if (run.apart)
        throw option_error("members of this strategy have parameters of their own", "check_replicas",
                           "workers that may be some updates apart", "a strategy whose members have equal ones");
}
SINTER_APART void check_replicas::compare(loop_run& run) {
    session_base& session = run.session();
    base::checksum sum;
    for (const variable_info& v : run.trained.state().facts.parameters) {
        x_.resize(static_cast<std::size_t>(v.floats));
        session.read(v.at, x_.data(), v.floats);
        sum.update(as_bytes(x_));
    }
    const std::uint64_t mine = sum.value();
    membership me;
    std::vector<double> halves;   // exact, and added to zeros
    training_parts::by_the_same_members(session, [&] {
        me = session.member();
        halves.assign(static_cast<std::size_t>(2 * me.count), 0.);
        halves[static_cast<std::size_t>(2 * me.index)] = static_cast<double>(mine >> 32);
        halves[static_cast<std::size_t>(2 * me.index + 1)] = static_cast<double>(mine & 0xffffffffu);
        session.reduce({halves.data(), halves.size()});
    });
    std::vector<std::uint64_t> all;
    for (std::size_t r = 0; r < halves.size(); r += 2)
        all.push_back(static_cast<std::uint64_t>(halves[r]) << 32 | static_cast<std::uint64_t>(halves[r + 1]));
    const std::vector<int> odd = training_parts::minority(all);
    if (odd.empty()) return;
    std::string who;
    for (const int r : odd) who += (who.empty() ? "rank " : ", rank ") + std::to_string(r);
    throw data_error("parameters differ between the members of a job", to_text({"step ", run.step}), who,
                     to_text({"the same bits on all ", me.count,
                             ": memory that is not sound, or a hook that changes weights"}));
}

} // namespace sinter
#endif
