// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/random_access_file.hpp>
#include <sinter/io/safetensors/read.hpp>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::safetensors {

/// The contents of a file that need not fit in memory. Tensors whose names is_large(name) says are
/// left there (tensor_view::left); a tensor_reader reads them. Throws what read() throws.
SINTER_SELDOM SINTER_COLD file open(const std::string& path, base::function_ref<bool(std::string_view)> is_large);

/// Reads a tensor's bytes, wherever they are. It lasts as long as these do: those of a tensor that
/// was left in its file by itself, others as tensor_view::data.
class tensor_reader {
public:
    tensor_reader() = default;
    tensor_reader(const contents& all, const tensor_view& t)
        : here_(t.data), there_(t.left ? all.left_in : nullptr), begin_(t.begin),
          size_(t.left ? t.bytes : t.data.size()) {}
    std::uint64_t size() const { return size_; }
    /// Fills `to` with the bytes from `at` on; at + to.size() is at most size(). Throws io_error.
    SINTER_SELDOM void read(std::uint64_t at, span<std::byte> to);
    /// Number i of I64.
    SINTER_SELDOM std::int64_t number(std::size_t i);

private:
    span<const std::byte> here_;
    std::shared_ptr<io::random_access_file> there_;
    std::uint64_t begin_ = 0, size_ = 0;
    io::random_access_file::window window_;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY file open(const std::string& path, base::function_ref<bool(std::string_view)> is_large) {
    auto from = std::make_shared<io::random_access_file>(path);
    io::random_access_file::window w;
    const std::uint64_t size = from->size();
    check_has_length(size, path);
    std::vector<std::byte> start(static_cast<std::size_t>(std::min<std::uint64_t>(size, telling_bytes)));
    from->read(0, {start.data(), start.size()}, w);
    refuse_other_formats({reinterpret_cast<const char*>(start.data()), start.size()}, path, true);
    const std::uint64_t length = header_length({start.data(), length_bytes}, size, path);
    std::string json(static_cast<std::size_t>(length), '\0');
    from->read(length_bytes, as_writable_bytes(json), w);
    const std::uint64_t data = length_bytes + length;
    header head = read_header(json, size - data, path);

    std::uint64_t here = 0;   // bytes of what is read into memory, each on a cache line
    constexpr std::uint64_t line = 64;
    const auto padded = [](const tensor_place& p) { return (p.end - p.begin + line - 1) / line * line; };
    for (const tensor_place& p : head.places)
        if (!is_large(p.name)) here += padded(p);
    io::byte_buffer bytes(here, path);
    file out{contents{path, std::move(head.metadata), {}, from}, std::move(bytes)};
    here = 0;
    for (tensor_place& p : head.places) {
        tensor_view t{p.name, p.type, std::move(p.shape), {}};
        if (is_large(p.name)) {
            t.left = true, t.begin = data + p.begin, t.bytes = p.end - p.begin;
        } else {
            const auto to = out.bytes.span().subspan(static_cast<std::size_t>(here),
                                                     static_cast<std::size_t>(p.end - p.begin));
            from->read(data + p.begin, to, w);
            t.data = to;
            here += padded(p);
        }
        out.tensors.emplace(std::move(p.name), std::move(t));
    }
    return out;
}

SINTER_SELDOM_BODY void tensor_reader::read(std::uint64_t at, span<std::byte> to) {
    if (there_) there_->read(begin_ + at, to, window_);
    else if (!to.empty()) std::memcpy(to.data(), here_.data() + at, to.size());
}

SINTER_SELDOM_BODY std::int64_t tensor_reader::number(std::size_t i) {
    std::int64_t n = 0;
    read(std::uint64_t{8} * i, {reinterpret_cast<std::byte*>(&n), sizeof n});
    return n;
}
#endif

} // namespace sinter::safetensors
