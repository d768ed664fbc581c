// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/json_text.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <sys/mman.h>
#include <sys/random.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace launch {

/// Random bytes as hexadecimal digits.
inline std::string random_hex(std::size_t bytes) {
    std::string raw(bytes, '\0'), out;
    if (::getrandom(raw.data(), bytes, 0) != static_cast<ssize_t>(bytes))
        sinter::io::throw_io_error(errno, "no random bytes", "getrandom");
    for (const char c : raw) {
        out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
        out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

/// The job's key in memory that members inherit: it is in no file, no argument and no variable.
inline sinter::io::descriptor key_in_memory() {
    sinter::io::descriptor file(::memfd_create("sinter-job-key", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const std::string key = random_hex(32);
    if (!file || ::write(file.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()) ||
        ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        sinter::io::throw_io_error(errno, "cannot keep the job's key", "memfd_create");
    return file;
}

/// The environment that members inherit: ours without what another launcher said of another job.
class variables {
public:
    variables() {
        constexpr std::string_view others[] = {
            "TF_CONFIG=", "RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "LOCAL_WORLD_SIZE=", "GROUP_RANK=", "MASTER_ADDR=",
            "MASTER_PORT=", "PET_", "TORCHELASTIC_", "OMPI_COMM_WORLD_", "PMIX_", "PMI_", "SLURM_PROCID=",
            "SLURM_NTASKS=", "SLURM_STEP_", "SLURM_STEPID=", "SLURM_JOB_ID=", "JOB_COMPLETION_INDEX=", "SINTER_JOB=",
            "SINTER_KEY", "SINTER_MASTER=", "SINTER_SIZE=", "SINTER_PROGRESS_FD=", "SINTER_RESTART=", "SINTER_SPARES=",
            "SINTER_PLAN=", "SINTER_PLAN_FD="};
        for (char** v = environ; *v; ++v) {
            const std::string_view variable = *v;
            bool keep = true;
            for (const auto other : others) keep = keep && !variable.starts_with(other);
            if (keep) all_.emplace_back(variable);
        }
    }
    void set(const std::string& name, const std::string& value) {
        std::erase_if(all_, [&](const std::string& v) { return v.starts_with(name + "="); });
        all_.push_back(name + "=" + value);
    }
    /// For execve; valid while this object lives.
    std::vector<char*> pointers() {
        std::vector<char*> out;
        for (std::string& v : all_) out.push_back(v.data());
        out.push_back(nullptr);
        return out;
    }

private:
    std::vector<std::string> all_;
};

} // namespace launch
