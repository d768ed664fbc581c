// SPDX-License-Identifier: BSL-1.0
// needs: zlib data
#define BOOST_TEST_MODULE io_idx_fashion_mnist
#include "data_folder.hpp"
#include "skip.hpp"

#include <sinter/io/idx.hpp>

#include <boost/test/unit_test.hpp>

using sinter::io::idx_array;

BOOST_AUTO_TEST_CASE(the_test_images_and_labels) {
    const std::string images = data_file("fashion-mnist/t10k-images-idx3-ubyte.gz");
    const std::string labels = data_file("fashion-mnist/t10k-labels-idx1-ubyte.gz");
    if (images.empty() || labels.empty()) return skip("no fashion-mnist under SINTER_DATA");
    const idx_array x = sinter::io::read_idx(images), y = sinter::io::read_idx(labels);
    BOOST_TEST(x.extents == (std::vector<std::int64_t>{10000, 28, 28}), boost::test_tools::per_element());
    BOOST_TEST(x.bytes.size() == 7'840'000u);
    std::vector<int> per_class(10);
    for (const std::byte label : y.bytes) ++per_class.at(std::to_integer<std::size_t>(label));
    BOOST_TEST(per_class == std::vector<int>(10, 1000), boost::test_tools::per_element());
}
