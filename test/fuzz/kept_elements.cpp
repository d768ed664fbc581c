// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of elements' bytes and of caches' files
// libFuzzer target: bytes are those of an element, which gives them again, or refused; a cache of any bytes is refused
// with a typed error, or gives the right elements or such an error for each. CRCs are made right as well, for no
// mutation would get beyond them.
#include "message.hpp"
#include <sinter/data/stages/cache.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/io/tfrecord/writer.hpp>
#include <cstring>
#include <unistd.h>

using namespace sinter;

static void require(bool holds) {
    if (!holds) std::abort();
}

struct place {
    float x = 0;
    std::vector<std::uint16_t> y;
};
struct element {
    bool yes = false;
    std::string text;
    std::vector<place> places;
    std::vector<std::vector<std::string>> words;
    std::vector<bool> bits;
    std::array<std::vector<std::int64_t>, 2> numbers;
    data::extra<std::tuple<int, std::string>> beside;
};

static void as_element(span<const std::byte> bytes) {
    element e;
    if (!data::read_bytes(bytes, e)) return;
    std::string again;
    data::append_bytes(again, e);
    require(again.size() == bytes.size() && std::memcmp(again.data(), bytes.data(), again.size()) == 0);
}

static const std::string& file_name() {
    static const std::string name = [] {
        std::string path = "/tmp/sinter_fuzz_XXXXXX";
        const int file = ::mkstemp(path.data());
        require(file >= 0);
        ::close(file);
        std::atexit([] { ::unlink(file_name().c_str()); });
        return path;
    }();
    return name;
}
static void put(const std::string& bytes) {
    ::unlink(file_name().c_str());
    std::FILE* const file = std::fopen(file_name().c_str(), "wb");
    require(file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fclose(file) == 0);
}
static std::string text_of(std::int64_t i) { return std::string(static_cast<std::size_t>(i), 'x'); }
static auto stages() { return data::from(5, text_of) | data::cache(file_name()); }

/// What a cache of the stages begins with.
static const std::string& front() {
    static const std::string bytes = [] {
        ::unlink(file_name().c_str());
        const auto made = stages();
        std::string all(4096, '\0');
        std::FILE* const file = std::fopen(file_name().c_str(), "rb");
        require(file);
        all.resize(std::fread(all.data(), 1, all.size(), file));
        std::fclose(file);
        return all;
    }();
    return bytes;
}
static void as_file(const std::string& bytes) {
    put(bytes);
    try {
        const auto cached = stages();
        typename std::remove_const_t<decltype(cached)>::state s{};
        cached.begin(s, 0);
        for (std::int64_t i = 5; i-- > 0;) {
            try {
                // A record whose CRC holds may have another text; no CRC could tell.
                require(cached.get(s, i).size() <= bytes.size() + 5);
            } catch (const format_error& e) {
                must_be_fit(e);
            }
        }
    } catch (const format_error& e) {
        must_be_fit(e);
    } catch (const mismatch_error& e) {
        must_be_fit(e);
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 4) {
    case 0: as_element(as_bytes(text)); break;
    case 1: as_file(std::string(text)); break;
    case 2: as_file(front() + std::string(text)); break;
    default: {   // records: a length in one byte, then their bytes
        std::string records = data[0] & 4 ? front() : std::string();
        const auto append = [&](span<const std::byte> b) {
            records.append(reinterpret_cast<const char*>(b.data()), b.size());
        };
        tfrecord::writer w(append);
        for (std::string_view left = text; !left.empty();) {
            const auto n = static_cast<std::size_t>(static_cast<unsigned char>(left[0]) % 40);
            left.remove_prefix(1);
            w.add(left.substr(0, n));
            left.remove_prefix(n < left.size() ? n : left.size());
        }
        w.finish();
        as_file(records);
    }
    }
    return 0;
}
