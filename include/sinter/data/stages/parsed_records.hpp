// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <sinter/io/tfrecord/example.hpp>
#include <utility>

/// Elements that are the bytes of messages, read into values.
namespace sinter::inline SINTER_ORDINARY::data {

namespace example_parts {

template <class S, class Ticket>
concept knows_places = requires(const S& s, Ticket& k) {
    { s.where(k) } -> std::same_as<tfrecord::place>;
};

/// Whether the elements of a pipeline are bytes.
template <element_stage Up>
inline constexpr bool gives_bytes = std::same_as<typename Up::value_type, std::string> ||
                                    std::same_as<typename Up::value_type, std::vector<std::byte>>;

} // namespace example_parts

/// Up's elements as a Parser reads them, which is:
///
/// value_type     what becomes of an element
/// view           of a message, with parse(bytes, place); each thread has one
/// read(view)     the value
/// describe(d)    adds a stage
///
/// Errors name the place of a record where Up knows it, by where(ticket).
template <element_stage Up, class Parser>
class parsed_records {
public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = typename Parser::value_type;
    using cursor = stage_parts::cursor_of<Up>;
    using ticket = stage_parts::ticket_of<Up>;
    struct state {
        typename Up::state up;
        typename Parser::view message;
    };

    parsed_records(Up up, Parser p) : up_(std::move(up)), parser_(std::move(p)) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const { up_.begin(s.up, pass); }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        return up_.next(s.up, c, k);
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c); }
    value_type get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return parsed(s, up_.get(s.up, k), k);
    }
    value_type get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return parsed(s, up_.get(s.up, i), i);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s.up, i);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        parser_.describe(d);
    }

private:
    Up up_;
    Parser parser_;

    template <class Ticket>
    value_type parsed(state& s, const typename Up::value_type& record, Ticket& k) const {
        tfrecord::place where;
        if constexpr (example_parts::knows_places<Up, Ticket>) where = up_.where(k);
        s.message.parse(as_bytes(record), where);
        return parser_.read(s.message);
    }
};

} // namespace sinter::data
