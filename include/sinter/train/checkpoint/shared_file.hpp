// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <optional>
#include <sinter/io/safetensors.hpp>
#include <sinter/io/safetensors/checksum.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <sinter/train/members.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// The chief's file, read once: every member has its bytes, whether or not it sees that disk.
/// Throws on every member what reading it throws.
template <class Session>
SINTER_COLD std::vector<std::byte> file_of_chief(Session& s, const std::string& path) {
    std::vector<std::byte> bytes;
    by_the_same_members(s, [&] {
        by_the_chief(s, "read", path, [&] {
            io::input_file in(path);
            bytes.resize(static_cast<std::size_t>(in.size()));
            if (in.read_up_to(span<std::byte>(bytes.data(), bytes.size())) != bytes.size())
                throw io_error("file became shorter while it was read", path, {}, to_text({bytes.size(), " bytes"}));
            need_table_files(safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), path));
        });
        bytes_of_chief(s, bytes);
    });
    return bytes;
}
/// f(contents) of such a file; of a member that goes its own way nothing, but for the chief, whose
/// weights the others then have.
template <class Session, class F>
SINTER_COLD void with_file_of_chief(Session& s, const std::string& path, F f) {
    if (is_alone(s)) {
        if (!s.member().chief()) return;
        const safetensors::file file = safetensors::read(path);
        need_table_files(file);
        return f(file);
    }
    if constexpr (Session::members_change)
        if (const joining_calls* const job = s.joining()) {
            if (job->waits()) return f(safetensors::read(path));   // what it loads will be replaced
            if (job->is_quiet()) return;   // the others have loaded this, and more since
        }
    if constexpr (!always_alone<Session>) {
        const std::vector<std::byte> bytes = file_of_chief(s, path);
        f(safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), path));
    }
}

/// The same of a file that need not fit in memory: open() says which, or that there is none, for
/// which f is not called. The other members have its bytes, but of the tensors that is_large()
/// names no rows: those are the chief's affair, who looks at them by check(contents) before anybody
/// goes on.
template <class Session, class Open, class Large, class Check, class F>
SINTER_COLD void with_large_file_of_chief(Session& s, const std::string& path, Open open, Large is_large, Check check,
                                          F f) {
    std::optional<safetensors::file> whole;
    if (is_alone(s)) {
        if (s.member().chief()) whole = open();
        return whole ? void(f(*whole)) : void();
    }
    std::vector<std::byte> rest;
    by_the_same_members(s, [&] {
        whole.reset();
        rest.clear();
        by_the_chief(s, "read", path, [&] {
            whole = open();
            if (!whole) return;
            check(*whole);
            std::vector<safetensors::entry> entries;
            for (const auto& [name, t] : whole->tensors) {
                entries.push_back({name, t.type, t.shape, t.data.data()});
                if (!is_large(name)) continue;
                if (t.shape.empty())
                    throw mismatch_error("not the rows of a table", path + ", " + name, "one number", "rows");
                entries.back().shape[0] = 0;
            }
            safetensors::metadata_map metadata = whole->metadata;
            if (const auto sum = metadata.find("checksum"); sum != metadata.end())
                sum->second = safetensors::checksum(entries);
            rest = safetensors::to_bytes(std::move(entries), metadata);
        });
        bytes_of_chief(s, rest);
    });
    if (whole) f(*whole);
    else if (!rest.empty()) f(safetensors::parse(span<const std::byte>(rest.data(), rest.size()), path));
}

} // namespace sinter::detail
