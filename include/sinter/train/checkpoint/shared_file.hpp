// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/safetensors.hpp>
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
                throw io_error("file became shorter while it was read", path, {}, joined({bytes.size(), " bytes"}));
        });
        bytes_of_chief(s, bytes);
    });
    return bytes;
}
/// f(contents) of such a file; of a member that goes its own way nothing, but for the chief, whose
/// weights the others then have.
template <class Session, class F>
SINTER_COLD void with_file_of_chief(Session& s, const std::string& path, F f) {
    if (is_alone(s)) return s.member().chief() ? void(f(safetensors::read(path))) : void();
    if constexpr (requires { s.waits(); })   // to join a job: what it loads will be replaced
        if (s.waits()) return f(safetensors::read(path));
    if constexpr (!always_alone<Session>) {
        const std::vector<std::byte> bytes = file_of_chief(s, path);
        f(safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), path));
    }
}

} // namespace sinter::detail
