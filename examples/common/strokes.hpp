// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/source/drawn_digits.hpp>
#include <cmath>

namespace example {

/// Rows of handwritten digits as a pen tablet would record them. A frame is how far the pen went to
/// the right and down, and whether it was on the paper; frames behind the end are zeros. Where one
/// digit ends and the next begins is not said.
struct handwriting {
    static constexpr int frames = 88, numbers = 3, most_digits = 5;
    sinter::data::dataset set;   ///< [frames, numbers], labels [most_digits] padded with -1
};

/// Walks along strokes and notes where the pen is after each `step`.
class pen_recorder {
public:
    pen_recorder(float* frames, float step) : out_(frames), step_(step) {}
    bool is_full() const { return used_ >= handwriting::frames; }
    void move(sinter::data::pen_point to, bool down) {
        const float dx = to.x - at_.x, dy = to.y - at_.y, length = std::sqrt(dx * dx + dy * dy);
        const int n = down ? static_cast<int>(left_over_ + length / step_) : 1;
        for (int i = 1; i <= n && !is_full(); ++i) {
            const float share = down ? (static_cast<float>(i) - left_over_) * step_ / length : 1;
            note({at_.x + share * dx, at_.y + share * dy}, down);
        }
        left_over_ = down ? left_over_ + length / step_ - static_cast<float>(n) : 0;
        at_ = to;
    }

private:
    float* out_;
    float step_, left_over_ = 0;   // steps walked since the last frame
    int used_ = 0;
    sinter::data::pen_point at_{0, 0.5f}, noted_{0, 0.5f};

    void note(sinter::data::pen_point p, bool down) {
        float* const f = out_ + used_++ * handwriting::numbers;
        f[0] = p.x - noted_.x;
        f[1] = p.y - noted_.y;
        f[2] = down ? 1.f : 0.f;
        noted_ = p;
    }
};

/// Writes one digit whose left edge is at `left`: its strokes slanted, stretched, and through
/// jittered points.
inline void write_digit(int digit, float left, sinter::random_stream& random, pen_recorder& pen) {
    const float width = random.uniform(0.5f, 0.8f), height = random.uniform(0.8f, 1.1f),
                slant = random.uniform(-0.25f, 0.35f);
    const float down = random.uniform(-0.1f, 0.1f);
    const sinter::data::digit_shape& shape = sinter::data::digit_shapes[digit];
    for (int s = 0; s < shape.strokes; ++s) {
        const sinter::data::pen_stroke& stroke = shape.stroke[s];
        if (stroke.form == sinter::data::pen_stroke::at_times && random.below(2)) continue;
        for (int i = 0; i < stroke.count; ++i) {
            const float x = stroke.points[i].x + random.uniform(-0.05f, 0.05f);
            const float y = stroke.points[i].y + random.uniform(-0.05f, 0.05f);
            pen.move({left + width * x + slant * (0.5f - y), down + height * y}, i > 0);
        }
    }
}

/// `n` rows of 3 to 5 digits. Example i depends on (seed, i) alone.
inline handwriting written_digits(int n, std::uint64_t seed) {
    constexpr int size = handwriting::frames * handwriting::numbers, most = handwriting::most_digits;
    std::vector<float> x(static_cast<std::size_t>(n * size));
    std::vector<std::int32_t> labels(static_cast<std::size_t>(n * most), -1);
    for (int i = 0; i < n; ++i) {
        sinter::random_stream random(sinter::base::stream(seed, sinter::base::fnv1a("example/strokes")),
                                     static_cast<std::uint64_t>(i));
        pen_recorder pen(x.data() + i * size, random.uniform(0.19f, 0.24f));
        const int digits = 3 + static_cast<int>(random.below(3));
        float left = 0;
        for (int k = 0; k < digits; ++k) {
            const auto digit = static_cast<std::int32_t>(random.below(10));
            labels[static_cast<std::size_t>(i * most + k)] = digit + 1;   // class 0 is the blank
            write_digit(digit, left, random, pen);
            left += random.uniform(0.75f, 1.1f);
        }
        if (pen.is_full())
            throw sinter::data_error("a row of digits does not fit", "written_digits", std::to_string(i));
    }
    handwriting h;
    h.set = sinter::data::dataset(sinter::extents(handwriting::frames, handwriting::numbers), std::move(x));
    h.set.labels(sinter::extents(most), std::move(labels));
    return h;
}

} // namespace example
