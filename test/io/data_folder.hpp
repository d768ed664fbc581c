// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

/// Where a data file lies, under the folder that the environment variable SINTER_DATA names (ctest sets it), or ""
/// where it does not. A test without its file says so and passes.
inline std::string data_file(const std::string& name) {
    const char* const folder = std::getenv("SINTER_DATA");
    if (!folder) return {};
    const std::string path = std::string(folder) + '/' + name;
    return std::filesystem::exists(path) ? path : std::string();
}
