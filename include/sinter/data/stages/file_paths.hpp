// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/description.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <initializer_list>
#include <string>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/hash.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// One file or several, in the order in which they are read: "a.csv", {"a.csv", "b.csv"}, or a vector.
class file_paths {
public:
    file_paths(const char* path) : all_{path} {}
    file_paths(std::string path) { all_.push_back(std::move(path)); }
    file_paths(std::vector<std::string> paths) : all_(std::move(paths)) {}
    file_paths(std::initializer_list<std::string> paths) : all_(paths) {}

    std::size_t size() const { return all_.size(); }
    const std::string& operator[](std::size_t i) const { return all_[i]; }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

private:
    std::vector<std::string> all_;
};

namespace stage_parts {

/// option_error where there is no file; `function` is what was called.
SINTER_SELDOM SINTER_COLD void need_files(const file_paths& paths, std::string_view function);
/// Files as members that read the same must have them: how many, and their names without folders, which may differ
/// where data were copied to each machine.
SINTER_SELDOM SINTER_COLD void describe_names(description& d, const file_paths& paths);
/// The same, and their bytes.
SINTER_SELDOM SINTER_COLD void describe_files(description& d, const file_paths& paths, std::uint64_t bytes);

} // namespace stage_parts

#if SINTER_BODIES
namespace stage_parts {

SINTER_SELDOM_BODY void need_files(const file_paths& paths, std::string_view function) {
    if (paths.size() == 0) throw option_error("no files to read", function, "an empty list", "one path or more");
}

SINTER_SELDOM_BODY void describe_names(description& d, const file_paths& paths) {
    base::fnv1a_hash names;
    const auto name_of = [](const std::string& path) {
        const std::size_t slash = path.rfind('/');
        return std::string_view(path).substr(slash == path.npos ? 0 : slash + 1);
    };
    for (const std::string& p : paths) {
        for (const char c : name_of(p)) names.add(static_cast<unsigned char>(c));
        names.add(static_cast<unsigned char>('/'));
    }
    d("files", paths.size())("the first file", name_of(paths[0]));
    d("the files' names (their hash)", names.value());
}

SINTER_SELDOM_BODY void describe_files(description& d, const file_paths& paths, std::uint64_t bytes) {
    describe_names(d, paths);
    d("bytes of all files", bytes);
}

} // namespace stage_parts
#endif

} // namespace sinter::data
