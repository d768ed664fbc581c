// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/shape.hpp>

namespace sinter::inline SINTER_TARGET {

/// May 3 x 3 and 5 x 5 convolutions of stride 1 be computed by Winograd's minimal filtering (Lavin
/// and Gray 2016)? Its sums differ from the direct ones by more than a changed order does: relative
/// rms error about 1e-6 with tiles of 2 x 2 outputs of 3 x 3 windows (`f2`), up to 1e-5 with 4 x 4,
/// and with 2 x 2 of 5 x 5 windows, whose transforms are as large (`f4`). Direct kernels: about
/// 3e-7. Where all inputs of a window are zero `f2` gives zero, as direct kernels do, and `f4` what
/// rounding leaves of its neighbours.
enum class winograd { forbid, f2, f4 };

/// What a convolution's rule must know to choose.
struct winograd_choice {
    winograd most = winograd::forbid;
    int lanes = 1, parts = 1, batch = 1;   ///< of the target; the largest batch

    /// Before a max-pool, of x. Few channels of a drawing are zero together over its background:
    /// there all four values of a window shall be as large, and relu behind them let no gradient
    /// through, while biases are zero.
    constexpr void limit_before_pool(const shape& x) {
        if (most == winograd::f4 && x.last() < 64) most = winograd::f2;
    }

    /// Outputs of a tile along each axis, 0 for the direct kernels: by the estimated time of x [H,
    /// W, CI] -> y [OH, OW, CO]. Of a pool in the same kernel a tile holds whole windows.
    constexpr int tile(const shape& x, const shape& y, int kh, int kw, int stride, int pool = 0) const {
        if (most == winograd::forbid || kh != kw || (kh != 3 && kh != 5) || stride != 1 || x.d[2] % lanes) return 0;
        const double images = x.batched ? batch : 1, inputs = x.d[2], outputs = y.d[2], products = inputs * outputs;
        int best = 0;
        double least = 0.85 * kh * kw * images * y.d[0] * y.d[1] * products;   // what is gained must be worth the error
        for (int size = kh + 1; size <= (most == winograd::f4 ? 6 : 4); size += 2) {   // of a patch
            const int m = size + 1 - kh, places = size * size;
            if (pool && m % pool) continue;
            const double tiles = images * ((y.d[0] + m - 1) / m) * ((y.d[1] + m - 1) / m);
            // Measured, in multiply-adds a place: what a transform costs an input or output, and a
            // pair of the windows' channels.
            const double transform = size == 4 ? 11 : 20, windows = 5 * (1 + tiles / 100);
            const double cost =
                places * (tiles * (1.15 * products + transform * (inputs + outputs)) + windows * products);
            if (cost < least) best = m, least = cost;
        }
        return best;
    }
};

} // namespace sinter
