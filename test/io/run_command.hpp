// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <utility>

/// What a shell command printed, and its exit status; -1 where it did not exit.
struct command_result {
    std::string output;
    int status;
};

inline command_result run_command(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    std::string output;
    char part[4096];
    for (std::size_t n; pipe != nullptr && (n = std::fread(part, 1, sizeof part, pipe)) > 0;) output.append(part, n);
    const int status = pipe != nullptr ? pclose(pipe) : -1;
    return {std::move(output), WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}
