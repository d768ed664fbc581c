// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/fitted_fields.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/runtime/row_batcher.hpp>
#include <sinter/data/runtime/row_team.hpp>
#include <sinter/data/stages/cursor_bytes.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/transform/batch.hpp>
#include <algorithm>
#include <optional>

/// Batches of typed elements, and how a model gets them.
namespace sinter::inline SINTER_ORDINARY::data {

namespace element_parts {

/// The stages of a pipeline as a source of rows for a model of these ports.
template <element_stage Stages, const model_ports& Ports>
class typed_rows final : public row_source {
    using element = typename Stages::value_type;
    using ticket = stage_parts::ticket_of<Stages>;

public:
    explicit typed_rows(Stages s) : stages_(std::move(s)), columns_(columns_of_ports<Ports>()) {}
    const column_list& columns() const override { return columns_; }
    std::int64_t size() const override { return stages_.size(); }
    SINTER_COLD void prepare(int threads, int batches, int rows) override {
        threads_ = std::vector<of_thread>(static_cast<std::size_t>(threads));
        batches_ = std::vector<of_batch>(static_cast<std::size_t>(batches));
        for (of_batch& p : batches_) p.tickets = std::vector<ticket>(static_cast<std::size_t>(rows));
    }
    SINTER_COLD void start(const position& at) override {
        stages_.begin(reader_, at.epoch);
        pass_ = at.epoch;
        cursor_ = {};
        if (at.cursors.empty()) stage_parts::skip(stages_, reader_, cursor_, at.index);
        else cursor_ = stage_parts::read_cursor(stages_, at.cursors);
    }
    void save_cursors(std::string& to) const override { stage_parts::write_cursor<Stages>(cursor_, to); }
    SINTER_COLD void need_cursors(const std::string& cursors) const override {
        if (!cursors.empty()) static_cast<void>(stage_parts::read_cursor(stages_, cursors));
    }
    int take(int batch, int first, int n) override {
        auto& to = batches_[static_cast<std::size_t>(batch)];
        if (first == 0) to.pass = pass_;   // then other threads read it: they fill rows of this batch
        int got = 0;
        for (ticket* k = to.tickets.data() + first; got < n && stage_parts::next(stages_, reader_, cursor_, *k); ++k)
            ++got;
        return got;
    }
    void fill(int thread, int batch, int first, int n, batch_buffer& to, int row) override {
        auto& w = threads_[static_cast<std::size_t>(thread)];
        auto& p = batches_[static_cast<std::size_t>(batch)];
        if (w.pass != p.pass) {
            w.pass = -1;   // should begin() throw
            stages_.begin(w.state, p.pass);
            w.pass = p.pass;
        }
        ticket* const tickets = p.tickets.data() + first;
        if constexpr (std::is_reference_v<decltype(stages_.get(w.state, *tickets))>)
            return copy_elements(w.state, tickets, n, to, row);
        constexpr int ahead = 8;
        if constexpr (indexed_stage<Stages>)
            for (int r = 0; r < ahead && r < n; ++r) stages_.prefetch(w.state, tickets[r]);
        for (int r = 0; r < n; ++r) {
            if constexpr (indexed_stage<Stages>)
                if (r + ahead < n) stages_.prefetch(w.state, tickets[r + ahead]);
            const auto& e = stages_.get(w.state, tickets[r]);
            write(e, row + r, to);
        }
    }
    SINTER_COLD void describe(description& d) const override { stages_.describe(d); }

private:
    using state_type = typename Stages::state;

    /// Elements that lie in memory: first where each one is, then field by field, as columns lie.
    void copy_elements(state_type& s, ticket* tickets, int n, batch_buffer& to, int row) {
        constexpr int most = 64;
        const element* at[most];
        for (int done = 0; done < n; done += most) {
            const int some = n - done < most ? n - done : most;
            for (int r = 0; r < some; ++r) at[r] = &stages_.get(s, tickets[done + r]);
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                (copy_column<static_cast<int>(I)>(at, some, row + done, to), ...);
            }(std::make_index_sequence<static_cast<std::size_t>(element_fields<element>)>{});
        }
    }
    /// Fields are asked for some rows before they are copied, as batch_buffer::append does it.
    template <int I>
    static void copy_column(const element* const* at, int n, int first, batch_buffer& to) {
        constexpr int port = port_of(I);
        if constexpr (port >= 0) {
            constexpr std::size_t bytes = sizeof(element_field_of<I>(*at[0]));
            constexpr int ahead = batch_buffer::rows_ahead(bytes);
            const auto prefetch = [&](int r) {
                base::prefetch_lines(&element_field_of<I>(*at[r]), static_cast<std::int64_t>(bytes));
            };
            for (int r = 0; r < ahead && r < n; ++r) prefetch(r);
            for (int r = 0; r < n; ++r) {
                if (ahead > 0 && r + ahead < n) prefetch(r + ahead);
                write_field(element_field_of<I>(*at[r]), to.row(port, first + r));
            }
        }
    }
    static void write(const element& e, int row, batch_buffer& to) {
        for_each_element_field(e, [&](auto i, const auto& field) {
            constexpr int port = port_of(i);
            if constexpr (port >= 0) write_field(field, to.row(port, row));
        });
    }
    static constexpr int port_of(int field) {
        for (int p = 0; p < Ports.inputs.n + Ports.targets.n; ++p)
            if (fitted<element, Ports>.field_of[p] == field) return p;
        return -1;
    }

    struct of_thread {
        typename Stages::state state{};
        std::int64_t pass = -1;   ///< that the state is of
        char apart[64] = {};      ///< no cache line is two threads' (alignas(64): a sixth slower in bench/elements)
    };
    struct of_batch {
        std::int64_t pass = 0;
        std::vector<ticket> tickets;   ///< one for each row
    };
    Stages stages_;
    column_list columns_;
    std::vector<of_thread> threads_;
    std::vector<of_batch> batches_;
    typename Stages::state reader_{};
    std::int64_t pass_ = 0;
    stage_parts::cursor_of<Stages> cursor_{};
};

} // namespace element_parts

/// What `stages | data::batch(64)` is. A model takes it as it takes a pipeline, and goes on where the last call ended:
///
///     struct sample { std::array<float, 3> x; std::int32_t label; };
///     auto train = data::rows(samples) | data::shuffle() | data::batch(64) | data::prefetch();
///     model.train(train, {.epochs = 5});
///
/// Each field of an element goes to one port of the model: that of its name, where inputs or targets have names, else
/// the next one in the order inputs, targets, weights. Where that does not fit, there is one compile error, with the
/// field, what it is and what is needed. A number or an array is an element of one field.
template <class Stages>
class batches {
public:
    batches(Stages s, int size, bool drop_remainder) : stages_(std::move(s)), size_(size), drop_(drop_remainder) {}

    const Stages& stages() const { return stages_; }
    int batch_size() const { return size_; }
    bool drops_remainder() const { return drop_; }
    std::int64_t size() const { return stages_.size(); }   ///< elements in a pass, or unknown_size or endless
    /// Where the next batch begins; the same as the pipeline's (data/pipeline.hpp).
    data::position position() const { return read_.made ? read_.made->position() : position_; }
    SINTER_COLD void seek(data::position to) {
        if (read_.made) return read_.made->seek(std::move(to));
        if (to.epoch < 0 || to.index < 0)
            throw option_error("impossible position", "seek", to_text({to.epoch, ", ", to.index}),
                               "an epoch and index >= 0");
        if (!to.cursors.empty()) static_cast<void>(stage_parts::read_cursor(stages_, to.cursors));
        position_ = std::move(to);
    }
    void rewind() { seek({}); }

    /// Prepared ahead of the caller by a thread.
    SINTER_COLD batches prefetched(prefetch_step s) && {
        depth_ = s.depth;
        return std::move(*this);
    }
    /// Made by a team of threads.
    SINTER_COLD batches with_team(team_options o, std::size_t ram_budget) && {
        team_ = std::make_shared<team_statistics>();
        team_options_ = std::move(o);
        ram_budget_ = ram_budget;
        return std::move(*this);
    }
    /// What the threads of parallel() do for who trains and evaluates; without it all 0.
    team_statistics statistics() const { return team_ ? *team_ : team_statistics{}; }

    /// The pipeline for a model of these ports, at position(). Who predicts looks at a pass and has a pipeline of its
    /// own, so that the other one, of which a training may know, stays.
    template <const model_ports& Ports>
    pipeline& for_ports() {
        const data::position at = position();
        for_model& m = Ports.predicts ? looked_at_ : read_;
        if (m.ports != &Ports) {
            m.made.emplace(pipeline_of(std::make_unique<element_parts::typed_rows<Stages, Ports>>(stages_),
                                       Ports.predicts ? nullptr : team_));
            m.ports = &Ports;
        }
        if (m.made->position() != at) m.made->seek(at);
        return *m.made;
    }

private:
    struct for_model {
        const model_ports* ports = nullptr;
        std::optional<pipeline> made;
    };
    SINTER_COLD pipeline pipeline_of(std::unique_ptr<row_source> rows, std::shared_ptr<team_statistics> to) const {
        if (!team_ && !depth_) return pipeline(batches_of_rows(std::move(rows), size_, drop_).release());
        team_options o = team_options_;   // prefetch() alone is a team of one thread
        o.statistics = std::move(to);
        o.depth = depth_.value_or(0);
        if (ram_budget_ > 0) {
            const std::size_t bytes = rows->columns().bytes() * static_cast<std::size_t>(size_) + 1;
            o.depth = static_cast<int>(std::clamp<std::size_t>(ram_budget_ / bytes, 1, 1024));
        }
        return pipeline(team_of_rows(std::move(rows), size_, drop_, o).release());
    }

    Stages stages_;
    int size_;
    bool drop_;
    std::shared_ptr<team_statistics> team_;   ///< null: the caller's thread, or that of prefetch()
    team_options team_options_{.threads = 1};
    std::size_t ram_budget_ = 0;
    std::optional<int> depth_;   ///< of prefetching; 0: by the batches' size
    data::position position_;    ///< while nothing was read
    for_model read_, looked_at_;
};

template <const model_ports& Ports, class Stages>
pipeline& pipeline_for(batches<Stages>& b) {
    if constexpr (!std::is_same_v<Stages, refused_stage>) {
        using element = typename Stages::value_type;
        using whole = element_parts::kept_together<element>;
        if constexpr (!std::is_void_v<whole>)
            static_assert(base::field_count<whole> == 0);   // says why it does not come apart
        else if constexpr (check_fields<decltype(element_parts::verdict<element, Ports>())>::value)
            return b.template for_ports<Ports>();
    }
    __builtin_unreachable();
}

template <element_stage Stages>
batches<Stages> operator|(Stages up, batch_step s) {
    return {std::move(up), s.size, s.drop_remainder};
}
inline batches<refused_stage> operator|(refused_stage up, batch_step s) { return {up, s.size, s.drop_remainder}; }
template <class Stages>
batches<Stages> operator|(batches<Stages> up, prefetch_step s) {
    return std::move(up).prefetched(s);
}

/// What parallel() may use.
struct parallel_options {
    int cpu_budget = 0;           ///< cores that its threads may keep busy; 0: all that the process may use
    std::size_t ram_budget = 0;   ///< bytes of batches ahead of the caller; 0: a megabyte, but 2 to 16 batches
};
struct parallel_step {
    int threads;   ///< 0: chosen
    parallel_options options{};
};
/// So many threads compute the elements of batches ahead of the caller, all stages at once. Batches are the same for
/// any number. option_error unless 1 <= threads <= 1024.
inline parallel_step parallel(int threads) {
    if (threads < 1 || threads > 1024)
        throw option_error("impossible number of threads", "parallel", to_text({threads}), "1 to 1024");
    return {threads};
}
/// As many threads as are of use, chosen anew every 30 ms while batches are taken, from what a row takes and how many
/// rows the caller would take if it never waited (data/runtime/team_size.hpp); batches::statistics() says how many.
/// option_error for a negative budget.
inline parallel_step parallel(parallel_options o = {}) {
    if (o.cpu_budget < 0)
        throw option_error("impossible budget of cores", "parallel", to_text({o.cpu_budget}), "0 or more");
    return {0, o};
}
template <class Stages>
batches<Stages> operator|(batches<Stages> up, parallel_step s) {
    return std::move(up).with_team({.threads = s.threads, .cpu_budget = s.options.cpu_budget}, s.options.ram_budget);
}

} // namespace sinter::data
