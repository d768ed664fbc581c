// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/stages/stage.hpp>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#endif

/// Windows of a long sequence of tokens, for nets that tell the next one.
namespace sinter::inline SINTER_ORDINARY::data {

/// N tokens, and for each the one that comes after it.
template <int N>
struct text_window {
    std::array<std::int32_t, static_cast<std::size_t>(N)> tokens{};
    std::array<std::int32_t, static_cast<std::size_t>(N)> next{};
    bool operator==(const text_window&) const = default;
};

struct text_window_options {
    std::int64_t step = 0;    ///< from one window's beginning to the next one's; 0: as many as a window has tokens
    std::int64_t lanes = 1;   ///< the sequence is cut into so many equal parts, and window i is part i mod lanes' next
};

namespace stage_parts {

/// Where windows begin in a sequence.
class window_places {
public:
    /// Of windows of `window` tokens and `behind` more; errors are of text_windows.
    SINTER_SELDOM SINTER_COLD static window_places of(std::int64_t tokens, std::int64_t window, std::int64_t behind,
                                                      text_window_options o);
    std::int64_t size() const { return of_lane_ * lanes_; }
    std::int64_t begin_of(std::int64_t i) const { return i % lanes_ * lane_ + i / lanes_ * step_; }
    SINTER_SELDOM SINTER_COLD void describe(description& d, span<const std::int32_t> tokens) const;

private:
    std::int64_t window_ = 1, step_ = 1, lanes_ = 1;
    std::int64_t lane_ = 0, of_lane_ = 0;   ///< places in a lane where a token has `behind` more; its windows
};

} // namespace stage_parts

/// T: text_window<N>, or std::vector<std::int32_t>.
template <class T>
class text_windows_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    struct state {};

    text_windows_stage(std::shared_ptr<const std::vector<std::int32_t>> tokens, stage_parts::window_places places,
                       std::int64_t window)
        : tokens_(std::move(tokens)), places_(places), window_(window) {}
    std::int64_t size() const { return places_.size(); }
    void begin(state&, std::int64_t) const {}
    T get(state&, std::int64_t i) const {
        const std::int32_t* const from = tokens_->data() + places_.begin_of(i);
        if constexpr (std::same_as<T, std::vector<std::int32_t>>) {
            return {from, from + window_};
        } else {
            T w;
            std::memcpy(w.tokens.data(), from, sizeof w.tokens);
            std::memcpy(w.next.data(), from + 1, sizeof w.next);
            return w;
        }
    }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const { places_.describe(d, *tokens_); }

private:
    std::shared_ptr<const std::vector<std::int32_t>> tokens_;
    stage_parts::window_places places_;
    std::int64_t window_;
};

/// Windows of a sequence of tokens, as text_window<N>: inputs, and as labels the same moved on by one. An indexed
/// stage.
///
///     auto train = data::text_windows<128>(vocabulary.encode(text)) | data::shuffle() | data::batch(32);
///
/// Window i begins at token i * step; those that would end behind the last token are left out. With step 1 and
/// shuffle() a window begins anywhere. With lanes, in batches of as many rows, row r of a batch goes on where row r of
/// the one before ended (where step is N): for nets that carry a state along; such a pipeline is not shuffled. The
/// pipeline keeps the tokens; a vector that is given away is not copied. option_error for step < 0 and lanes < 1;
/// data_error where the sequence, or a lane of it, has not N + 1 tokens.
template <int N>
text_windows_stage<text_window<N>> text_windows(std::vector<std::int32_t> tokens, text_window_options o = {}) {
    static_assert(N > 0, "text_windows<N>: a window has one token or more");
    const auto n = static_cast<std::int64_t>(tokens.size());
    const auto places = stage_parts::window_places::of(n, N, 1, o);
    return {std::make_shared<const std::vector<std::int32_t>>(std::move(tokens)), places, N};
}
/// Windows whose length is known at run time: `window` tokens as a std::vector, without those after them.
inline text_windows_stage<std::vector<std::int32_t>> text_windows(std::vector<std::int32_t> tokens, std::int64_t window,
                                                                  std::int64_t step = 0) {
    const auto n = static_cast<std::int64_t>(tokens.size());
    const auto places = stage_parts::window_places::of(n, window, 0, {.step = step});
    return {std::make_shared<const std::vector<std::int32_t>>(std::move(tokens)), places, window};
}

#if SINTER_BODIES
namespace stage_parts {

SINTER_SELDOM_BODY window_places window_places::of(std::int64_t tokens, std::int64_t window, std::int64_t behind,
                                                        text_window_options o) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    const auto need = [](const char* what, std::int64_t got, std::int64_t least) {
        if (got < least || got > most)
            throw option_error(what, "text_windows", to_text({got}), to_text({least, " or more, 2^40 at most"}));
    };
    need("impossible length of a window", window, 1);
    need("impossible step", o.step, 0);
    need("impossible number of lanes", o.lanes, 1);
    window_places p;
    p.window_ = window;
    p.step_ = o.step ? o.step : window;
    p.lanes_ = o.lanes;
    p.lane_ = (tokens - behind) / o.lanes;
    if (tokens < behind || p.lane_ < window)
        throw data_error("the sequence is too short", "text_windows", to_text({tokens, " tokens"}),
                         to_text({window, behind ? " and one more" : "", o.lanes > 1 ? " for each lane" : ""}));
    p.of_lane_ = (p.lane_ - window) / p.step_ + 1;
    return p;
}

SINTER_SELDOM_BODY void window_places::describe(description& d, span<const std::int32_t> tokens) const {
    base::fnv1a_hash h;
    for (const std::byte b : as_bytes(tokens.first(tokens.size() < 256 ? tokens.size() : 256)))
        h.add(std::to_integer<unsigned char>(b));
    d.stage("windows of tokens")("window", window_)("step", step_)("lanes", lanes_)("tokens", tokens.size());
    d("the first tokens (their hash)", h.value());
}

} // namespace stage_parts
#endif

} // namespace sinter::data
