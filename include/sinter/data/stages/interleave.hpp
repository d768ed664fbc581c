// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/inner_stages.hpp>
#include <sinter/data/stages/stage.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

struct interleave_options {
    int cycle = 8;            ///< how many inner pipelines are read in turns
    std::int64_t block = 1;   ///< elements of one before it is the next one's turn
};
template <class F>
struct interleave_step {
    F make;
    interleave_options options;
};

/// Makes a pipeline of each element and gives the elements of up to `cycle` of these in turns, `block` of each; one
/// that has ended makes room for the next, as tf.data.Dataset.interleave has it. A stream.
///
///     data::list_files("train-*.tfrecord") | data::interleave([](const std::string& path) {
///         return data::tfrecords(path);
///     }, {.cycle = 4, .block = 16})
///
/// make(element) gives the stages, the same for the same element. Threads call it at the same time. What is random in
/// them depends on their seeds and on the pass: where it shall differ from one to the next, so must the seeds. Each
/// thread keeps the stages that it reads from, up to `cycle` of them, and the reader keeps as many.
///
/// The cursor is that of what comes before, and for each inner pipeline its own and where the element is that it was
/// made of: going on makes up to `cycle` pipelines anew and goes to their cursors. An element for which make() throws
/// is left behind. option_error for a cycle or a block below 1, or a cycle above 65536.
template <class F>
interleave_step<F> interleave(F make, interleave_options o = {}) {
    if (o.cycle < 1 || o.cycle > 65536)
        throw option_error("impossible cycle", "interleave", to_text({o.cycle}), "1 to 65536");
    if (o.block < 1) throw option_error("impossible block", "interleave", to_text({o.block}), "1 or more");
    return {std::move(make), o};
}

template <element_stage Up, class F>
class interleaved_stage {
    using inner = std::remove_cvref_t<std::invoke_result_t<const F&, const typename Up::value_type&>>;
    using inner_cursor = stage_parts::cursor_of<inner>;
    struct slot {
        stage_parts::cursor_of<Up> made_of{};   ///< before its element
        inner_cursor at{};
        std::int64_t number = -1;               ///< of its element; -1: it has none
    };
    using reading = stage_parts::inner_reading<inner>;

public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps + inner::maps;
    using value_type = typename inner::value_type;
    struct state {
        typename Up::state up;
        std::int64_t pass = 0;
        std::vector<reading> taking;      ///< for next(), of each slot
        stage_parts::inner_states<inner> computing;
    };
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::vector<slot> slots;     ///< `cycle` of them, once something was read
        std::int64_t taken = 0;      ///< elements of what comes before
        std::int64_t turn = 0;       ///< the slot that is next
        std::int64_t of_block = 0;   ///< elements that it has given in its turn
        std::int64_t up_ended = 0;   ///< 1: what comes before has no more
    };
    using ticket = stage_parts::inner_ticket<inner>;

    interleaved_stage(Up up, F make, interleave_options o) : up_(std::move(up)), make_(std::move(make)), options_(o) {}
    std::int64_t size() const { return up_.size() == 0 ? 0 : unknown_size; }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.pass = pass;
        s.taking.clear();
        s.computing.clear();
    }
    bool fits(const cursor& c) const {
        const auto cycle = static_cast<std::size_t>(options_.cycle);
        if (!stage_parts::fits(up_, c.up) || (!c.slots.empty() && c.slots.size() != cycle)) return false;
        for (const slot& s : c.slots)   // its own pipeline's cursor is held against that pipeline in restore()
            if (!stage_parts::fits(up_, s.made_of) || s.number < -1) return false;
        return c.taken >= 0 && c.turn >= 0 && c.turn < options_.cycle && c.of_block >= 0;
    }
    bool next(state& s, cursor& c, ticket& k) const {
        const auto cycle = static_cast<std::size_t>(options_.cycle);
        c.slots.resize(cycle);
        s.taking.resize(cycle);
        for (std::size_t idle = 0; idle < cycle;) {   // slots in a row that can give nothing any more
            const auto turn = static_cast<std::size_t>(c.turn);
            slot& at = c.slots[turn];
            reading& from = s.taking[turn];
            if (at.number < 0 && !take(s, c, at, from)) {
                ++idle;
                next_turn(c);
                continue;
            }
            idle = 0;
            if (!from.stages || from.number != at.number) restore(s, at, from);
            if (stage_parts::next(*from.stages, from.state, at.at, k.of)) {
                k.stages = from.stages;
                if (++c.of_block >= options_.block) next_turn(c);
                return true;
            }
            at = {};
            from = {};
            next_turn(c);
        }
        return false;
    }
    value_type get(state& s, ticket& k) const {
        return s.computing.get(k, s.pass, static_cast<std::size_t>(options_.cycle));
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("interleave")("function", type_text<F>())("cycle", options_.cycle)("block", options_.block);
        d("goes on", "at the cursors of up to `cycle` pipelines");
        if constexpr (base::tells_settings<F>) make_.describe(d);
    }

private:
    Up up_;
    F make_;
    interleave_options options_;

    void next_turn(cursor& c) const {
        c.of_block = 0;
        c.turn = (c.turn + 1) % options_.cycle;
    }
    /// The next element's pipeline, from its beginning, for a slot that has none; false where there are no more.
    bool take(state& s, cursor& c, slot& at, reading& from) const {
        if (c.up_ended) return false;
        const stage_parts::cursor_of<Up> before = c.up;
        stage_parts::ticket_of<Up> k{};
        if (!stage_parts::next(up_, s.up, c.up, k)) {
            c.up_ended = 1;
            return false;
        }
        const std::int64_t number = c.taken++;   // after an error the next one comes
        from = {};
        make(s, k, from);
        from.number = number;
        at = {before, {}, number};
        return true;
    }
    /// The pipeline that the slot has, once more.
    void restore(state& s, const slot& at, reading& from) const {
        from = {};
        stage_parts::cursor_of<Up> up = at.made_of;
        stage_parts::ticket_of<Up> k{};
        if (!stage_parts::next(up_, s.up, up, k))
            throw data_error("there are fewer elements than before", "interleave",
                             to_text({"none of number ", at.number}), "what was there when the place was noted");
        make(s, k, from);
        if (!stage_parts::fits(*from.stages, at.at))
            throw data_error("there are fewer elements than before", to_text({"interleave, pipeline ", at.number}),
                             "none at the place that was noted", "what was there then");
        from.number = at.number;
    }
    void make(state& s, stage_parts::ticket_of<Up>& k, reading& to) const {
        const typename Up::value_type& element = up_.get(s.up, k);
        to.stages = std::make_shared<const inner>(make_(element));
        to.stages->begin(to.state, s.pass);
    }
};

template <element_stage Up, class F>
auto operator|(Up up, interleave_step<F> s) {
    constexpr bool fits = [] {
        if constexpr (std::is_invocable_v<const F&, const typename Up::value_type&>)
            return element_stage<
                std::remove_cvref_t<std::invoke_result_t<const F&, const typename Up::value_type&>>>;
        else return false;
    }();
    static_assert(fits, "interleave: needed is a function that takes an element of this pipeline and gives a pipeline "
                        "of elements, without batches");
    if constexpr (fits) return interleaved_stage<Up, F>(std::move(up), std::move(s.make), s.options);
    else return refused_stage{};
}

} // namespace sinter::data
