// SPDX-License-Identifier: BSL-1.0
// A LeNet and its training loop in dlib, as small as one can write it: what bench/build_cost.py
// compiles beside Sinter.
#include <dlib/data_io.h>
#include <dlib/dnn.h>
#include <iostream>
#include <vector>

template <long Channels, long Size, typename Below>
using convolution = dlib::max_pool<2, 2, 2, 2, dlib::relu<dlib::con<Channels, Size, Size, 1, 1, Below>>>;
template <long Units, typename Below>
using hidden = dlib::relu<dlib::fc<Units, Below>>;
using pixels = dlib::input<dlib::matrix<unsigned char>>;
using lenet = dlib::loss_multiclass_log<
    dlib::fc<10, hidden<84, hidden<120, convolution<16, 5, convolution<6, 5, pixels>>>>>>;

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: dlib_lenet FOLDER    (with MNIST's four files, unpacked)\n";
        return 2;
    }
    std::vector<dlib::matrix<unsigned char>> images, test_images;
    std::vector<unsigned long> labels, test_labels;
    dlib::load_mnist_dataset(argv[1], images, labels, test_images, test_labels);

    lenet net;
    dlib::dnn_trainer<lenet> trainer(net, dlib::sgd(0, 0.9));
    trainer.set_learning_rate(0.01);
    trainer.set_min_learning_rate(1e-5);
    trainer.set_mini_batch_size(64);
    trainer.be_verbose();
    trainer.train(images, labels);

    net.clean();
    dlib::serialize("dlib_lenet.dat") << net;
    const auto found = net(test_images);
    std::size_t right = 0;
    for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == test_labels[i];
    std::cout << "test accuracy " << static_cast<double>(right) / static_cast<double>(found.size()) << '\n';
}
