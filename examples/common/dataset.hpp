// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/data/source/drawn_digits.hpp>
#include <sinter/data/source/idx.hpp>
#include <sinter/io/printable.hpp>
#include <sys/stat.h>
#include <array>
#include <cstdio>
#include <string_view>

namespace example {

/// Images [28, 28, 1] in ten classes, in three sets that share none: to learn from, to watch while
/// learning, and to look at once, at the end.
struct dataset {
    std::string name;
    sinter::data::dataset train, validation, test;
    std::array<std::string_view, 10> class_names{};
};
/// Keeps a twelfth of the training images, and at least one, for validation.
inline dataset split(std::string name, const sinter::data::dataset& all, sinter::data::dataset test,
                     const std::array<std::string_view, 10>& class_names) {
    const std::int64_t kept = (all.size() + 11) / 12, trained = all.size() - kept;
    return {std::move(name), all.slice(0, trained), all.slice(trained, kept), std::move(test), class_names};
}

inline constexpr std::array<std::string_view, 10> garments = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};
inline constexpr std::array<std::string_view, 10> digits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/// The file in `folder`, plain or compressed; empty if neither is there.
inline std::string plain_or_gzip(const std::string& folder, const std::string& name) {
    for (const char* ending : {"", ".gz"}) {
        struct stat status {};
        const std::string path = folder + "/" + name + ending;
        if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) return path;
    }
    return {};
}

/// Digits that the program draws: always there, the same for one seed.
inline dataset drawn_dataset(std::uint64_t seed, int train_images = 12'000, int test_images = 2'000) {
    using sinter::data::drawn_digits;
    return split("drawn digits", drawn_digits(train_images, sinter::base::stream(seed, sinter::base::fnv1a("train"))),
                 drawn_digits(test_images, sinter::base::stream(seed, sinter::base::fnv1a("test"))), digits);
}

/// Fashion-MNIST, or MNIST, whose files bear the same names, from `folder` or
/// `folder`/fashion-mnist. Where there is none, drawn digits, and a line on `out` that says so.
/// data_error if only some of the four files are there, or they hold other than 28 x 28 images in
/// ten classes; io_error and format_error if one cannot be read.
inline dataset find_dataset(const std::string& folder, std::uint64_t seed, std::FILE* out = stderr) {
    const char* const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                 "t10k-labels-idx1-ubyte"};
    for (const std::string& place : {folder, folder + "/fashion-mnist"}) {
        if (folder.empty()) break;
        std::array<std::string, 4> path;
        int found = 0;
        for (std::size_t i = 0; i < 4; ++i) found += !(path[i] = plain_or_gzip(place, names[i])).empty();
        if (found == 0) continue;
        for (std::size_t i = 0; i < 4; ++i)
            if (path[i].empty())
                throw sinter::data_error("data set is not complete", place, std::to_string(found) + " of its 4 files",
                                         std::string(names[i]) + " or " + names[i] + ".gz");
        const auto train = sinter::data::idx(path[0], path[1], 10), test = sinter::data::idx(path[2], path[3], 10);
        for (const auto* set : {&train, &test})
            if (set->columns()[0].row != sinter::extents(28, 28, 1))
                throw sinter::data_error("images have other extents", place, {}, "28 x 28 x 1");
        // The two differ in nothing but what they show; their first labels tell which it is.
        constexpr std::int32_t fashion_begins[] = {9, 0, 0, 3, 0, 2, 7, 2, 5, 5};
        const auto labels = train.labels();
        bool fashion = labels.size() >= std::size(fashion_begins);
        for (std::size_t i = 0; fashion && i < std::size(fashion_begins); ++i) fashion = labels[i] == fashion_begins[i];
        return split(fashion ? "Fashion-MNIST" : "MNIST", train, test, fashion ? garments : digits);
    }
    if (folder.empty())
        std::fputs("No data folder given (--data DIR or SINTER_DATA): using digits that this program draws itself.\n",
                   out);
    else
        std::fprintf(out, "No Fashion-MNIST files in %s: using digits that this program draws itself.\n",
                     sinter::io::printable(folder, 4096).c_str());
    return drawn_dataset(seed);
}

} // namespace example
