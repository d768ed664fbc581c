// SPDX-License-Identifier: BSL-1.0
// smoke: --threads 1 --weights {examples}/weights/pytorch.safetensors
// smoke: --report from_pytorch.json --onnx from_pytorch.onnx
//
// Lesson 13: weights from PyTorch.
//
//   from_pytorch --give digits.npz                            writes its training images for NumPy
//   python3 from_pytorch.py digits.npz pytorch.safetensors    trains the same net on them in PyTorch
//   from_pytorch --weights pytorch.safetensors                takes the weights over, and trains on
//
// PyTorch has outputs and channels first, and calls layers as their module does. A map says which
// is which; kernels are transposed by Sinter, in model.load_weights(file, map)
// (common/take_over.hpp). What does not fit is told by name, and nothing is loaded then.
#include "common/take_over.hpp"
using namespace sinter;

// As PyTorch's BatchNorm2d: its momentum of 0.1 is what a step adds, ours what it keeps.
constexpr auto norm = batch_norm_with<0.9, 1e-5>;

constexpr auto net = image<28, 28, 1>
    >> conv2d<8, 3, window{}, bias::no> >> norm >> relu >> max_pool<2>
    >> conv2d<16, 3, window{}, bias::no> >> norm >> relu >> max_pool<2>
    >> flatten >> dense<10>;

static const name_map from_pytorch{
    .from = framework::pytorch,
    .rules = {{"conv1.*", "conv2d/*"},
              {"norm1.*", "batch_norm/*"},
              {"conv2.*", "conv2d_1/*"},
              {"norm2.*", "batch_norm_1/*"},
              // Behind its flatten, channels come first: [16, 7, 7]. Here they come last.
              {"fc.*", "dense/*", {}, {16, 7, 7}}}};

int main(int argc, char** argv) {
    return example::take_over(argc, argv, net, "from_pytorch", "PyTorch", "pytorch.safetensors", from_pytorch);
}
