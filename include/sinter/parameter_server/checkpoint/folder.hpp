// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/folder_names.hpp>
#include <sinter/io/make_folders.hpp>
#include <algorithm>
#include <charconv>
#include <sys/stat.h>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers::detail {

inline bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }
/// Throws io_error where it is not there afterwards.
inline void make_folder(const std::string& path) { io::make_folders(path); }
/// N of each step-N in a folder, the newest first.
SINTER_COLD inline std::vector<std::int64_t> steps_in(const std::string& folder) {
    std::vector<std::int64_t> all;
    io::for_each_name(folder, [&](std::string_view name) {
        constexpr std::string_view prefix = "step-";
        if (!name.starts_with(prefix)) return;
        name.remove_prefix(prefix.size());
        std::int64_t step = 0;
        const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), step);
        if (fault == std::errc{} && end == name.data() + name.size() && step >= 0) all.push_back(step);
    });
    std::sort(all.rbegin(), all.rend());
    return all;
}
SINTER_COLD inline std::vector<std::int64_t> steps_with_manifest(const std::string& folder) {
    std::vector<std::int64_t> all = steps_in(folder);
    std::erase_if(all, [&](std::int64_t s) { return !exists(to_text({folder, "/step-", s, "/manifest.json"})); });
    return all;
}
/// A folder of files, its manifest first: what is half removed is no checkpoint.
SINTER_COLD inline void remove_folder(const std::string& path) {
    ::unlink((path + "/manifest.json").c_str());
    std::vector<std::string> names;
    io::try_each_name(path, [&](std::string_view name) { names.emplace_back(name); });   // what stays does no harm
    for (const std::string& name : names) ::unlink(to_text({path, "/", name}).c_str());
    ::rmdir(path.c_str());
}

} // namespace sinter::parameter_servers::detail
