// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::safetensors {
struct contents;   // io/safetensors/contents.hpp
}

namespace sinter::inline SINTER_ORDINARY {

class run_record;   // io/run_record.hpp

/// How a run is written and read: what the loop and hooks see of train/checkpoint/run_checkpoint.hpp. All members make
/// each of these calls.
class run_archive {
public:
    virtual ~run_archive() = default;
    /// The chief writes the file. Throws what save() of a model throws, and io_error where `owner` is no longer this
    /// run (null: nobody is asked).
    virtual void save(const std::string& file, run_record* owner) = 0;
    /// Goes on where the run of this file was; the chief reads it. Throws what load() of a model throws, format_error
    /// where bytes have changed, and mismatch_error as well where the file is not of a run, or of one with other hooks.
    /// Then nothing has changed.
    virtual void load(const std::string& file) = 0;
    /// The same of a file that each member has.
    virtual void load(const safetensors::contents& file) = 0;
    /// All that a process needs which joins the job, but what its session has been given of the model already
    /// (parameters, slots, states). `terms`: what both ends must share, a description's text.
    virtual std::vector<std::byte> hand_over(const std::string& terms) = 0;
    /// The other end of it: mismatch_error where the terms differ.
    virtual void take_over(const std::vector<std::byte>& bytes, const std::string& terms) = 0;
};

struct loop_run;   // train/loop_run.hpp

namespace training_parts {
/// That of a run.
SINTER_SELDOM SINTER_COLD std::unique_ptr<run_archive> archive_of(loop_run& run);
} // namespace training_parts

} // namespace sinter
