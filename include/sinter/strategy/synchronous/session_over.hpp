// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/session.hpp>
#include <utility>

namespace sinter::inline SINTER_TARGET::detail {

/// A session whose calls are those of `Parts`, which has replicas and, perhaps, a connection to other members; within
/// `Parts` they are ordinary functions. `Alone`: session_base::alone.
template <class Parts, bool Alone = false>
class session_over : public Parts, public session_base {
public:
    static constexpr bool alone = Alone;

    template <class Strategy>
    SINTER_COLD session_over(const Strategy& s, int threads) : Parts(s, threads) {}

    void read(compiler::address from, float* to, std::int64_t n) const override { Parts::read(from, to, n); }
    void write(compiler::address to, const float* from, std::int64_t n) override { Parts::write(to, from, n); }
    void clear_slots() override { Parts::clear_slots(); }
    void publish() override { Parts::publish(); }
    void refresh() override { Parts::refresh(); }
    int threads() const override { return Parts::threads(); }

    membership member() const override { return Parts::member(); }
    void reduce(span<double> x) override { Parts::reduce(x); }
    void broadcast(span<std::byte> x) override { Parts::broadcast(x); }
    void fail(const char* why) override { Parts::fail(why); }
    bool per_worker() const override { return Parts::per_worker(); }

    void set_steps(std::int64_t n) override { Parts::set_steps(n); }
    bool asked_to_stop() const override { return Parts::asked_to_stop(); }
    void ask_all_to_stop(const char* why) override { Parts::ask_all_to_stop(why); }
    const place_in_job& in_job() const override { return Parts::in_job(); }
};

} // namespace sinter::detail
