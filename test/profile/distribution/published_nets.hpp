// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/training_profile.hpp>

/// Nets whose scaling others have published, as layers' figures. Each is built as its paper's tables say.
namespace sinter::test {

class published_net {
public:
    std::vector<layer_figures> layers;

    double parameters() const { return sum(&layer_figures::parameters); }
    double forward_flops() const { return sum(&layer_figures::forward_flops); }

protected:
    enum class after { nothing, bias, batch_norm };

    /// A convolution whose results are `size` x `size`.
    void conv(int in, int out, int high, int wide, int size, after a = after::batch_norm) {
        const double weights = 1.0 * in * out * high * wide, places = 1.0 * size * size;
        layers.push_back({2 * weights * places, weights + (a == after::bias ? 1 : a == after::batch_norm ? 2 : 0) * out,
                          2 * places * out});
    }
    void dense(int in, int out) { layers.push_back({2.0 * in * out, 1.0 * in * out + out, 1.0 * out}); }

private:
    double sum(double layer_figures::*figure) const {
        double s = 0;
        for (const layer_figures& l : layers) s += l.*figure;
        return s;
    }
};

/// He et al., "Deep Residual Learning for Image Recognition" (2016), table 1. {3, 4, 6, 3}: 50
/// layers; {3, 4, 23, 3}: 101.
struct resnet : published_net {
    explicit resnet(std::vector<int> blocks) {
        conv(3, 64, 7, 7, 112);
        int in = 64;
        for (std::size_t stage = 0; stage < 4; ++stage) {
            const int width = 64 << stage, out = 4 * width, size = 56 >> stage;
            for (int b = 0; b < blocks[stage]; ++b) {
                const int before = b == 0 && stage ? 2 * size : size;   // the stride is in the 3 x 3
                if (b == 0) conv(in, out, 1, 1, size);
                conv(in, width, 1, 1, before);
                conv(width, width, 3, 3, size);
                conv(width, out, 1, 1, size);
                in = out;
            }
        }
        dense(2048, 1000);
    }
};

/// Simonyan and Zisserman, "Very Deep Convolutional Networks" (2015), column D.
struct vgg16 : published_net {
    vgg16() {
        int in = 3, size = 224;
        for (int convolutions : {2, 2, 3, 3, 3}) {
            const int out = in == 3 ? 64 : in == 512 ? 512 : 2 * in;
            for (int i = 0; i < convolutions; ++i) {
                conv(in, out, 3, 3, size, after::bias);
                in = out;
            }
            size /= 2;
        }
        dense(512 * 7 * 7, 4096);
        dense(4096, 4096);
        dense(4096, 1000);
    }
};

/// Szegedy et al., "Rethinking the Inception Architecture" (2016), table 1, with the widths that
/// TensorFlow and torchvision give the branches, without the auxiliary classifier.
struct inception_v3 : published_net {
    inception_v3() {
        conv(3, 32, 3, 3, 149), conv(32, 32, 3, 3, 147), conv(32, 64, 3, 3, 147);
        conv(64, 80, 1, 1, 73), conv(80, 192, 3, 3, 71);
        block_a(192, 32), block_a(256, 64), block_a(288, 64);
        conv(288, 384, 3, 3, 17), conv(288, 64, 1, 1, 35), conv(64, 96, 3, 3, 35), conv(96, 96, 3, 3, 17);
        for (int c : {128, 160, 160, 192}) block_c(c);
        conv(768, 192, 1, 1, 17), conv(192, 320, 3, 3, 8);
        conv(768, 192, 1, 1, 17), conv(192, 192, 1, 7, 17), conv(192, 192, 7, 1, 17), conv(192, 192, 3, 3, 8);
        block_e(1280), block_e(2048);
        dense(2048, 1000);
    }

private:
    void block_a(int in, int pooled) {
        conv(in, 64, 1, 1, 35);
        conv(in, 48, 1, 1, 35), conv(48, 64, 5, 5, 35);
        conv(in, 64, 1, 1, 35), conv(64, 96, 3, 3, 35), conv(96, 96, 3, 3, 35);
        conv(in, pooled, 1, 1, 35);
    }
    void block_c(int c) {
        conv(768, 192, 1, 1, 17);
        conv(768, c, 1, 1, 17), conv(c, c, 1, 7, 17), conv(c, 192, 7, 1, 17);
        conv(768, c, 1, 1, 17), conv(c, c, 7, 1, 17), conv(c, c, 1, 7, 17), conv(c, c, 7, 1, 17),
            conv(c, 192, 1, 7, 17);
        conv(768, 192, 1, 1, 17);
    }
    void block_e(int in) {
        conv(in, 320, 1, 1, 8);
        conv(in, 384, 1, 1, 8), conv(384, 384, 1, 3, 8), conv(384, 384, 3, 1, 8);
        conv(in, 448, 1, 1, 8), conv(448, 384, 3, 3, 8), conv(384, 384, 1, 3, 8), conv(384, 384, 3, 1, 8);
        conv(in, 192, 1, 1, 8);
    }
};

/// Five layers of gated recurrent units, 3000 wide, 100 steps: one product of 6000 by 9000 a layer and step.
struct speech_gru : published_net {
    speech_gru() {
        for (int i = 0; i < 5; ++i) layers.push_back({2 * 6000. * 9000 * 100, 6000. * 9000, 100 * 9000.});
    }
};

} // namespace sinter::test
