// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/arena.hpp>
#include <sinter/strategy/parameter_server/shard_update.hpp>
#include <cstring>

#include "support/half_steps.hpp"

/// Parameters of a program on several servers, without the servers: memory of each, and steps by an optimizer's
/// kernels. P: a training program under gradient_policy::reduced.
namespace sinter::test {

/// half_steps of P, with the first values of any trainer of its net and the optimizer's first slots.
template <class P, class Optimizer, class Trainer>
half_steps<P, Optimizer> with_first_slots(const Trainer& first, const Optimizer& o, int threads = 1) {
    half_steps<P, Optimizer> h(first, o, threads);
    for (int i = 0; i < P::v.n_parameters; ++i) {
        const variable_info& v = P::v.parameters[i];
        for (int k = 0; k < P::v.slots && v.group >= 0; ++k) {
            float* const to = h.at({space::slot, k * P::v.z.trained + v.at.offset()});
            const std::int64_t n = round_up(v.floats, 16);
            if (k == average_slot_of<Optimizer>()) std::copy_n(h.at(v.at), n, to);
            else std::fill_n(to, n, first_of_slot(o, v.group, k));
        }
    }
    return h;
}

template <class P, class Optimizer>
class shards {
public:
    /// `h`: half_steps of P, whose values they begin with.
    template <class Halves>
    shards(const Halves& h, Optimizer o, int servers,
           parameter_servers::row_partition how = parameter_servers::row_partition::mod, bool sums_on_servers = false)
        : optimizer_(o), updater_(sinter::strategy_parts::make_updater<P>(o)),
          placed_(parameter_servers::place(sinter::strategy_parts::blocks_of<P, Optimizer>(sums_on_servers), servers)),
          tables_(find_tables(servers, how)) {
        for (int k = 0; k < servers; ++k) {
            members_.emplace_back();
            member& m = members_.back();
            const std::int64_t n = placed_.floats[at(k)];
            m.values = arena(n);
            m.gradients = arena(n);
            m.slots = arena(n * P::v.slots);
            copy(k, h.at({space::parameter, 0}), m.values.data());
            for (int s = 0; s < P::v.slots; ++s)
                for (const parameter_servers::run& r : placed_.runs[at(k)])
                    if (r.group >= 0)
                        updater_->first_slot(r.group, s, m.slots.data() + s * n + r.first, m.values.data() + r.first,
                                             r.floats);
            for (const table& t : tables_) {
                const std::int64_t floats = round_up(t.place.rows_of(k) * t.width, 16);
                m.tables.emplace_back(floats);
                m.table_slots.emplace_back(floats * P::v.slots);
                copy_rows(t, k, h.at({space::parameter, 0}), m.tables.back().data());
                for (int s = 0; s < P::v.slots; ++s)
                    updater_->first_slot(P::v.parameters[t.parameter].group, s,
                                         m.table_slots.back().data() + s * floats, m.tables.back().data(), floats);
            }
        }
    }
    /// By the gradients that lie in h. Parameters of groups that `updates` refuses rest.
    template <class Halves, class Updates>
    void step(const Halves& h, std::int64_t number, Updates updates) {
        float scalars[std::size_t{Optimizer::n_scalars + 1}] = {};
        optimizer_.scalars(number, scalars);
        const float square_sum = all_squares(h);
        for (int k = 0; k < placed_.servers; ++k) {
            member& m = members_[at(k)];
            const std::int64_t n = placed_.floats[at(k)];
            for (const parameter_servers::piece& p : placed_.pieces[at(k)])
                if (p.bucket >= 0)
                    std::memcpy(m.gradients.data() + p.first, h.at({space::gradient, 0}) + p.gradient,
                                4 * at(p.floats));
            for (const parameter_servers::run& r : placed_.runs[at(k)])
                if (r.group < 0 || updates(r.group))
                    updater_->update(r.group, m.values.data() + r.first, m.gradients.data() + r.first,
                                     m.slots.data() + r.first, n, r.floats, scalars, square_sum);
            for (std::size_t i = 0; i < tables_.size(); ++i) {
                const table& t = tables_[i];
                if (!updates(P::v.parameters[t.parameter].group)) continue;
                rows_of_server of(t, list(h, t), k);
                updater_->update_rows(P::v.parameters[t.parameter].group, m.tables[i].data(), m.table_slots[i].data(),
                                      round_up(t.place.rows_of(k) * t.width, 16), of.list(t.width), scalars,
                                      square_sum);
            }
        }
    }
    template <class Halves>
    void step(const Halves& h, std::int64_t number) {
        step(h, number, [](int) { return true; });
    }
    /// How many floats of parameters and slots differ from h's, bit by bit.
    template <class Halves>
    int differences(const Halves& h) const {
        int n = 0;
        for (int k = 0; k < placed_.servers; ++k) {
            const member& m = members_[at(k)];
            const std::int64_t floats = placed_.floats[at(k)];
            for (const parameter_servers::piece& p : placed_.pieces[at(k)]) {
                n += unequal(m.values.data() + p.first, h.at({space::parameter, 0}) + p.parameter, p.floats);
                for (int s = 0; s < P::v.slots && p.bucket >= 0; ++s)
                    n += unequal(m.slots.data() + s * floats + p.first, h.at(slot(s)) + p.parameter, p.floats);
            }
            for (std::size_t i = 0; i < tables_.size(); ++i) {
                const table& t = tables_[i];
                const std::int64_t at_table = P::v.parameters[t.parameter].at.offset();
                for (std::int64_t r = 0; r < t.place.rows_of(k); ++r) {
                    const std::int64_t there = at_table + t.place.row(k, r) * t.width, here = r * t.width;
                    n += unequal(m.tables[i].data() + here, h.at({space::parameter, 0}) + there, t.width);
                    const std::int64_t stride = round_up(t.place.rows_of(k) * t.width, 16);
                    for (int s = 0; s < P::v.slots; ++s)
                        n += unequal(m.table_slots[i].data() + s * stride + here, h.at(slot(s)) + there, t.width);
                }
            }
        }
        return n;
    }
    const parameter_servers::dense_placement& placed() const { return placed_; }
    const parameter_servers::updater& updater() const { return *updater_; }
    std::size_t tables() const { return tables_.size(); }

private:
    struct table {
        int parameter, width;
        parameter_servers::row_placement place;
    };
    struct member {
        arena values, gradients, slots;
        std::vector<arena> tables, table_slots;
    };
    /// The part of a list that is of one server's rows, by their numbers there.
    struct rows_of_server {
        std::vector<std::int32_t> keys = std::vector<std::int32_t>(list_header);
        std::vector<float> rows;
        rows_of_server(const table& t, const row_list& all, int server) {
            for (int i = 0; i < all.size(); ++i) {
                if (t.place.server(all.key(i)) != server) continue;
                keys.push_back(static_cast<std::int32_t>(t.place.local(all.key(i))));
                rows.insert(rows.end(), all.row(i), all.row(i) + t.width);
                ++keys[0];
            }
            rows.resize(rows.size() + 32);
        }
        row_list list(int width) { return {keys.data(), rows.data(), width}; }
    };
    Optimizer optimizer_;
    std::unique_ptr<parameter_servers::updater> updater_;
    parameter_servers::dense_placement placed_;
    std::vector<table> tables_;
    std::vector<member> members_;

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    static address slot(int s) { return {space::slot, s * P::v.z.trained}; }
    static std::vector<table> find_tables(int servers, parameter_servers::row_partition how) {
        std::vector<table> all;
        for (int i = 0; i < P::v.n_parameters; ++i)
            if (const variable_info& v = P::v.parameters[i]; strategy_parts::is_table<P>(v))
                all.push_back({i, v.s.last(), {v.s.d[0], servers, how}});
        return all;
    }
    void copy(int server, const float* from, float* to) const {
        for (const parameter_servers::piece& p : placed_.pieces[at(server)])
            std::memcpy(to + p.first, from + p.parameter, 4 * at(p.floats));
    }
    static void copy_rows(const table& t, int server, const float* from, float* to) {
        for (std::int64_t r = 0; r < t.place.rows_of(server); ++r)
            std::memcpy(to + r * t.width,
                        from + P::v.parameters[t.parameter].at.offset() + t.place.row(server, r) * t.width,
                        4 * at(t.width));
    }
    template <class Halves>
    static row_list list(const Halves& h, const table& t) {
        const gradient_bucket& b = P::v.buckets[P::v.parameters[t.parameter].bucket];
        return {reinterpret_cast<std::int32_t*>(h.at(b.keys)), h.at(b.at), t.width};
    }
    /// Of all gradients, as a worker has them all.
    template <class Halves>
    float all_squares(const Halves& h) const {
        std::vector<float> lines(at(16 * P::v.n_parameters));
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            if (v.bucket < 0) continue;
            lines[at(16 * i)] = strategy_parts::is_table<P>(v) ? updater_->squares(list(h, table{i, v.s.last(), {}}))
                                                       : updater_->squares(h.at(v.gradient), round_up(v.floats, 16));
        }
        return updater_->total(lines.data(), P::v.n_parameters);
    }
    static int unequal(const float* a, const float* b, std::int64_t n) {
        int differ = 0;
        for (std::int64_t i = 0; i < n; ++i) differ += std::memcmp(a + i, b + i, 4) != 0;
        return differ;
    }
};

} // namespace sinter::test
