// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/net/cluster_options.hpp>
#include <atomic>
#include <string>
#include <sys/stat.h>

/// What a job's key must be to keep other processes out.
namespace sinter::inline SINTER_ORDINARY::wire {

inline constexpr std::size_t shortest_key = 6;    ///< bytes; a shorter one can be found by trying all
inline constexpr std::size_t usual_key = 16;      ///< below it a message warns

/// Throws option_error for a key that is too short, and warns of one that is short, once in a program. `where`: which
/// option or variable has it.
SINTER_COLD inline void check_key_length(const std::string& key, const std::string& where) {
    const std::string got = to_text({key.size(), key.size() == 1 ? " byte" : " bytes"});
    constexpr const char* make = "32 random ones are made by: head -c 32 /dev/urandom > job.key";
    if (key.empty() || key.size() >= usual_key) return;
    if (key.size() < shortest_key)
        throw option_error("a key that is short enough to be guessed", where, got,
                           to_text({shortest_key, " bytes at least; ", make}));
    static std::atomic<bool> reported{false};
    if (!reported.exchange(true))
        base::say(message_level::warning, to_text({where, ": a key of ", got, " can be guessed; ", make}));
}

/// Warns of a file with a key that any user of this machine may read. (One without a name, as
/// sinter-launch hands it on, nobody else can open.)
SINTER_COLD inline void check_key_file(const std::string& path) {
    struct stat s {};
    if (::stat(path.c_str(), &s) != 0 || s.st_nlink == 0 || (s.st_mode & (S_IROTH | S_IWOTH)) == 0) return;
    base::say(message_level::warning,
              to_text({"SINTER_KEY_FILE: all users of this machine may ", s.st_mode & S_IROTH ? "read" : "write",
                      " the job's key; chmod 600 keeps it to its owner"}), path);
}

} // namespace sinter::wire
