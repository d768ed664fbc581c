// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/train/members.hpp>

/// Members compare what they are about to do, and all of them name what differs.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// mismatch_error on every member, which names what differs with both values, unless all have called it with the same
/// description. `what`: "members do not train alike"; `needed`: what to do about it.
SINTER_SELDOM SINTER_COLD void need_same(session_base& s, const description& d, const char* what, const char* where,
                                         const char* needed = "the same on every member");

enum class likeness { all_alike, differ, mine_differs };
/// Whether all members have called it with the same number; every member is told the same. By sums of numbers
/// and of their squares. mine_differs: a member that makes calls again, which others have made without it, and with
/// another number. It alone knows.
SINTER_SELDOM SINTER_COLD likeness have_the_same(session_base& all, std::uint64_t hash);
/// Of members that differ: what does, with the values of the first member and of the first that differs from it.
SINTER_SELDOM SINTER_COLD std::string differences_of(session_base& all, const description& mine);

} // namespace sinter::training_parts

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM_BODY likeness have_the_same(session_base& all, std::uint64_t hash) {
    constexpr int pieces = 3;   // of 21 bits: their squares, and the sums of these, are exact
    double sums[2 * pieces + 1];
    for (int i = 0; i < pieces; ++i) {
        const auto x = static_cast<double>(hash >> 21 * i & 0x1fffff);
        sums[2 * i] = x;
        sums[2 * i + 1] = x * x;
    }
    sums[2 * pieces] = 1;
    all.reduce({sums, 2 * pieces + 1});
    const double n = sums[2 * pieces];   // of those whose sums these are
    for (int i = 0; i < pieces; ++i)
        if (n * sums[2 * i + 1] != sums[2 * i] * sums[2 * i]) return likeness::differ;
    for (int i = 0; i < pieces; ++i)
        if (n * static_cast<double>(hash >> 21 * i & 0x1fffff) != sums[2 * i]) return likeness::mine_differs;
    return likeness::all_alike;
}
SINTER_SELDOM_BODY std::string differences_of(session_base& all, const description& mine) {
    const membership me = all.member();
    constexpr std::size_t numbers = 5;   // of each member: that it is there, the hash in three pieces, bytes
    std::vector<double> of(numbers * static_cast<std::size_t>(me.count));
    double* const own = of.data() + numbers * static_cast<std::size_t>(me.index);
    own[0] = 1;
    for (int i = 0; i < 3; ++i) own[1 + i] = static_cast<double>(mine.hash() >> 21 * i & 0x1fffff);
    own[4] = static_cast<double>(mine.text().size());
    all.reduce({of.data(), of.size()});
    int first = -1, other = -1;
    for (int r = 0; r < me.count && other < 0; ++r) {
        const double* const x = of.data() + numbers * static_cast<std::size_t>(r);
        if (x[0] != 1) continue;   // has ended
        if (first < 0) first = r;
        const double* const y = of.data() + numbers * static_cast<std::size_t>(first);
        if (x[1] != y[1] || x[2] != y[2] || x[3] != y[3]) other = r;
    }
    if (other < 0) return {};
    std::string text[2];
    for (int i = 0; i < 2; ++i) {
        const int r = i ? other : first;
        const double bytes = of[numbers * static_cast<std::size_t>(r) + 4];
        if (!(bytes >= 0 && bytes <= 1 << 24)) return {};
        text[i] = me.index == r ? mine.text() : std::string();
        text[i].resize(static_cast<std::size_t>(bytes));
        session_parts::broadcast_by_sums(span<std::byte>(reinterpret_cast<std::byte*>(text[i].data()), text[i].size()),
                          me.index == r, [&](span<double> x) { all.reduce(x); });
    }
    return base::one_line(description::differences(text[0], to_text({"rank ", first}), text[1],
                                                   to_text({"rank ", other})));
}
SINTER_SELDOM_BODY void need_same(session_base& s, const description& d, const char* what, const char* where,
                                  const char* needed) {
    if (is_alone(s)) return;
    const int me = s.member().index;
    const likeness found = have_the_same(s, d.hash());
    if (found == likeness::all_alike) return;
    throw mismatch_error(what, to_text({where, ", member ", me}),
                         found == likeness::differ ? differences_of(s, d)
                                                   : "it was started again, with other settings or data than those "
                                                     "with which the others have begun",
                         needed);
}

} // namespace sinter::training_parts
#endif
