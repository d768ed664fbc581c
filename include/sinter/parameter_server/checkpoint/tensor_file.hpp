// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/safetensors/read_header.hpp>
#include <sinter/io/file.hpp>
#include <sinter/base/checksum.hpp>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A safetensors file that is read in pieces, for one that need not fit in memory. Its file must
/// not change meanwhile. Throws io_error and format_error.
class tensor_file {
public:
    SINTER_COLD explicit tensor_file(std::string path) : path_(std::move(path)) {
        io::opened_file file = io::open_regular_file(path_);
        fd_ = std::move(file.fd);
        const std::uint64_t size = file.size;
        safetensors::check_has_length(size, path_);
        std::byte length[safetensors::length_bytes];
        read_at(0, length, sizeof length);
        const std::uint64_t n = safetensors::header_length({length, sizeof length}, size, path_);
        std::string json(static_cast<std::size_t>(n), ' ');
        read_at(sizeof length, json.data(), json.size());
        data_ = sizeof length + n;
        header_ = safetensors::read_header(json, size - data_, path_);
    }

    const std::string& path() const { return path_; }
    const safetensors::metadata_map& metadata() const { return header_.metadata; }
    /// Null: there is none of that name.
    SINTER_COLD const safetensors::tensor_place* find(std::string_view name) const {
        for (const safetensors::tensor_place& p : header_.places)
            if (p.name == name) return &p;
        return nullptr;
    }
    /// mismatch_error where there is none of that name, type and shape.
    SINTER_COLD const safetensors::tensor_place& need(std::string_view name, safetensors::dtype type,
                                                      const std::vector<std::int64_t>& shape) const {
        const safetensors::tensor_place* const p = find(name);
        const std::string needed = safetensors::describe(type, shape);
        if (!p) throw mismatch_error("no such tensor", to_text({path_, ", ", io::printable(name)}), "none", needed);
        if (p->type != type || p->shape != shape)
            throw mismatch_error("another tensor than is needed", to_text({path_, ", ", io::printable(name)}),
                                 safetensors::describe(p->type, p->shape), needed);
        return *p;
    }
    /// `bytes` of a tensor's data, from byte `first` on.
    SINTER_COLD void read(const safetensors::tensor_place& p, std::uint64_t first, void* to, std::size_t bytes) const {
        read_at(data_ + p.begin + first, to, bytes);
    }
    template <class T>
    SINTER_COLD std::vector<T> all(const safetensors::tensor_place& p) const {
        std::vector<T> x(static_cast<std::size_t>((p.end - p.begin) / sizeof(T)));
        read(p, 0, x.data(), x.size() * sizeof(T));
        return x;
    }

private:
    std::string path_;
    io::descriptor fd_;
    safetensors::header header_;
    std::uint64_t data_ = 0;

    SINTER_COLD void read_at(std::uint64_t at, void* to, std::size_t bytes) const {
        for (char* p = static_cast<char*>(to); bytes > 0;) {
            const auto n = io::uninterrupted([&] {
                return ::pread(fd_.get(), p, std::min(bytes, io::largest_transfer), static_cast<off_t>(at));
            });
            if (n < 0) io::throw_io_error(errno, "cannot read", path_, to_text({"bytes from ", at, " on"}));
            if (n == 0) throw io_error("file became shorter while it was read", path_);
            p += n;
            at += static_cast<std::uint64_t>(n);
            bytes -= static_cast<std::size_t>(n);
        }
    }
};

/// The checksum of a whole file, read in pieces. Throws io_error where it cannot be read.
SINTER_COLD inline std::uint64_t checksum_of_file(const std::string& path) {
    io::input_file in(path);
    std::vector<std::byte> piece(std::size_t{1} << 20);
    base::checksum sum;
    while (const std::size_t n = in.read_some({piece.data(), piece.size()})) sum.update({piece.data(), n});
    return sum.value();
}

} // namespace sinter::parameter_servers
