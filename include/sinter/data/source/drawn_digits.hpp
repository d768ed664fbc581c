// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/dataset.hpp>
#if SINTER_BODIES
#include <sinter/base/hash.hpp>
#endif

/// Digits that the program draws itself, so that a net can be trained where there are no files:
/// each is a few pen strokes through jittered points, turned, sheared, scaled and shifted, drawn
/// with a round pen, and then disturbed.
namespace sinter::inline SINTER_ORDINARY::data {

inline constexpr int digit_image_side = 28;

/// Draws one digit (0 to 9) into 28 x 28 floats in [0, 1]: ink is light on a dark ground.
SINTER_APART void draw_digit(int digit, random_stream& random, float* image);

/// `n` drawn digits, [28, 28, 1] floats in [0, 1] with labels 0 to 9. Example i depends on (seed,
/// i) alone. data_error if n < 0.
SINTER_APART dataset drawn_digits(std::int64_t n, std::uint64_t seed = 0);

/// In the unit square, y downwards.
struct pen_point { float x, y; };

/// A pen stroke: a polyline, or a smooth curve through its points.
struct pen_stroke {
    enum kind { straight, smooth, at_times } form;   ///< at_times: straight, and present in half of the digits
    int count;
    pen_point points[13];
};

struct digit_shape {
    int strokes;
    pen_stroke stroke[2];
};

inline constexpr digit_shape digit_shapes[10] = {
    {1, {{pen_stroke::smooth, 9, {{.50f, .03f}, {.20f, .18f}, {.12f, .50f}, {.18f, .82f}, {.50f, .97f}, {.82f, .82f},
                                  {.88f, .50f}, {.80f, .18f}, {.50f, .03f}}}}},
    {2, {{pen_stroke::straight, 3, {{.30f, .24f}, {.54f, .03f}, {.54f, .97f}}},
         {pen_stroke::at_times, 2, {{.30f, .97f}, {.78f, .97f}}}}},
    {2, {{pen_stroke::smooth, 7, {{.14f, .26f}, {.28f, .07f}, {.60f, .03f}, {.84f, .24f}, {.72f, .52f}, {.40f, .78f},
                                  {.12f, .96f}}},
         {pen_stroke::straight, 2, {{.12f, .96f}, {.90f, .94f}}}}},
    {2, {{pen_stroke::smooth, 5, {{.15f, .12f}, {.50f, .02f}, {.82f, .20f}, {.70f, .42f}, {.40f, .48f}}},
         {pen_stroke::smooth, 5, {{.40f, .48f}, {.78f, .55f}, {.88f, .78f}, {.55f, .97f}, {.12f, .88f}}}}},
    {1, {{pen_stroke::straight, 4, {{.66f, .97f}, {.66f, .03f}, {.10f, .68f}, {.92f, .68f}}}}},
    {2, {{pen_stroke::straight, 3, {{.84f, .04f}, {.25f, .05f}, {.20f, .46f}}},
         {pen_stroke::smooth, 6, {{.20f, .46f}, {.55f, .38f}, {.86f, .60f}, {.76f, .88f}, {.42f, .98f},
                                  {.12f, .86f}}}}},
    {1, {{pen_stroke::smooth, 9, {{.76f, .05f}, {.40f, .20f}, {.16f, .55f}, {.22f, .86f}, {.50f, .98f}, {.82f, .82f},
                                  {.80f, .58f}, {.50f, .47f}, {.18f, .66f}}}}},
    {2, {{pen_stroke::straight, 3, {{.10f, .06f}, {.88f, .04f}, {.40f, .97f}}},
         {pen_stroke::at_times, 2, {{.32f, .50f}, {.80f, .50f}}}}},
    {1, {{pen_stroke::smooth, 13, {{.50f, .47f}, {.22f, .30f}, {.26f, .09f}, {.50f, .02f}, {.74f, .09f}, {.78f, .30f},
                                   {.50f, .47f}, {.17f, .70f}, {.22f, .91f}, {.50f, .98f}, {.78f, .91f}, {.83f, .70f},
                                   {.50f, .47f}}}}},
    {1, {{pen_stroke::smooth, 9, {{.82f, .34f}, {.50f, .53f}, {.20f, .42f}, {.18f, .18f}, {.50f, .02f}, {.78f, .14f},
                                  {.84f, .45f}, {.66f, .78f}, {.30f, .96f}}}}},
};

#if SINTER_BODIES
/// Inks the segment a-b with a round pen of `radius` pixels; the pen's edge is one pixel soft.
inline void ink(float* image, pen_point a, pen_point b, float radius, float strength) {
    const float reach = radius + 1, dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    const auto clamp = [](float v) {
        return v < 0 ? 0 : v > digit_image_side - 1 ? digit_image_side - 1 : static_cast<int>(v);
    };
    const int x0 = clamp((a.x < b.x ? a.x : b.x) - reach), x1 = clamp((a.x > b.x ? a.x : b.x) + reach);
    const int y0 = clamp((a.y < b.y ? a.y : b.y) - reach), y1 = clamp((a.y > b.y ? a.y : b.y) + reach);
    for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x) {
            const float px = static_cast<float>(x) + 0.5f - a.x, py = static_cast<float>(y) + 0.5f - a.y;
            float t = length2 > 0 ? (px * dx + py * dy) / length2 : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            const float ex = px - t * dx, ey = py - t * dy;
            float cover = radius + 0.5f - __builtin_sqrtf(ex * ex + ey * ey);
            cover = strength * (cover < 0 ? 0 : cover > 1 ? 1 : cover);
            float& pixel = image[y * digit_image_side + x];
            if (cover > pixel) pixel = cover;
        }
}

SINTER_APART void draw_digit(int digit, random_stream& random, float* image) {
    for (int i = 0; i < digit_image_side * digit_image_side; ++i) image[i] = 0;
    const float turn = random.uniform(-0.30f, 0.30f), shear = random.uniform(-0.30f, 0.30f);
    const float width = random.uniform(9, 16), height = random.uniform(14, 21);
    const float cx = 14 + random.uniform(-3, 3), cy = 14 + random.uniform(-3, 3);
    const float radius = random.uniform(0.5f, 1.5f), strength = random.uniform(0.55f, 1.0f);
    const float cosine = __builtin_cosf(turn), sine = __builtin_sinf(turn);
    const auto place = [&](pen_point p) {
        const float y = (p.y - 0.5f) * height, x = (p.x - 0.5f) * width - shear * y;
        return pen_point{cx + cosine * x - sine * y, cy + sine * x + cosine * y};
    };
    const digit_shape& shape = digit_shapes[digit];
    for (int s = 0; s < shape.strokes; ++s) {
        const pen_stroke& stroke = shape.stroke[s];
        pen_point p[13];
        for (int i = 0; i < stroke.count; ++i) {
            const float x = random.uniform(-0.06f, 0.06f), y = random.uniform(-0.06f, 0.06f);
            p[i] = place({stroke.points[i].x + x, stroke.points[i].y + y});
        }
        if (stroke.form == pen_stroke::at_times && (random.word() & 1)) continue;
        const int pieces = stroke.form == pen_stroke::smooth ? 5 : 1;
        for (int i = 0; i + 1 < stroke.count; ++i) {
            const pen_point a = p[i > 0 ? i - 1 : 0], b = p[i], c = p[i + 1],
                            d = p[i + 2 < stroke.count ? i + 2 : i + 1];
            pen_point from = b;
            for (int k = 1; k <= pieces; ++k) {   // Catmull-Rom spline; with one piece, the chord
                const float t = static_cast<float>(k) / static_cast<float>(pieces), t2 = t * t, t3 = t2 * t;
                const auto along = [&](float q, float r, float u, float v) {
                    return 0.5f * (2 * r + (u - q) * t + (2 * q - 5 * r + 4 * u - v) * t2 + (3 * (r - u) + v - q) * t3);
                };
                const pen_point to{along(a.x, b.x, c.x, d.x), along(a.y, b.y, c.y, d.y)};
                ink(image, from, to, radius, strength);
                from = to;
            }
        }
    }
    // A stray mark somewhere, so that no single pixel decides, and noise over all.
    const float sx = random.uniform(0, 28), sy = random.uniform(0, 28);
    ink(image, {sx, sy}, {sx + random.uniform(-4, 4), sy}, 0.5f, strength);
    for (int i = 0; i < digit_image_side * digit_image_side; ++i) {
        const float v = image[i] + 0.12f * random.normal();
        image[i] = v < 0 ? 0 : v > 1 ? 1 : v;
    }
}

SINTER_APART dataset drawn_digits(std::int64_t n, std::uint64_t seed) {
    if (n < 0) throw data_error("impossible number of examples", "drawn_digits", std::to_string(n), "at least 0");
    constexpr int pixels = digit_image_side * digit_image_side;
    std::vector<float> images(static_cast<std::size_t>(n) * pixels);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        random_stream random(base::stream(seed, base::fnv1a("data/drawn_digits")), i);
        labels[i] = static_cast<std::int32_t>(random.below(10));
        draw_digit(labels[i], random, images.data() + i * pixels);
    }
    return dataset(extents(digit_image_side, digit_image_side, 1), std::move(images)).labels(std::move(labels), 10);
}
#endif

} // namespace sinter::data
