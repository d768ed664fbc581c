// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/stage.hpp>
#include <string>
#include <string_view>
#if SINTER_BODIES
#include <sinter/base/to_text.hpp>
#endif

/// The text of describe() (data/stages/describe.hpp).
namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// What is said behind the stages.
struct pipeline_facts {
    std::int64_t size;
    bool is_indexed;
    std::size_t place_bytes;   ///< of a stream's place
};
/// A line for each stage of a description, its settings behind it, and lines for the facts.
SINTER_SELDOM SINTER_COLD std::string text_of_stages(const description& d, const pipeline_facts& f);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string text_of_stages(const description& d, const pipeline_facts& f) {
    std::string out;
    std::string_view text = d.text();
    bool any = false;   // setting of this stage
    while (!text.empty()) {
        const std::size_t end = text.find('\n'), tab = text.find('\t');
        const std::string_view name = text.substr(0, tab), value = text.substr(tab + 1, end - tab - 1);
        text.remove_prefix(end + 1);
        const std::size_t setting = name.rfind(": ");
        if (setting == name.npos && name.starts_with("stage ")) {   // "stage 2": its kind
            out += to_text({out.empty() ? "" : "\n", name.substr(6), " ", value});
            any = false;
        } else {   // "stage 2 (shuffle): seed"
            out += to_text({any ? ", " : ": ", setting == name.npos ? name : name.substr(setting + 2), " ", value});
            any = true;
        }
    }
    out += f.size >= 0 ? to_text({"\n", f.size, " elements in a pass"})
                       : std::string(f.size == endless ? "\na pass that never ends" : "\na pass of unknown length");
    out += f.is_indexed ? std::string(", found by number\n")
                        : to_text({", one element after the other; a place in it takes ", f.place_bytes, " bytes\n"});
    return out;
}
#endif

} // namespace sinter::data::stage_parts
