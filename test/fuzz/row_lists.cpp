// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes in place of handshakes, frames, control messages, lists of rows and elastic jobs'
//     datagrams and messages
// libFuzzer target: whatever other members have put in their slots instead of a list of a table's rows, it is refused
// with data_error, or each row of the sum is one that the table has, once, and of as many lists as name it.
#include "message.hpp"
#include <sinter/strategy/synchronous/list_exchange.hpp>
#include <cstdlib>
#include <map>

namespace {
using namespace sinter;
constexpr int members = 3, most = 4, table_rows = 9, width = 2;
void need(bool b) {
    if (!b) std::abort();
}
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static strategy_parts::list_exchange lists(1, members, most, table_rows, width, false);
    const auto slot = static_cast<std::size_t>(lists.slot_bytes());
    auto* const slots = static_cast<std::byte*>(lists.slots());
    std::memset(slots, 0, slot * members);
    std::memcpy(slots, data, std::min(size, slot * members));
    std::map<std::int32_t, std::vector<const float*>> named;   // by rows of the table
    try {
        lists.join_members();
    } catch (const data_error& e) {
        must_be_fit(e);
        return 0;
    }
    const row_list& all = lists.join_members();   // the same again
    for (int r = 0; r < members; ++r) {
        const auto* const keys = reinterpret_cast<const std::int32_t*>(slots + static_cast<std::size_t>(r) * slot + 8);
        need(keys[0] >= 0 && keys[0] <= most);
        const auto* const rows = reinterpret_cast<const float*>(keys + list_header + keys[0]);
        for (int k = 0; k < keys[0]; ++k) named[keys[list_header + k]].push_back(rows + k * width);
    }
    need(all.size() == static_cast<int>(named.size()) && all.size() <= lists.most_rows());
    for (int k = 0; k < all.size(); ++k) {
        const auto& from = named[all.key(k)];
        need(all.key(k) >= 0 && all.key(k) < table_rows && !from.empty());
        for (int j = 0; j < width; ++j) {
            float sum = from[0][j];
            for (std::size_t i = 1; i < from.size(); ++i) sum += from[i][j];
            need(same(sum, all.row(k)[j]));
        }
    }
    return 0;
}
