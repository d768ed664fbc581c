// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/strategy/joined_rows.hpp>
#include <algorithm>
#include <bit>
#include <memory>

#include "support/half_steps.hpp"

/// Several members that train one model, each with memory of its own and a part of each batch,
/// their gradients added up by hand.
namespace sinter::test {

/// Examples [first, end) of a batch.
class part_of_batch {
public:
    part_of_batch(const data::batch_view& all, int first, int end) : view_(all) {
        for (const data::input_view& v : all.inputs) inputs_.push_back(moved(v, first));
        for (const data::input_view& v : all.targets) targets_.push_back(moved(v, first));
        view_.inputs = {inputs_.data(), inputs_.size()};
        view_.targets = {targets_.data(), targets_.size()};
        view_.size = end - first;
    }
    part_of_batch(const part_of_batch&) = delete;
    const data::batch_view& view() const { return view_; }

private:
    std::vector<data::input_view> inputs_, targets_;
    data::batch_view view_;

    static data::input_view moved(data::input_view v, int examples) {
        if (v.indices) v.indices += examples * v.width;
        if (v.values) v.values += examples * v.width;
        return v;
    }
};

/// The rows of a slot [table_rows, row_floats] in which a table's gradient is accumulated, as a list, by their numbers:
/// those that hold anything but the -0 with which a round begins (train/optimizers/accumulate.hpp).
inline void list_accumulated_rows(const float* slot, int table_rows, int most_rows, const row_list& to) {
    *to.keys = 0;
    for (int i = 0; i < table_rows; ++i) {
        const float* const row = slot + std::int64_t{i} * to.row_floats;
        const auto has_occurred = [](float x) { return std::bit_cast<std::uint32_t>(x) != 0x80000000u; };
        if (std::none_of(row, row + to.row_floats, has_occurred)) continue;
        BOOST_TEST_REQUIRE(*to.keys < most_rows);
        to.key(*to.keys) = i;
        std::copy_n(row, to.row_floats, to.row((*to.keys)++));
    }
    const std::int64_t end = std::int64_t{*to.keys} * to.row_floats;
    std::fill(to.rows + end, to.rows + base::round_up(end, 16), 0.f);
}
/// Writes a list's rows into a slot. Others stay as they are.
inline void put_rows(const row_list& from, float* slot) {
    for (int k = 0; k < from.size(); ++k)
        std::copy_n(from.row(k), from.row_floats, slot + std::int64_t{from.key(k)} * from.row_floats);
}

template <class P, class Optimizer>
class half_members {
public:
    static constexpr program_segments cuts = P::v.segments;

    template <class Trainer>
    half_members(int n, const Trainer& first, Optimizer o, runtime::row_order order = runtime::row_order::ranks)
        : order_(order) {
        for (int i = 0; i < n; ++i) all_.push_back(std::make_unique<half_steps<P, Optimizer>>(first, o, 1 + i % 2));
        std::vector<float*> arenas;
        for (auto& m : all_) arenas.push_back(m->at({P::v.buckets[0].at.where(), 0}));
        if (sources > 1) all_[0]->runner().update_from(arenas.data());
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const gradient_bucket& b = P::v.buckets[k];
            const int rows = b.parameter < 0 ? 1 : P::v.parameters[b.parameter].s.d[0];
            joined_.emplace_back(n, b.parameter < 0 ? 1 : b.most_rows, rows, b.parameter < 0 ? 1 : b.row_floats);
        }
    }
    int size() const { return static_cast<int>(all_.size()); }
    half_steps<P, Optimizer>& operator[](int i) { return *all_[static_cast<std::size_t>(i)]; }

    /// Gradients of each member's part of the batch; all have their sums then.
    void gradients(const data::batch_view& b) {
        ++steps_;
        for (int i = 0; i < size(); ++i) {
            const part_of_batch part(b, first_of(i, b), first_of(i + 1, b));
            (*this)[i].begin(part.view(), {.index = static_cast<std::uint64_t>(i), .global_batch = b.size});
            if (is_empty(i, b)) clear((*this)[i]);
        }
        int next = 0;
        for (int k = 0; k < P::v.n_sync_points; ++k) {
            const sync_point& p = P::v.sync_points[k];
            if (next <= p.after) run(b, {next, p.after + 1});
            next = std::max(next, p.after + 1);
            std::vector<float> sum(static_cast<std::size_t>(p.floats), 0.f);
            for (int i = 0; i < size(); ++i)
                for (std::size_t f = 0; f < sum.size() && !is_empty(i, b); ++f) sum[f] += (*this)[i].at(p.at)[f];
            for (auto& m : all_) std::copy(sum.begin(), sum.end(), m->at(p.at));
        }
        run(b, {next, cuts.first_update});
        for (auto& m : all_) m->now().ports = nullptr;
        reduce();
    }
    void step(const data::batch_view& b) {
        gradients(b);
        for (auto& m : all_) {
            m->now().lists = lists_;
            if (sources == 1 || m == all_[0]) m->update();
            else m->end();
        }
        if (sources > 1 && steps_ % P::v.buckets[0].every == 0) share_the_first_ones();
    }
    const row_list* lists() const { return lists_; }

private:
    std::vector<std::unique_ptr<half_steps<P, Optimizer>>> all_;
    std::vector<runtime::joined_rows> joined_;
    row_list lists_[P::v.n_buckets + 1];
    runtime::row_order order_;
    int steps_ = 0;
    /// The first member's sweeps read all gradients; what it ends with is everybody's, as in one memory.
    static constexpr int sources = P::request::options.gradient_sources;

    void share_the_first_ones() {
        for (auto& m : all_)
            for (const space s : {space::parameter, space::slot})
                if (m != all_[0]) std::copy_n(all_[0]->at({s, 0}), P::v.floats(s), m->at({s, 0}));
    }

    int first_of(int i, const data::batch_view& b) const { return b.size * i / size(); }
    bool is_empty(int i, const data::batch_view& b) const { return first_of(i, b) == first_of(i + 1, b); }
    /// Members without examples do not run.
    void run(const data::batch_view& b, launch_range r) {
        for (int i = 0; i < size(); ++i)
            if (!is_empty(i, b)) BOOST_TEST((*this)[i].run(r));
    }
    static void clear(half_steps<P, Optimizer>& m) {
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const gradient_bucket& b = P::v.buckets[k];
            std::fill_n(m.at(b.at), b.floats, 0.f);
            if (b.is_list()) *reinterpret_cast<std::int32_t*>(m.at(b.keys)) = 0;
        }
    }
    void reduce() {
        if (P::v.round_weight.where() != space::none && steps_ % P::v.buckets[0].every == 0) {
            float sum = 0;
            for (auto& m : all_) sum += *m->at(P::v.round_weight);
            for (auto& m : all_) *m->at(P::v.round_weight) = sum;
        }
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const gradient_bucket& b = P::v.buckets[k];
            if (steps_ % b.every) continue;
            if (b.is_list()) join(k, [&](auto& m) {
                return row_list{reinterpret_cast<std::int32_t*>(m.at(b.keys)), m.at(b.at), b.row_floats};
            });
            else if (b.parameter >= 0) join_accumulated(k);
            else if (sources == 1) add(b);
        }
    }
    template <class F>
    row_list join(int k, F list_of) {
        std::vector<row_list> from;
        for (auto& m : all_) from.push_back(list_of(*m));
        const row_list sum = joined_[static_cast<std::size_t>(k)].join({from.data(), from.size()}, order_);
        if (const int n = P::v.buckets[k].list; n >= 0) lists_[n] = sum;
        return sum;
    }
    void join_accumulated(int k) {
        const gradient_bucket& b = P::v.buckets[k];
        std::vector<std::vector<float>> memory;
        const auto floats = static_cast<std::size_t>(list_header + b.most_rows + b.most_rows * b.row_floats + 16);
        const row_list sum = join(k, [&](auto& m) {
            float* const at = memory.emplace_back(floats).data();
            const row_list l{reinterpret_cast<std::int32_t*>(at), at + list_header + b.most_rows, b.row_floats};
            list_accumulated_rows(m.at(b.at), P::v.parameters[b.parameter].s.d[0], b.most_rows, l);
            return l;
        });
        for (auto& m : all_) put_rows(sum, m->at(b.at));
    }
    void add(const gradient_bucket& b) {
        std::vector<std::vector<float>> x;
        for (auto& m : all_) x.emplace_back(m->at(b.at), m->at(b.at) + b.floats);
        const std::size_t n = x.size();
        for (std::size_t by = 1; by < n; by *= 2)
            for (std::size_t i = 0; i + by < n; i += order_ == runtime::row_order::tree ? 2 * by : n)
                for (std::size_t from = i + by;
                     from < (order_ == runtime::row_order::tree ? i + by + 1 : by == 1 ? n : i); ++from)
                    for (std::size_t f = 0; f < x[i].size(); ++f) x[i][f] += x[from][f];
        for (auto& m : all_) std::copy(x[0].begin(), x[0].end(), m->at(b.at));
    }
};

} // namespace sinter::test
