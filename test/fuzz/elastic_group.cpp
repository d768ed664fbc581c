// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes in place of handshakes, frames, control messages, lists of rows and elastic jobs'
//     datagrams and messages
// needs: distributed
#include "message.hpp"
#include <sinter/base/span.hpp>
#include <sinter/collective/elastic_job.hpp>
#include <sinter/collective/healer.hpp>
#include <sinter/strategy/elastic/slot_record.hpp>
#include <sinter/strategy/elastic/result_header.hpp>
#include <cstdlib>

// What members of an elastic job tell each other within their group, where two others say anything: records of
// themselves, what is to follow, and what a process that joins is healed with. It is refused before memory is taken for
// it, by an error that names one of them, or it is what may be. The first byte says which.
namespace {
using namespace sinter;

void need(bool b) {
    if (!b) std::abort();
}
/// Rank 0 of three. What others send is what is left of the input; behind its end they are gone.
class others_say final : public collective::communicator {
public:
    explicit others_say(span<const std::byte> x) : left_(x) {}
    int rank() const override { return 0; }
    int size() const override { return 3; }
    collective::ticket start(const collective::operation& o, void* data, std::int64_t n, bool) override {
        auto* const to = static_cast<std::byte*>(data);
        if (o.what == collective::kind::all_gather_rows) take(to + n, 2 * n);
        else if (o.what == collective::kind::broadcast && o.root != 0) take(to, n);
        return 1;
    }
    collective::message start_send(int, std::int64_t, span<const std::byte>) override { return 1; }
    collective::message start_recv(int, std::int64_t, span<std::byte> into) override {
        take(into.data(), static_cast<std::int64_t>(into.size()));
        return 1;
    }
    void wait_message(collective::message, double) override {}
    void wait(collective::ticket) override {}
    void check() override {}
    void fail(std::string_view) noexcept override {}

private:
    span<const std::byte> left_;
    void take(std::byte* to, std::int64_t n) {
        if (static_cast<std::size_t>(n) > left_.size()) throw cluster_error(1, "", "", "", -1, "gone");
        std::memcpy(to, left_.data(), static_cast<std::size_t>(n));
        left_ = left_.subspan(static_cast<std::size_t>(n));
    }
};
template <class T>
T drawn(others_say& c) {
    T x;
    c.broadcast({reinterpret_cast<std::byte*>(&x), sizeof x}, 1);
    return x;
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    others_say c({reinterpret_cast<const std::byte*>(data) + 1, size - 1});
    constexpr int members = 5;
    try {
        if (data[0] % 4 == 0) {
            const auto all = collective::all_gather_value(
                c, strategy_parts::slot_record{.done = 3, .healed = 1, .has = {{2, 0, 3}}}, "a test");
            need(all.size() == 3 && all[0].done == 3);
            for (int r = 0; r < 3; ++r) strategy_parts::need_record(all[static_cast<std::size_t>(r)], r, members);
            for (const strategy_parts::slot_record& s : all)
                for (const strategy_parts::slot_division& d : s.has)
                    for (int part = 0; d.epoch > 0 && part < d.members; ++part) {
                        need(d.members >= 1 && d.members <= members && d.member >= 0 && d.member < d.members);
                        const collective::part_range r = d.parts().part(1000, 0);
                        need(r.first >= 0 && r.first <= r.end && r.end <= 1000);
                        need(!d.keeps(part) || part < d.members);
                    }
        } else if (data[0] % 4 == 1) {
            const auto all = collective::all_gather_value(c, std::uint64_t{7}, "a test");
            need(all.size() == 3 && all[0] == 7);
        } else if (data[0] % 4 == 2) {
            const auto t = drawn<strategy_parts::result_header>(c);
            const auto needed = static_cast<strategy_parts::result_kind>(data[0] / 4 % 4);
            strategy_parts::need_result(t, 1, needed, {.image = 400, .least = 8, .most = 80}, 9);
            need(t.kind == needed && t.made_in >= 0 && t.made_in <= 9 && t.bytes >= 0 && t.bytes <= 400);
            strategy_parts::result_header again = t;
            again.set(t.step());
            need(again.flags == (t.flags & 31) && again.examples == t.examples);
        } else {
            std::int64_t heard = 0;
            collective::be_healed(c, 1000, [&](collective::healing what, const std::vector<std::byte>& bytes) {
                need(what >= collective::healing::nothing && what <= collective::healing::last);
                need(bytes.size() <= 1000);
                heard += static_cast<std::int64_t>(bytes.size());
            }, [] { return false; });
            need(heard < static_cast<std::int64_t>(size));
        }
    } catch (const cluster_error& e) {
        need(e.rank() == 1 || e.rank() == 2);
        must_be_fit(e);
    }
    return 0;
}
