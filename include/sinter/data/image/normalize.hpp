// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>

namespace sinter::inline SINTER_ORDINARY::data::image {

/// Bytes as floats: (byte / 255 - mean) / deviation, each channel with its own. These are PyTorch's to_tensor and
/// normalize, rounded as they are, in Sinter's order: height, width, channels. A byte has 256 values, so it is a look
/// into a table; make one of these once, and use it for all pictures. Its calls may run at the same time.
class normalization {
public:
    /// Means and deviations of as many channels as a picture has, at most 4, in units of 255. option_error where a
    /// deviation is not above 0 or not finite, or a mean is not finite, and for other numbers of them.
    template <std::size_t Channels>
    normalization(const float (&mean)[Channels], const float (&deviation)[Channels])
        : channels_(Channels) {
        static_assert(Channels <= 4, "a picture has at most four channels");
        for (std::size_t c = 0; c < Channels; ++c) set(c, mean[c], deviation[c]);
    }

    /// Into `out`, height * width * channels floats. data_error where that, or the number of channels, differs.
    void operator()(const bitmap_view& in, span<float> out) const { convert(*this, in, out); }

    /// For map's fingerprint: the settings.
    void describe(description& d) const {
        for (std::size_t c = 0; c < channels_; ++c) d("mean", mean_[c])("deviation", deviation_[c]);
    }

private:
    void set(std::size_t channel, float mean, float deviation) {
        const bool usable = deviation > 0 && deviation <= 3.4e38f && mean >= -3.4e38f && mean <= 3.4e38f;
        if (!usable) refuse(channel);
        mean_[channel] = mean, deviation_[channel] = deviation;
        for (std::size_t byte = 0; byte < 256; ++byte)
            values_[channel][byte] = (static_cast<float>(byte) / 255.0f - mean) / deviation;
    }
    [[noreturn]] SINTER_APART SINTER_COLD static void refuse(std::size_t channel);
    SINTER_SELDOM static void convert(const normalization& how, const bitmap_view& in, span<float> out);

    std::size_t channels_;
    float mean_[4] = {}, deviation_[4] = {};
    float values_[4][256];   // of those channels that there are
};

#if SINTER_BODIES
[[noreturn]] SINTER_APART void normalization::refuse(std::size_t channel) {
    throw option_error("mean or deviation that cannot be used", to_text({"normalization, channel ", channel}), {},
                       "finite ones, the deviation above 0");
}

SINTER_SELDOM_BODY void normalization::convert(const normalization& how, const bitmap_view& in, span<float> out) {
    need_picture(in, "normalization");
    const std::size_t channels = how.channels_, n = in.height * in.width;
    if (in.channels != channels)
        throw data_error("number of channels differs", "normalization", to_text({in.channels}), to_text({channels}));
    if (out.size() != n * channels)
        throw data_error("room for another picture", "normalization", to_text({out.size(), " floats"}),
                         to_text({n * channels}));
    const std::uint8_t* from = in.bytes;
    float* to = out.data();
    if (channels == 3) {   // the usual number: its loop has no inner one
        const float *red = how.values_[0], *green = how.values_[1], *blue = how.values_[2];
        for (std::size_t i = 0; i < n; ++i, from += 3, to += 3)
            to[0] = red[from[0]], to[1] = green[from[1]], to[2] = blue[from[2]];
        return;
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < channels; ++c) *to++ = how.values_[c][*from++];
}
#endif

} // namespace sinter::data::image
