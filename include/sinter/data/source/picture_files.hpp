// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <string>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/os/folder.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/file.hpp>
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// The pictures below a folder that has a folder for each class:
///
///     flowers/daisy/1.jpg  flowers/daisy/2.png  flowers/rose/1.jpg
///
/// Classes are numbered in the order of their folders' names, and files come class by class, in the order of their
/// names; both by bytes, whatever the locale. Pictures are files whose names end with .jpg, .jpeg or .png, in any case.
/// Names that begin with a dot, and other files, are left alone. So torchvision.datasets.ImageFolder numbers them, but
/// that it looks into folders within the classes' folders, too.
class picture_files {
public:
    struct file {
        std::string path;
        std::int32_t label;
    };
    /// io_error where a folder cannot be read; data_error where there are no classes, or one has no picture.
    SINTER_APART SINTER_COLD explicit picture_files(std::string folder);

    const std::string& folder() const { return folder_; }
    const std::vector<file>& files() const { return files_; }
    const std::vector<std::string>& classes() const { return classes_; }

private:
    std::string folder_;
    std::vector<file> files_;
    std::vector<std::string> classes_;
};

#if SINTER_BODIES
namespace detail {

/// The names in a folder in their order, without those that begin with a dot.
SINTER_COLD inline std::vector<std::string> names_in(const std::string& folder) {
    base::os::folder_names all(folder);
    std::vector<std::string> names;
    while (const char* const name = all.next())
        if (name[0] != '.') names.emplace_back(name);
    if (all.fault()) io::throw_io_error(all.fault(), "cannot read the folder", folder);
    std::sort(names.begin(), names.end());
    return names;
}

SINTER_COLD inline bool is_folder(const std::string& path) {
    const base::os::folder_names all(path);
    return all.fault() == 0;
}

SINTER_COLD inline bool is_picture(std::string name) {
    for (char& c : name)
        if ('A' <= c && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    for (const char* const end : {".jpg", ".jpeg", ".png"})
        if (name.ends_with(end)) return true;
    return false;
}

} // namespace detail

SINTER_COLD SINTER_APART picture_files::picture_files(std::string folder) : folder_(std::move(folder)) {
    for (const std::string& name : detail::names_in(folder_)) {
        const std::string own = folder_ + '/' + name;
        if (!detail::is_folder(own)) continue;
        const std::size_t before = files_.size();
        for (const std::string& picture : detail::names_in(own))
            if (detail::is_picture(picture))
                files_.push_back({own + '/' + picture, static_cast<std::int32_t>(classes_.size())});
        if (files_.size() == before)
            throw data_error("a class has no pictures", own, {}, "files named *.jpg, *.jpeg or *.png");
        classes_.push_back(name);
    }
    if (classes_.empty())
        throw data_error("no classes of pictures", folder_, "no folder in it", "a folder for each class");
}
#endif

} // namespace sinter::data
