// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

/// Where a data file lies, or "" where it does not: under the environment variable SINTER_DATA, else under the folder
/// that the build was given. A test without its file says so and passes.
inline std::string data_file(const std::string& name) {
    std::string folder;
#ifdef SINTER_DATA_DIR
    folder = SINTER_DATA_DIR;
#endif
    if (const char* const given = std::getenv("SINTER_DATA")) folder = given;
    const std::string path = folder + '/' + name;
    return !folder.empty() && std::filesystem::exists(path) ? path : std::string();
}
