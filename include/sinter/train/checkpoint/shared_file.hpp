// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/safetensors/read.hpp>
#include <sinter/strategy/session.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY::training_parts {

using with_contents = base::function_ref<void(const safetensors::contents&)>;

/// f(contents) of the chief's file, read once: every member has its bytes, whether or not it sees that disk.
/// Throws on every member what reading it throws. Of a member that goes its own way nothing, but for the
/// chief, whose weights the others then have.
SINTER_SELDOM SINTER_COLD void with_file_of_chief(session_base& s, const std::string& path, with_contents f);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/train/checkpoint/table_files.hpp>
#include <sinter/train/members.hpp>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM SINTER_COLD std::vector<std::byte> file_of_chief(session_base& s, const std::string& path) {
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
SINTER_SELDOM_BODY void with_file_of_chief(session_base& s, const std::string& path, with_contents f) {
    if (is_alone(s)) {
        if (!s.member().chief()) return;
        const safetensors::file file = safetensors::read(path);
        need_table_files(file);
        return f(file);
    }
    if (const joining_calls* const job = s.joining()) {
        if (job->waits()) return f(safetensors::read(path));   // what it loads will be replaced
        if (job->is_passive()) return;   // the others have loaded this, and more since
    }
    const std::vector<std::byte> bytes = file_of_chief(s, path);
    f(safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), path));
}

} // namespace sinter::training_parts
#endif
