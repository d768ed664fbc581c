// SPDX-License-Identifier: BSL-1.0
// needs: zlib
#define BOOST_TEST_MODULE dataset
#include <boost/test/unit_test.hpp>
#include "../../examples/common/dataset.hpp"
#include <filesystem>
#include <unistd.h>

struct folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("sinter dataset " + std::to_string(::getpid()));
    folder() { std::filesystem::create_directories(path / "fashion-mnist"); }
    ~folder() { std::filesystem::remove_all(path); }
    void write(const std::string& name, const std::string& bytes) const {
        std::FILE* f = std::fopen((path / name).c_str(), "wb");
        BOOST_REQUIRE(f);
        std::fwrite(bytes.data(), 1, bytes.size(), f);
        std::fclose(f);
    }
    void write_all(const std::string& prefix, const std::string& labels) const {
        const auto n = static_cast<char>(labels.size());
        std::string images("\0\0\x08\3\0\0\0", 7);
        images += n;
        images.append("\0\0\0\x1c\0\0\0\x1c", 8).append(labels.size() * 784, '\x80');
        for (const char* part : {"train", "t10k"}) {
            write(prefix + part + "-images-idx3-ubyte", images);
            write(prefix + part + "-labels-idx1-ubyte", std::string("\0\0\x08\1\0\0\0", 7) + n + labels);
        }
    }
};

static std::string said(const std::string& data, example::dataset& d) {
    std::FILE* out = std::tmpfile();
    d = example::find_dataset(data, 1, out);
    std::rewind(out);
    std::string s;
    for (int c; (c = std::fgetc(out)) != EOF;) s += static_cast<char>(c);
    std::fclose(out);
    return s;
}

BOOST_AUTO_TEST_CASE(files_are_found_here_or_one_folder_down) {
    const folder f;
    example::dataset d;
    f.write_all("fashion-mnist/", std::string("\x9\0\0\3\0\2\7\2\5\5\1", 11));
    BOOST_TEST(said(f.path.string(), d) == "");
    BOOST_TEST(d.name == "Fashion-MNIST");
    BOOST_TEST(d.class_names[9] == "Ankle boot");
    BOOST_TEST(d.train.size() == 10);
    BOOST_TEST(d.validation.size() == 1);   // a twelfth, rounded up
    BOOST_TEST(d.validation.labels()[0] == 1);   // the last, so that no image is in both
    BOOST_TEST(said((f.path / "fashion-mnist").string(), d) == "");
    BOOST_TEST(d.test.labels()[5] == 2);
    f.write_all("", std::string("\5\0\4\1\x9\2\1\3\1\4", 10));
    BOOST_TEST(said(f.path.string(), d) == "");
    BOOST_TEST(d.name == "MNIST");
    BOOST_TEST(d.class_names[9] == "9");
}

BOOST_AUTO_TEST_CASE(without_files_digits_are_drawn_and_one_line_says_so) {
    const folder f;
    example::dataset d;
    BOOST_TEST(said("", d) ==
               "No data folder given (--data DIR or SINTER_DATA): using digits that this program draws itself.\n");
    BOOST_TEST(d.train.size() == 11000);
    BOOST_TEST(d.validation.size() == 1000);
    BOOST_TEST(d.test.size() == 2000);
    BOOST_TEST(said(f.path.string(), d) == "No Fashion-MNIST files in '" + f.path.string() +
                                               "': using digits that this program draws itself.\n");
    BOOST_TEST(d.name == "drawn digits");
}

BOOST_AUTO_TEST_CASE(half_a_data_set_is_an_error) {
    const folder f;
    f.write_all("", "\1\2");
    std::filesystem::remove(f.path / "t10k-labels-idx1-ubyte");
    BOOST_CHECK_EXCEPTION(example::find_dataset(f.path.string(), 1), sinter::data_error,
                          [](const sinter::data_error& e) {
        return e.got() == "3 of its 4 files" && e.needed().starts_with("t10k-labels-idx1-ubyte or ");
    });
}
