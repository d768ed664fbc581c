// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/printable.hpp>

#include <cstdint>
#include <vector>
#if SINTER_BODIES
#include <algorithm>
#include <cstring>
#endif

/// The table of contents of a zip archive (PKWARE's APPNOTE.TXT 6.3), as far as .npz files use it:
/// members stored or deflated, one disk, no encryption. Archives of 4 GiB and more (zip64) are
/// refused by name; that NumPy writes zip64's extra field into the headers of small members, too,
/// does not matter, as lengths are read from the table at the end.
namespace sinter::inline SINTER_ORDINARY::npz {

enum class method : std::uint16_t { stored = 0, deflated = 8 };

struct member {
    std::string name;
    npz::method how = method::stored;
    std::uint32_t crc = 0;
    std::uint64_t size = 0;   ///< when it is unpacked
    span<const std::byte> packed;
};

/// The members of the archive `bytes`; their `packed` point into it. Throws format_error that names
/// `file`.
SINTER_APART std::vector<member> read_directory(span<const std::byte> bytes, const std::string& file);

#if SINTER_BODIES
namespace detail {
inline constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50;

inline constexpr std::size_t local_bytes = 30, central_bytes = 46, end_bytes = 22;

inline std::uint32_t little_endian(span<const std::byte> bytes, std::size_t at, std::size_t n) {
    std::uint32_t value = 0;
    while (n-- > 0) value = value << 8 | std::to_integer<std::uint32_t>(bytes[at + n]);
    return value;
}

inline std::uint32_t u16(span<const std::byte> bytes, std::size_t at) { return little_endian(bytes, at, 2); }

inline std::uint32_t u32(span<const std::byte> bytes, std::size_t at) { return little_endian(bytes, at, 4); }

class directory_reader {
public:
    directory_reader(span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

    std::vector<member> read() {
        const std::size_t end = find_end();
        const std::uint32_t here = u16(bytes_, end + 8), count = u16(bytes_, end + 10);
        const std::uint64_t size = u32(bytes_, end + 12), begin = u32(bytes_, end + 16);
        if (count == 0xffff || size == 0xffffffff || begin == 0xffffffff) refuse_zip64("the end of the table");
        if (u16(bytes_, end + 4) != 0 || u16(bytes_, end + 6) != 0 || here != count)
            throw format_error("archive is spread over several disks", file_, {}, "one file");
        if (begin + size != end)
            throw format_error("table of contents does not end where it should", file_,
                               "bytes " + std::to_string(begin) + " to " + std::to_string(begin + size),
                               "an end at " + std::to_string(end));
        directory_ = static_cast<std::size_t>(begin);
        std::size_t at = directory_;
        for (std::uint32_t i = 0; i < count; ++i) at = read_entry(at, end);
        if (at != end)
            throw format_error("table of contents has another length than its entries", file_,
                               std::to_string(at - directory_) + " bytes", std::to_string(size));
        check_places();
        return std::move(members_);
    }

private:
    span<const std::byte> bytes_;
    const std::string& file_;
    std::size_t directory_ = 0;
    std::vector<member> members_;
    struct place {
        std::size_t begin, end, member;
    };
    std::vector<place> places_;

    [[noreturn]] void refuse_zip64(const std::string& what) const {
        throw format_error("archive is in the zip64 format", file_ + ", " + what, {},
                           "archive and members below 4 GiB");
    }
    /// The last record that says how long a comment follows it, and is right.
    std::size_t find_end() const {
        constexpr std::size_t longest_comment = 0xffff;
        if (bytes_.size() >= end_bytes)
            for (std::size_t comment = 0; comment <= longest_comment && comment + end_bytes <= bytes_.size(); ++comment)
                if (const std::size_t at = bytes_.size() - end_bytes - comment;
                    u32(bytes_, at) == end_signature && u16(bytes_, at + 20) == comment)
                    return at;
        throw format_error("not a zip archive", file_,
                           std::to_string(bytes_.size()) + " bytes without the end of a table of contents",
                           "an archive that is whole");
    }
    std::string text(std::size_t at, std::size_t n) const {
        return {reinterpret_cast<const char*>(bytes_.data() + at), n};
    }

    std::size_t read_entry(std::size_t at, std::size_t end) {
        const std::string where = file_ + ", entry " + std::to_string(members_.size()) + " of the table of contents";
        if (end - at < central_bytes || u32(bytes_, at) != central_signature)
            throw format_error("entry is not one", where, "other bytes at " + std::to_string(at), "PK\\1\\2");
        const std::size_t name_bytes = u16(bytes_, at + 28), others = u16(bytes_, at + 30) + u16(bytes_, at + 32);
        const std::size_t next = at + central_bytes + name_bytes + others;
        if (next > end)
            throw format_error("entry is longer than the table", where, std::to_string(next), std::to_string(end));
        member m;
        m.name = text(at + central_bytes, name_bytes);
        const std::string name = "member " + io::printable(m.name), place_of = file_ + ", " + name;
        const std::uint32_t how = u16(bytes_, at + 10), packed = u32(bytes_, at + 20), size = u32(bytes_, at + 24);
        const std::uint32_t offset = u32(bytes_, at + 42);
        if (packed == 0xffffffff || size == 0xffffffff || offset == 0xffffffff) refuse_zip64(name);
        if (u16(bytes_, at + 8) & 1) throw format_error("member is encrypted", place_of, {}, "a plain one");
        if (how != 0 && how != 8)
            throw format_error("member is packed by another method", place_of, std::to_string(how),
                               "0 (stored) or 8 (deflated)");
        m.how = static_cast<method>(how);
        m.crc = u32(bytes_, at + 16);
        m.size = size;
        if (m.how == method::stored && packed != size)
            throw format_error("stored member has two lengths", place_of, std::to_string(packed), std::to_string(size));
        const std::size_t begin = begin_of(offset, m, how);
        if (packed > directory_ - begin)
            throw format_error("member reaches beyond its archive", place_of, std::to_string(packed) + " bytes",
                               "at most " + std::to_string(directory_ - begin));
        m.packed = bytes_.subspan(begin, packed);
        places_.push_back({offset, begin + packed, members_.size()});
        members_.push_back(std::move(m));
        return next;
    }
    /// Where a member's bytes begin: after its own header, whose lengths need not be the table's.
    std::size_t begin_of(std::size_t at, const member& m, std::uint32_t how) const {
        const std::string where = file_ + ", member " + io::printable(m.name);
        if (at > directory_ || directory_ - at < local_bytes || u32(bytes_, at) != local_signature)
            throw format_error("member has no header", where, "other bytes at " + std::to_string(at), "PK\\3\\4");
        const std::size_t name_bytes = u16(bytes_, at + 26),
                          begin = at + local_bytes + name_bytes + u16(bytes_, at + 28);
        if (begin > directory_) throw format_error("member's header is longer than its archive", where);
        const std::string name = text(at + local_bytes, name_bytes);
        if (u16(bytes_, at + 8) != how || name != m.name)
            throw format_error("member's header differs from the table of contents", where, io::printable(name),
                               "the same name and method");
        return begin;
    }
    /// Members must not share bytes: that is how small archives are made to unpack to huge ones.
    void check_places() {
        std::sort(places_.begin(), places_.end(), [](const place& a, const place& b) { return a.begin < b.begin; });
        for (std::size_t i = 1; i < places_.size(); ++i)
            if (places_[i].begin < places_[i - 1].end)
                throw format_error("members overlap", file_, io::printable(members_[places_[i].member].name),
                                   "a place after " + io::printable(members_[places_[i - 1].member].name));
    }
};
} // namespace detail

SINTER_APART std::vector<member> read_directory(span<const std::byte> bytes, const std::string& file) {
    return detail::directory_reader(bytes, file).read();
}
#endif

} // namespace sinter::npz
