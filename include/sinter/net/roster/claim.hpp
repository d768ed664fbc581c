// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/net/address.hpp>
#include <sinter/net/environment.hpp>
#include <optional>
#include <string>
#include <string_view>

/// Where a process learns who is in its job: one file for each family of environment variables.
namespace sinter::inline SINTER_ORDINARY::wire::roster {

/// What one family of variables says about this process.
struct claim {
    std::string family;     ///< "SLURM_*"
    std::string variables;  ///< "SLURM_PROCID=1, SLURM_NTASKS=4": what is set of it
    std::string missing;    ///< why it does not count, where size is 0
    int rank = -1;
    int size = 0;           ///< 0: it does not say who this process is
    host_port master;       ///< where rank 0 listens; not known: `needed` says what would give it
    std::string needed;
    std::string job;        ///< the launcher's name for the job
    int local_size = 1;     ///< how many processes the launcher started for each of an outer launcher's
};

/// Reads the variables of a family, and keeps what was set for errors and notes.
class variables {
public:
    explicit variables(const environment& env) : env_(env) {}

    SINTER_COLD std::optional<std::string> text(const char* name) {
        auto value = env_(name);
        if (value) text_ += (text_.empty() ? "" : ", ") + std::string(name) + "=" + printable(*value);
        return value;
    }
    /// Throws option_error where the variable is set to something else than an integer in [low,
    /// high].
    SINTER_COLD std::optional<int> integer(const char* name, int low, int high) {
        const auto value = text(name);
        if (!value) return {};
        const auto n = wire::integer(*value, low, high);
        if (!n)
            throw option_error("not a valid integer", name, quoted_text(*value),
                               std::to_string(low) + " to " + std::to_string(high));
        return static_cast<int>(*n);
    }
    const std::string& text() const { return text_; }

private:
    SINTER_COLD static std::string printable(const std::string& value) {
        const std::string in_quotes = quoted_text(value);
        return in_quotes.size() == value.size() + 2 ? value : in_quotes;
    }
    const environment& env_;
    std::string text_;
};

inline constexpr int most_ranks = 100000;

/// What a family says by two variables, one for the rank and one for the size; nullopt where
/// neither is set. Throws option_error where both are, and are malformed or contradict each other.
SINTER_COLD inline std::optional<claim> rank_and_size(const char* family, const environment& env, const char* rank,
                                          const char* size) {
    const bool has_rank = env(rank).has_value(), has_size = env(size).has_value();
    if (!has_rank && !has_size) return {};
    claim c;
    c.family = family;
    variables v(env);
    if (!has_rank || !has_size) {
        v.text(has_rank ? rank : size);
        c.variables = v.text();
        c.missing = std::string(has_rank ? size : rank) + " is not set";
        return c;
    }
    c.rank = v.integer(rank, 0, most_ranks - 1).value();
    c.size = v.integer(size, 1, most_ranks).value();
    c.variables = v.text();
    if (c.rank >= c.size)
        throw option_error("a rank beyond the number of ranks", family, c.variables,
                           std::string(rank) + " below " + size);
    return c;
}

SINTER_COLD inline host_port host_and_port(const std::string& host, const char* host_name, int port) {
    std::string_view h = host;
    if (h.size() > 2 && h.front() == '[' && h.back() == ']') h = h.substr(1, h.size() - 2);
    if (!is_host_name(h) && !is_ipv6(h))
        throw option_error("not a valid host", host_name, quoted_text(host), "a host's name or address");
    return {std::string(h), static_cast<std::uint16_t>(port)};
}

/// SINTER_MASTER=host:port, or MASTER_ADDR with MASTER_PORT: where rank 0 listens, for launchers
/// that do not say it.
SINTER_COLD inline host_port given_master(const environment& env) {
    if (const auto given = env("SINTER_MASTER")) return parse_address(*given, "SINTER_MASTER");
    variables v(env);
    const auto host = v.text("MASTER_ADDR");
    const auto port = v.integer("MASTER_PORT", 1, 65535);
    return host && port ? host_and_port(*host, "MASTER_ADDR", *port) : host_port{};
}

/// A port that all processes of a job derive from its name: below those that Linux gives to
/// outgoing connections.
SINTER_COLD inline std::uint16_t port_of(std::string_view job) {
    return static_cast<std::uint16_t>(16384 + base::fnv1a(job) % 16384);
}

} // namespace sinter::inline SINTER_ORDINARY::wire::roster
