// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>
#include <filesystem>

/// The root of the source tree, which has the scripts and examples that tests start. ctest names it in SINTER_SOURCE;
/// a test that is run by hand knows it by its own file's name, which is relative where a compiler cache made it so.
inline std::filesystem::path source_folder() {
    if (const char* const given = std::getenv("SINTER_SOURCE")) return given;
    return std::filesystem::absolute(__FILE__).parent_path().parent_path().parent_path();
}
