// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/cpu/rowwise/body.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/ctc_loss.hpp>
#include <limits>

namespace sinter::inline SINTER_TARGET::cpu {

/// The alignments of one example: states are the labels with blanks before, between and behind
/// them; rows of states have room on both sides, filled with -infinity, so that a state's
/// neighbours are read without asking whether they exist. All values are logarithms; each frame's
/// largest is taken off, so that long sequences lose no digits.
struct ctc_example {
    static constexpr float never = -std::numeric_limits<float>::infinity();

    const float* z;              ///< logits [frames, classes]
    std::int64_t classes, frames, states, width;
    float *of_state, *skip, *emitted, *row, *before, *posterior, *padded, *most, *log_sums, *alpha;

    /// Floats of a row of 2 L + 1 states, and of all work space for one example.
    static constexpr std::int64_t row_width(std::int64_t labels) { return round_up(2 * labels + 1, lanes) + 2 * lanes; }
    static constexpr std::int64_t floats(std::int64_t frames, std::int64_t classes, std::int64_t labels) {
        return round_up((6 + frames) * row_width(labels) + round_up(classes, lanes) + 2 * frames, 16);
    }
    void lay_out(float* at, std::int64_t most_labels, std::int64_t most_frames) {
        width = row_width(most_labels);
        for (float** p : {&of_state, &skip, &emitted, &row, &before, &posterior, &alpha}) *p = at + lanes, at += width;
        at += (most_frames - 1) * width;
        padded = at;
        most = at + round_up(classes, lanes);
        log_sums = most + most_frames;
    }
    static void clear(float* states_row, std::int64_t width) {
        for (std::int64_t i = -lanes; i < width - lanes; ++i) states_row[i] = never;
    }

    /// False: the labels cannot be said, for one of them is no class, or is the blank.
    bool read_labels(const std::int32_t* labels, std::int64_t longest, std::int32_t blank) {
        std::int64_t n = 0;
        while (n < longest && labels[n] >= 0) ++n;
        states = 2 * n + 1;
        clear(skip, width);
        for (std::int64_t s = 0; s < states; ++s) {
            const std::int32_t c = s % 2 ? labels[s / 2] : blank;
            if (s % 2 && (c >= classes || c == blank)) return false;
            of_state[s] = static_cast<float>(c);
            if (s % 2 && s > 1 && c != labels[s / 2 - 1])
                skip[s] = 0;   // between different labels a blank may be left out
        }
        return true;
    }
    /// The largest of each frame and log of the sum of e^(z - largest), which one float could not
    /// hold; false where one is not finite.
    bool sum_frames() {
        for (std::int64_t c = classes; c < round_up(classes, lanes); ++c) padded[c] = never;
        for (std::int64_t t = 0; t < frames; ++t) {
            const float largest = largest_of(t);
            vf sum = zero();
            for (std::int64_t c = 0; c < classes; c += lanes) sum += exp(load(padded + c) - largest);
            most[t] = largest;
            log_sums[t] = log(splat(sum_lanes(sum)))[0];
            if (!(absolute(splat(log_sums[t]))[0] < -never)) return false;
        }
        return true;
    }
    float largest_of(std::int64_t t) {
        std::memcpy(padded, z + t * classes, 4 * static_cast<std::size_t>(classes));
        vf m = splat(never);
        for (std::int64_t c = 0; c < classes; c += lanes) m = max(load(padded + c), m);
        return max_lanes(m);
    }
    void emit(std::int64_t t) {   // log-probabilities of the states' symbols in frame t
        const float* const frame = z + t * classes;
        for (std::int64_t s = 0; s < states; ++s)
            emitted[s] = (frame[static_cast<std::int64_t>(of_state[s])] - most[t]) - log_sums[t];
        for (std::int64_t s = states; s < width - lanes; ++s) emitted[s] = never;
    }
    /// log(e^a + e^b + e^c), -infinity of three such.
    static SINTER_INLINE vf log_sum(vf a, vf b, vf c) {
        const vf m = max(max(a, max(b, c)), splat(-std::numeric_limits<float>::max()));
        return m + log(exp(a - m) + exp(b - m) + exp(c - m));
    }
    /// Takes its largest off a row, and returns that.
    float normalise(float* r) const {
        vf m = splat(never);
        for (std::int64_t s = 0; s < states; s += lanes) m = max(m, load(r + s));
        const float largest = max_lanes(m);
        for (std::int64_t s = 0; largest > never && s < states; s += lanes) store(r + s, load(r + s) - largest);
        return largest;
    }

    /// Probabilities of all beginnings; returns log of the probability of the whole.
    double forwards() {
        double offset = 0;
        for (std::int64_t t = 0; t < frames; ++t) {
            float* const now = alpha + t * width;
            clear(now, width);
            emit(t);
            if (t == 0) {
                for (std::int64_t s = 0; s < states && s < 2; ++s) now[s] = emitted[s];
            } else {
                const float* const last = now - width;
                for (std::int64_t s = 0; s < states; s += lanes)
                    store(now + s, load(emitted + s) + log_sum(load(last + s), load(last + s - 1),
                                                               load(last + s - 2) + load(skip + s)));
            }
            const float largest = normalise(now);
            if (!(largest > never)) return static_cast<double>(never);
            offset += static_cast<double>(largest);
        }
        if (frames == 0) return states == 1 ? 0. : static_cast<double>(never);
        const float* const end = alpha + (frames - 1) * width + states - 1;
        return offset + static_cast<double>(log_sum(splat(end[0]), splat(end[-1]), splat(never))[0]);
    }
    /// The gradient [frames, classes]: softmax less each symbol's share of what was said in that
    /// frame.
    void backwards(float* gradient) {
        clear(row, width);
        clear(before, width);
        row[states - 1] = 0;
        if (states > 1) row[states - 2] = 0;
        for (std::int64_t t = frames - 1; t >= 0; --t) {
            float* const g = gradient + t * classes;
            std::memcpy(padded, z + t * classes, 4 * static_cast<std::size_t>(classes));
            for (std::int64_t c = 0; c < classes; c += lanes)
                store(g + c, exp((load(padded + c) - most[t]) - log_sums[t]),
                      classes - c < lanes ? static_cast<int>(classes - c) : lanes);
            const float* const a = alpha + t * width;
            for (std::int64_t s = 0; s < states; s += lanes) store(posterior + s, load(a + s) + load(row + s));
            normalise(posterior);
            vf sum = zero();
            for (std::int64_t s = 0; s < states; s += lanes) {
                const vf p = exp(load(posterior + s));
                store(posterior + s, p);
                sum += p;
            }
            const float all = sum_lanes(sum);
            for (std::int64_t s = 0; s < states; ++s) g[static_cast<std::int64_t>(of_state[s])] -= posterior[s] / all;
            emit(t);
            for (std::int64_t s = 0; s < states; s += lanes) store(before + s, load(row + s) + load(emitted + s));
            for (std::int64_t s = 0; s < states; s += lanes)
                store(row + s,
                      log_sum(load(before + s), load(before + s + 1), load(before + s + 2) + load(skip + s + 2)));
            normalise(row);
        }
    }
};

/// For each of c.m examples the loss, and its gradient if somebody wants it. Logits are [T, C],
/// labels [L]; behind the operands stands where the gradient goes, or null.
template <class Body>
struct ctc_loss {
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * ctc_example::floats(e[ctc_extent::frames], e[ctc_extent::classes], e[ctc_extent::labels]);
    }
    static void run(const call& c) {
        const std::int64_t T = c.e[ctc_extent::frames], C = c.e[ctc_extent::classes], L = c.e[ctc_extent::labels];
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        const bool measured = c.e[ctc_extent::measured];
        const auto* labels = reinterpret_cast<const std::int32_t*>(c.p[ctc_operand::labels]);
        const auto* lengths = measured ? reinterpret_cast<const std::int32_t*>(c.p[ctc_operand::lengths]) : nullptr;
        float* const gradients = c.p[measured ? ctc_operand::lengths + 1 : ctc_operand::lengths];
        ctc_example x;
        x.classes = C;
        x.lay_out(c.scratch + c.part * ctc_example::floats(T, C, L), L, T);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i) {
            x.z = c.p[ctc_operand::logits] + i * T * C;
            x.frames = lengths && lengths[i] < T ? (lengths[i] > 0 ? lengths[i] : 0) : T;
            float* const gradient = gradients ? gradients + i * T * C : nullptr;
            const float loss =
                one(x, labels + i * L, L, static_cast<std::int32_t>(c.e[ctc_extent::blank]), gradient, T);
            Body::vector(splat(loss), 1, i, i, 0, c);
        }
    }

private:
    static float one(ctc_example& x, const std::int32_t* labels, std::int64_t L, std::int32_t blank, float* gradient,
                     std::int64_t T) {
        constexpr float nan = std::numeric_limits<float>::quiet_NaN();
        const bool can_be_said = x.read_labels(labels, L, blank), sound = x.sum_frames();
        double log_p = static_cast<double>(sound ? ctc_example::never : nan);
        if (sound && can_be_said) log_p = x.forwards();
        if (gradient) {
            const bool differentiable = sound && log_p > static_cast<double>(ctc_example::never);
            if (differentiable) x.backwards(gradient);
            for (std::int64_t k = differentiable ? x.frames * x.classes : 0; k < T * x.classes; ++k)
                gradient[k] = sound ? 0 : nan;
        }
        return static_cast<float>(-log_p);
    }
};

template <class Body, int... X>
struct nest<op::ctc_loss, Body, X...> { using type = ctc_loss<Body>; };

} // namespace sinter::cpu
