// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/client/engine.hpp>

/// Sums over all workers, which server 0 makes, and what it is sent of them when it was started again.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

SINTER_APART void client::reduce(span<double> x) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    std::vector<double> sum =
        e.call_and_wait(hold, 0, calls::all_reduce{e.sums, std::vector<double>(x.begin(), x.end())}).sums;
    if (sum.size() != x.size())
        throw e.dialler.about(0, "a sum over workers", -1,
                              sinter::to_text({"workers called different operations: this one has given ",
                                              static_cast<std::int64_t>(x.size()), " numbers, the others ",
                                              static_cast<std::int64_t>(sum.size())}));
    std::copy_n(sum.data(), sum.size(), x.data());
    ++e.sums;
    e.past_numbers += sum.size();
    e.past_sums.push_back(std::move(sum));
    while (e.past_sums.size() > 1 && e.past_numbers > (std::size_t{1} << 20))
        e.past_numbers -= e.past_sums.front().size(), e.past_sums.pop_front();
}
SINTER_APART bool client::makes_up() const {
    const engine::lock hold(engine_->mutex);
    return engine_->sums < engine_->others_sum;
}
/// Tells server 0 of sums that it has not made, for it was started again, or does not know any more. False: it has not
/// answered.
SINTER_COLD inline bool client::engine::restore_sums(std::size_t i) {
    // One that knows nothing of a job that this worker is in begins another; one that was lost before the chief had
    // opened the job goes on where workers are.
    if (opened && !about.open && about.restored < 0) return true;
    const std::uint64_t first = sums - past_sums.size();
    std::uint64_t from = about.sum < sums ? about.sum : about.lacks > 1 ? 1 : sums;
    const std::uint64_t end = about.sum < sums ? sums : std::min(sums, about.lacks);
    from = std::max(from, first);
    const auto poll = [this, until = until_an_answer()](int descriptor, short events) {
        return dialler.poll_until(descriptor, events, until);
    };
    // From the last ones back, so that there is no gap between those that the server knows.
    for (std::uint64_t stop = end; stop > from;) {
        calls::restore_sums some;
        std::uint64_t begin = stop;
        for (std::size_t n = 0; begin > from && n + past_sums[begin - 1 - first].size() <= most_frame / 16; --begin)
            n += past_sums[begin - 1 - first].size() + 1;
        if (begin == stop) return true;   // one that no frame holds
        for (std::uint64_t k = begin; k < stop; ++k) some.sums.push_back(past_sums[k - first]);
        some.first = begin;
        if (!connections[i]->first_call(some, poll)) return false;
        if (connections[i]->refused) return true;
        stop = begin;
    }
    return true;
}

} // namespace sinter::parameter_servers
