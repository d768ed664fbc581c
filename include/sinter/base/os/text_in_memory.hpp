// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sinter::base::inline os {

/// What is printed there is text in memory.
class text_in_memory {
public:
    SINTER_COLD text_in_memory() : out_(::open_memstream(&text_, &length_)) {}
    text_in_memory(const text_in_memory&) = delete;
    text_in_memory& operator=(const text_in_memory&) = delete;
    SINTER_COLD ~text_in_memory() {
        if (out_) std::fclose(out_);
        std::free(text_);
    }
    std::FILE* out() { return out_; }   ///< null where there is no memory for it
    /// All that was printed; nothing where there is no out(). Valid until more is printed.
    SINTER_COLD std::string_view text() {
        if (!out_ || std::fflush(out_) != 0) return {};
        return {text_, length_};
    }

private:
    char* text_ = nullptr;
    std::size_t length_ = 0;
    std::FILE* out_;
};

} // namespace sinter::base::os
