// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --threads 1 --weights {examples}/weights/keras.npz --report from_keras.json --onnx from_keras.onnx
//
// Lesson 12: weights from Keras.
//
//   from_keras --give digits.npz                  writes its training images for NumPy
//   python3 from_keras.py digits.npz keras.npz    trains the same net on them in Keras
//   from_keras --weights keras.npz                takes the weights over, and trains on
//
// Keras lays kernels out as Sinter does and calls layers alike, so that nothing but
// `framework::keras` need be said: model.load_weights(file, {.from = framework::keras}), in
// common/take_over.hpp, and the model trains on as any other. weights/keras.npz is what the script
// made of digits that this program draws.
#include "common/take_over.hpp"
using namespace sinter;

constexpr auto net = image<28, 28, 1>
    >> conv2d<8, 3> >> relu >> max_pool<2>
    >> conv2d<16, 3> >> relu >> max_pool<2>
    >> flatten >> dense<10>;

int main(int argc, char** argv) {
    return example::take_over(argc, argv, net, "from_keras", "Keras", "keras.npz", {.from = framework::keras});
}
