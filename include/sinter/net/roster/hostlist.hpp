// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/net/address.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::wire::roster {

namespace detail {

SINTER_COLD inline option_error hostlist_fault(std::string_view got, const char* where, std::string needed) {
    return option_error("not a valid list of hosts", where, quoted_text(got), std::move(needed));
}

/// Appends what stands in one pair of brackets: "01-03,7" is 01 02 03 7.
SINTER_COLD inline void expand_brackets(std::string_view inside, const char* where, std::vector<std::string>& out,
                            std::size_t most) {
    while (true) {
        const std::string_view range = inside.substr(0, inside.find(','));
        const std::size_t dash = range.find('-');
        const std::string_view first = range.substr(0, dash);
        const auto low = integer(first, 0, 999999999);
        const auto high = dash == range.npos ? low : integer(range.substr(dash + 1), 0, 999999999);
        if (!low || !high || *high < *low || first[0] == '-')
            throw hostlist_fault(range, where, "numbers and ranges in brackets, as in node[01-03,7]");
        for (auto n = *low; n <= *high; ++n) {
            if (out.size() == most) throw hostlist_fault(range, where, "at most " + std::to_string(most) + " hosts");
            std::string digits = std::to_string(n);
            if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
            out.push_back(std::move(digits));
        }
        if (range.size() == inside.size()) return;
        inside.remove_prefix(range.size() + 1);
    }
}

} // namespace detail

/// Slurm's list of hosts: "node[01-03,7],login" is node01 node02 node03 node7 login. Zeros in front
/// of a range's first number give all its numbers that width. Throws option_error, naming `where`,
/// for malformed lists and those of more than `most` hosts. Source: Slurm's manual of scontrol,
/// "hostlist expressions".
SINTER_COLD inline std::vector<std::string> expand_hostlist(std::string_view list, const char* where,
                                                             std::size_t most = 100000) {
    using detail::hostlist_fault;
    std::vector<std::string> hosts;
    std::vector<std::string> names{""};   // what the expression has given so far
    std::size_t length = 0;               // of what stands before the comma
    const auto too_many = [&] { return hostlist_fault(list, where, "at most " + std::to_string(most) + " hosts"); };
    const auto finish = [&](std::size_t at) {
        if (length == 0) throw hostlist_fault(list.substr(at), where, "a name between two commas");
        if (hosts.size() + names.size() > most) throw too_many();
        for (std::string& name : names) {
            if (!is_host_name(name)) throw hostlist_fault(name, where, "hosts' names");
            hosts.push_back(std::move(name));
        }
        names.assign(1, "");
        length = 0;
    };
    for (std::size_t at = 0; at < list.size(); ++at) {
        const char c = list[at];
        if (c == ',') {
            finish(at);
        } else if (c == '[') {
            const std::size_t close = list.find(']', at);
            if (close == list.npos) throw hostlist_fault(list.substr(at), where, "a closing bracket");
            std::vector<std::string> numbers, product;
            detail::expand_brackets(list.substr(at + 1, close - at - 1), where, numbers, most);
            if (names.size() * numbers.size() > most) throw too_many();
            for (const std::string& name : names)
                for (const std::string& number : numbers) product.push_back(name + number);
            names = std::move(product);
            length += close - at;
            at = close;
        } else {
            if (++length > 255) throw hostlist_fault(list, where, "names of at most 255 characters");
            for (std::string& name : names) name += c;
        }
    }
    finish(list.size());
    return hosts;
}

} // namespace sinter::inline SINTER_ORDINARY::wire::roster
