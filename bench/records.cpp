// SPDX-License-Identifier: BSL-1.0
// What records cost, as JSON lines: TFRecord files read from the system's cache beside plain read(2), CRC-32C, and
// Examples read, checked and parsed. One thread; processor time.
#include "measure.hpp"
#include "options.hpp"
#include <sinter/base/crc32c.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/tfrecord.hpp>
#include <cstdio>
#include <string>

using namespace sinter;
using namespace sinter::base;

namespace {

constexpr const char* help =
    "records [--megabytes M] [--rounds R] [--folder F] [--threads 1]\n"
    "Writes TFRecord files of M megabytes each (default 256) into F (default: /tmp), reads them R times (default 9),\n"
    "and removes them; JSON lines.";

struct settings {
    std::size_t megabytes = 256;
    int rounds = 9;
    std::string folder = "/tmp";
};

/// A file that is there as long as this.
struct file {
    std::string path;
    double records = 0, bytes = 0;

    template <class Add>
    file(const settings& s, const char* name, Add add) : path(s.folder + "/sinter-bench-" + name + ".tfrecord") {
        tfrecord::write(path, [&](tfrecord::writer& w) {
            while (w.bytes() < s.megabytes << 20) add(w);
            records = static_cast<double>(w.records());
            bytes = static_cast<double>(w.bytes());
        });
    }
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file() { remove_file(path); }
};

template <class F>
double seconds_of(const settings& s, F f) {
    f();   // now it is in the system's cache
    std::vector<double> t;
    for (int r = 0; r < s.rounds; ++r) {
        const double t0 = bench::cpu_seconds();
        f();
        t.push_back(bench::cpu_seconds() - t0);
    }
    std::sort(t.begin(), t.end());
    return t[t.size() / 2];
}

std::string some_bytes(std::size_t n) {
    std::string s(n, '\0');
    for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * 0x9E3779B97F4A7C15u >> 56);
    return s;
}

void of_crc(std::size_t bytes) {
    const std::string data = some_bytes(bytes);
    std::uint32_t crc = 0;
    const double best = bench::time_of([&] { crc ^= crc32c(as_bytes(data)); }).median;
    const double tables = bench::time_of([&] { crc ^= base::detail::crc32c_by_tables(as_bytes(data)); }).median;
    asm volatile("" : : "r"(crc));
    std::printf("{\"what\": \"crc32c\", \"bytes\": %zu, \"gb_s\": %.3f, \"by_tables_gb_s\": %.3f}\n", bytes,
                1e-9 * static_cast<double>(bytes) / best, 1e-9 * static_cast<double>(bytes) / tables);
}

void of_files(const settings& s, const char* name, std::size_t record_bytes) {
    const std::string record = some_bytes(record_bytes);
    const file f(s, name, [&](tfrecord::writer& w) { w.add(record); });
    std::vector<std::byte> block(std::size_t{1} << 18);
    const double plain = seconds_of(s, [&] {
        io::input_file in(f.path);
        while (in.read_some({block.data(), block.size()}) != 0) {}
    });
    const auto read = [&](bool check) {
        return seconds_of(s, [&] {
            tfrecord::reader r(f.path, {.check_data = check});
            while (r.next()) {}
        });
    };
    const double checked = read(true), unchecked = read(false);
    std::printf("{\"what\": \"%s\", \"record_bytes\": %zu, \"read_gb_s\": %.3f, \"checked_gb_s\": %.3f, "
                "\"unchecked_gb_s\": %.3f, \"checked_of_read\": %.3f}\n",
                name, record_bytes, 1e-9 * f.bytes / plain, 1e-9 * f.bytes / checked, 1e-9 * f.bytes / unchecked,
                plain / checked);
}

/// f(example) of each record, which takes out all values.
template <class Use>
void of_examples(const settings& s, const char* name, const tfrecord::example& e, Use use) {
    const std::string bytes = e.bytes();
    const file f(s, name, [&](tfrecord::writer& w) { w.add(bytes); });
    tfrecord::example_view view;
    const double parse = bench::time_of([&] {
        view.parse(as_bytes(bytes));
        use(view);
    }).median;
    const double all = seconds_of(s, [&] {
        tfrecord::reader r(f.path);
        while (r.next()) {
            view.parse(r.record(), r.where());
            use(view);
        }
    });
    std::printf("{\"what\": \"%s\", \"record_bytes\": %zu, \"parse_ns\": %.1f, \"read_and_parse_ns\": %.1f, "
                "\"million_a_second\": %.3f}\n",
                name, bytes.size(), 1e9 * parse, 1e9 * all / f.records, 1e-6 * f.records / all);
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--megabytes") s.megabytes = bench::number<std::size_t>(name, value, 1, 100'000);
        else if (name == "--rounds") s.rounds = bench::number(name, value, 1, 1000);
        else if (name == "--folder") s.folder = value;
        else if (name == "--threads") bench::number(name, value, 1, 1);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] {
        for (const std::size_t bytes : {8u, 128u, 1024u, 8192u, 1u << 20}) of_crc(bytes);
        of_files(s, "records", 100'000);
        of_files(s, "small_records", 800);
        tfrecord::example picture, numbers;
        picture.text("image", some_bytes(784)).integers("label", {3});
        std::vector<float> x(32, 0.5f);
        std::vector<std::int64_t> ids(16);
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * i * 100);
        numbers.floats("x", x).integers("ids", ids).integers("label", {3});
        std::byte image[784];
        std::int64_t label[1];
        of_examples(s, "examples_of_pictures", picture, [&](const tfrecord::example_view& e) {
            const auto bytes = e.at("image").bytes();
            if (bytes.size() == sizeof image) std::memcpy(image, bytes.data(), sizeof image);
            e.at("label").integers(label);
            asm volatile("" : : "r"(image), "r"(label) : "memory");
        });
        of_examples(s, "examples_of_numbers", numbers, [&](const tfrecord::example_view& e) {
            e.at("x").floats(x);
            e.at("ids").integers(ids);
            e.at("label").integers(label);
            asm volatile("" : : "r"(x.data()), "r"(ids.data()), "r"(label) : "memory");
        });
        return 0;
    });
}
