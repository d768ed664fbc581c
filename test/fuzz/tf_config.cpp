// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes for TF_CONFIG, lists of hosts, cluster texts and what members report to sinter-launch
// libFuzzer target: any text of TF_CONFIG is read or refused with option_error, whose text is fit for a terminal;
// what is read is JSON by another reader's judgement too, and a cluster made of it keeps its rules.
#include "message.hpp"
#include <sinter/net/roster/tf_config.hpp>

#include <cstdlib>
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define SINTER_OTHER_READER
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto config = sinter::wire::roster::parse_tf_config(text);
#ifdef SINTER_OTHER_READER
        try {
            if (text.find_first_not_of(" \t\r\n") != text.npos) (void)nlohmann::json::parse(text);
        } catch (const nlohmann::json::parse_error&) {
            std::abort();
        } catch (const nlohmann::json::out_of_range&) {   // a number beyond a double is JSON all the same
        }
#endif
        if (config.index.value_or(0) < 0) std::abort();
        config.master();
        config.global_id();
        sinter::cluster_options merge;
        merge.chief_is_worker0 = size % 2 == 1;
        if (const auto c = to_cluster(config, merge)) {
            if (c->size() < 1 || c->rank() >= c->size() || (c->is_chief() && c->rank() != 0)) std::abort();
            for (const auto& member : c->trainers())
                if (!member.address().known()) std::abort();
        }
    } catch (const sinter::option_error& e) {
        must_be_fit(e);
    }
    return 0;
}
