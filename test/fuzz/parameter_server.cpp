// SPDX-License-Identifier: BSL-1.0
// shows servers: any bytes from workers, copies, manifests and changes of tables change nothing
// needs: distributed
// libFuzzer target: whatever a member says to a parameter server, or a server to a member, or a
// checkpoint's log has, is refused or lies within the shard. The first byte says which.
#include "message.hpp"
#include <sinter/parameter_server/agreed_clocks.hpp>
#include <sinter/parameter_server/clocks.hpp>
#include <sinter/parameter_server/copies.hpp>
#include <sinter/parameter_server/copy_protocol.hpp>
#include <sinter/parameter_server/server/reductions.hpp>
#include <sinter/parameter_server/server_log.hpp>
#include <sinter/parameter_server/staged_push.hpp>
#include <sinter/parameter_server/step_tickets.hpp>
#include <cstdlib>

namespace {
using namespace sinter;
const parameter_servers::shard_layout& layout() {
    static const parameter_servers::shard_layout l = [] {
        parameter_servers::shard_layout of;
        of.floats = 96;
        of.runs = {{0, 64, 0, -1}, {64, 32, -1, -1}};
        of.states = 5;
        of.tables.push_back({"known", 7, 3, 0});
        of.tables.push_back({"hashed", -1, 2, 0});
        return of;
    }();
    return l;
}
void need(bool b) {
    if (!b) std::abort();
}
template <class Message>
void is_stable(const Message& m) {
    const std::string once = parameter_servers::encode(m);
    need(parameter_servers::encode(parameter_servers::decode<Message>(as_bytes(once))) == once);
    if constexpr (std::is_base_of_v<parameter_servers::table_rows, Message>)   // read by place
        for (std::size_t i = 0; i < m.size(); ++i) need(m.row(i) + m.width() <= m.values.data() + m.values.size());
}
/// The first byte says of which call the rest is to be an answer.
template <class... Calls>
void one_of_answers(parameter_servers::call_list<Calls...>, span<const std::byte> bytes) {
    const auto one = [&]<class Call>(Call*) {
        if (std::to_integer<unsigned>(bytes[0]) != static_cast<unsigned>(Call::id)) return;
        try {
            is_stable(parameter_servers::decode<typename Call::answer>(bytes.subspan(1)));
        } catch (const error& e) {
            must_be_fit(e);
        }
    };
    (one(static_cast<Calls*>(nullptr)), ...);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter::parameter_servers;
    if (size < 1) return 0;
    const span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    switch (data[0] % 10) {
        case 0: {   // a header that has proved to be one of this connection
            if (bytes.size() < 40) return 0;
            using wire::detail::get;
            wire::frame_header h;
            h.tag.operation = get<std::uint8_t>(bytes.data()) % 40;
            h.tag.bucket = get<std::int32_t>(bytes.data() + 4);
            h.tag.step = get<std::int64_t>(bytes.data() + 8);
            h.tag.elements = get<std::uint64_t>(bytes.data() + 16);
            h.tag.offset = get<std::uint64_t>(bytes.data() + 24);
            h.bytes = get<std::uint64_t>(bytes.data() + 32) % (wire::most_payload + 1);
            if (fault_of(h, layout(), 2)) return 0;
            const auto w = static_cast<frame_type>(h.tag.operation);
            if (w == frame_type::gradient) need(h.tag.offset + h.tag.elements <= 64 && h.bytes == 4 * h.tag.elements);
            if (w == frame_type::write || w == frame_type::read) {
                const std::int64_t n = array_floats(layout(), h.tag.bucket, 2);
                need(n >= 0 && static_cast<std::int64_t>(h.tag.offset + h.tag.elements) <= n);
            }
            if (w == frame_type::call) need(h.tag.elements >= 1 && h.tag.elements <= last_call);
            if (w == frame_type::pull_rows)
                need(h.bytes == 8 * h.tag.elements && h.tag.bucket >= 0 && h.tag.bucket < 2);
            return 0;
        }
        case 1: {
            staged_push p(layout());
            const char* const fault = p.take(bytes);
            if (fault) need(!p.begun());   // all of it is looked at before any of it is taken
            for (const std::int64_t key : p.tables()[0].keys) need(key >= 0 && key < 7);
            p.fault();
            return 0;
        }
        case 2: {
            commit_block b;
            if (!b.decode(bytes)) return 0;
            std::byte again[commit_block::bytes];
            b.encode(again);
            need(std::memcmp(again, bytes.data(), sizeof again) == 0);
            return 0;
        }
        case 3: {
            answer_block b;
            if (b.decode(bytes)) need(b.inline_bytes + answer_block::bytes <= bytes.size());
            return 0;
        }
        case 5: {   // a leader's header, as its follower reads it
            if (bytes.size() < 40) return 0;
            using wire::detail::get;
            wire::frame_header h;
            h.tag.operation = 76 + get<std::uint8_t>(bytes.data()) % 16;
            h.tag.bucket = get<std::int32_t>(bytes.data() + 4);
            h.tag.step = get<std::int64_t>(bytes.data() + 8);
            h.tag.elements = get<std::uint64_t>(bytes.data() + 16);
            h.tag.offset = get<std::uint64_t>(bytes.data() + 24);
            h.bytes = get<std::uint64_t>(bytes.data() + 32) % (wire::most_payload + 1);
            if (fault_of_copy(h, layout(), 2, 3, [](int) { return 2; })) return 0;
            const std::uint32_t w = h.tag.operation;
            if (w == copied::gradient || w == copied::sections || w == copied::commit)
                need(h.tag.bucket >= 0 && h.tag.bucket < 3);
            if (w == copied::gradient) need(h.tag.offset + h.tag.elements <= 64 && h.bytes == 4 * h.tag.elements);
            if (w == copied::write) {
                const std::int64_t n = array_floats(layout(), h.tag.bucket, 2);
                need(n >= 0 && static_cast<std::int64_t>(h.tag.offset + h.tag.elements) <= n);
            }
            if (w == copied::rows) need(h.bytes == h.tag.elements * copied_row_bytes(h.tag.bucket == 0 ? 3 : 2, 2));
            return 0;
        }
        case 4: try {
                const auto log = server_log::of(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
                need(server_log::of(log.bytes()).bytes() == log.bytes());
                clocks c(update_order::stale(3), 2);   // goes on from there
                c.restore(log.clocks);
                need(c.may_push(log.clocks + 3) && !c.may_push(log.clocks + 4));
                c.push(0, log.clocks + 3);
            } catch (const error& e) {
                must_be_fit(e);
            }
            return 0;
        case 6: try {   // what a leader says besides values: its follower goes on from there
                constexpr int workers = 3, staleness = 2;
                clocks c(update_order::stale(staleness), workers);
                agreed_clocks together;
                step_tickets tickets(update_mode::async, workers);
                reductions sums(workers, sum_order::ranks);
                wire::archive_reader r(bytes);
                c.serialize(r, 0u), tickets.serialize(r, 0u), sums.read_last(r), together.serialize(r, 0u);
                c.check("fuzz"), tickets.check(workers, "fuzz"), together.check("fuzz");
                const std::int64_t before = c.applied();
                for (int step = 0; step < 4; ++step) {
                    for (int w = 0; w < workers; ++w) {
                        need(c.next(w) >= 0 && c.applied() >= 0);
                        c.join(w, c.next(w));
                        if (c.may_push(c.next(w))) c.push(w, c.next(w));
                        need(!c.in_next(w) || c.next(w) > c.applied());   // whose push is there has come so far
                        tickets.ask(w, c.applied(), c.next(w), c.applied());
                        together.give(c.next(w));
                    }
                    if (c.ready()) c.close(), c.apply();
                }
                need(c.applied() >= before && tickets.out() <= workers);
                together.save_after_next(c.applied(), c.applied());
                together.files_after_next(c.applied());
                need(together.save() > 0 && together.save_clock() > 0);
                sums.give(0, sums.now(), {1.});
                need(sums.finish());
            } catch (const error& e) {
                must_be_fit(e);
            }
            return 0;
        case 8: try {   // the arguments of a call, by its number: refused, or the same when they are written again
                if (bytes.empty()) return 0;
                const auto id = static_cast<call_id>(std::to_integer<std::uint8_t>(bytes[0]));
                const auto take = [](const auto& c) { is_stable(c); };
                const auto arguments = bytes.subspan(1);
                const bool known = worker_calls::visit(id, arguments, take) || copy_calls::visit(id, arguments, take);
                need(known == (id >= call_id::join && static_cast<std::uint16_t>(id) <= last_call));
            } catch (const error& e) {
                must_be_fit(e);
            }
            return 0;
        case 9:   // the answer to one
            if (!bytes.empty()) one_of_answers(worker_calls(), bytes);
            return 0;
        default: try {   // what a copy says of itself
                const auto n = wire::restored<copy_note>(bytes);
                if (n.makes_sense()) need(wire::restored<copy_note>(as_bytes(wire::archived(n))).epoch == n.epoch);
                copy_register r;
                r.met(0, n);
                r.leads(1, n);
                need(!n.makes_sense() || r.decide(0, true) <= n.epoch + 1);
            } catch (const error& e) {
                must_be_fit(e);
            }
            return 0;
    }
}
