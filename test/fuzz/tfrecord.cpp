// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of TFRecord files, their indices, and Examples
// libFuzzer target: any bytes, plain, gzip or zlib, are refused with format_error or read as records; written again
// they are the same records. CRCs are made right as well, for no mutation would get beyond them.
#include "message.hpp"
#include <sinter/io/tfrecord/index.hpp>
#include <sinter/io/tfrecord/reader.hpp>
#include <sinter/io/tfrecord/writer.hpp>

using namespace sinter;

static void require(bool holds) {
    if (!holds) std::abort();
}
static span<const std::byte> bytes_of(const std::vector<std::byte>& b) { return {b.data(), b.size()}; }

static void read(span<const std::byte> bytes, tfrecord::reader_options options) {
    std::vector<std::vector<std::byte>> records;
    options.most_record_bytes = 1 << 20;
    options.most_unpacked_bytes = 1 << 22;
    io::memory_source source(bytes, "fuzz");
    try {
        tfrecord::reader r(source, options);
        for (;;) {
            try {
                if (!r.next()) break;
                require(r.next_byte() == r.byte() + tfrecord::frame_bytes + r.record().size());
                records.emplace_back(r.record().begin(), r.record().end());
            } catch (const format_error& e) {
                must_be_fit(e);
            }
        }
        require(!r.next());
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    std::vector<std::byte> again;
    const auto append = [&](span<const std::byte> b) { again.insert(again.end(), b.begin(), b.end()); };
    tfrecord::writer w(append, {.index = true});
    for (const auto& r : records) w.add(bytes_of(r));
    w.finish();
    io::memory_source second(bytes_of(again), "again");
    tfrecord::reader r(second);
    for (const auto& was : records) {
        require(r.next() && r.record().size() == was.size());
        require(was.empty() || std::memcmp(r.record().data(), was.data(), was.size()) == 0);
    }
    require(!r.next());
    const tfrecord::record_index index = tfrecord::parse_index(w.index(), again.size(), "again.idx");
    require(index.size() == records.size() && tfrecord::index_text(index) == w.index());
}
static void mend_crcs(std::vector<std::byte>& bytes) {
    for (std::size_t at = 0; at + tfrecord::head_bytes <= bytes.size();) {
        std::byte* const head = bytes.data() + at;
        const auto n = tfrecord::detail::little<std::uint64_t>(head);
        tfrecord::detail::put_little(head + 8, base::masked_crc32c({head, 8}));
        if (n > bytes.size() - at || n + tfrecord::frame_bytes > bytes.size() - at) return;
        std::byte* const data = head + tfrecord::head_bytes;
        tfrecord::detail::put_little(data + n, base::masked_crc32c({data, static_cast<std::size_t>(n)}));
        at += tfrecord::frame_bytes + static_cast<std::size_t>(n);
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (size > 0) std::memcpy(bytes.data(), data, size);
    read(bytes_of(bytes), {.buffer_bytes = 4096});
    try {   // as an index of a file of a kilobyte
        tfrecord::parse_index({reinterpret_cast<const char*>(data), size}, 1024, "fuzz.idx");
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    mend_crcs(bytes);
    read(bytes_of(bytes), {.packed = tfrecord::compression::none, .buffer_bytes = 4096});
    return 0;
}
