// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/mutex.hpp>
#include <sinter/base/os/descriptor.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/description.hpp>
#include <sinter/base/os/advisory_lock.hpp>
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/fork.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/make_folders.hpp>
#include <sinter/io/tfrecord/frame.hpp>
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// A file of numbered elements, to which those are added that it has not, in any order. Any number of threads may use
/// it at the same time.
///
/// It is a TFRecord file (io/tfrecord/place.hpp). The first record says what made the elements. Each further one is an
/// element: its number (8 bytes, lowest first) and its bytes. One whose number has its highest bit set has no element,
/// and says how many there are in all.
///
/// What was added stays when the process is killed. A record that the file's end cuts, or of which nothing but zeros
/// came to the disk in a power cut, was never added: the next writer cuts it off. Any other record that does not hold
/// its CRCs is a format_error. One process writes at a time, the one that has the file's lock. The others read, see
/// what it adds, and follow it when it ends. A child that is made by fork() only reads, too.
///
/// When it is opened it is read through, but for elements of 4 KB and more. Memory: about 64 bytes for each element
/// that is there.
class element_file {
public:
    enum class use { add, only_read };
    /// Memory of one thread for what it reads.
    class buffer {
        friend element_file;
        std::vector<std::byte> bytes_;
    };

    /// Makes the file where it is not there, and folders. One that may only be read is only read. io_error where the
    /// system refuses, also where it has no locks; format_error for a file that is no such one, or is damaged;
    /// mismatch_error where it was made of something else: `made_of` is a description's text (base/description.hpp).
    /// There are `elements` of them; below 0: nobody knows.
    SINTER_APART element_file(std::string path, std::string made_of, std::int64_t elements, use u = use::add);
    element_file(const element_file&) = delete;
    element_file& operator=(const element_file&) = delete;

    const std::string& path() const { return path_; }
    bool has(std::int64_t i) const {
        base::mutex_lock hold(guard_);
        return records_.find(i) != records_.end();
    }
    /// How many different elements are there.
    std::int64_t count() const {
        base::mutex_lock hold(guard_);
        return static_cast<std::int64_t>(records_.size());
    }
    /// How many there are in all; below 0: that is not known yet.
    std::int64_t end() const { return end_.load(std::memory_order_relaxed); }
    /// Finds element i, also if another process has added it. False: it is not there. `bytes` lie in `b`. io_error and
    /// format_error, which name the byte.
    SINTER_APART bool read(std::int64_t i, buffer& b, span<const std::byte>& bytes);
    /// Adds it, if this process is the one that may and it is not there: true. io_error where the disk is full.
    SINTER_APART bool add(std::int64_t i, std::string_view bytes);
    SINTER_APART void set_end(std::int64_t n);
    /// Returns when all is on the disk itself.
    SINTER_APART void sync() const;
    /// format_error: the bytes of element i are not those of an element.
    [[noreturn]] SINTER_APART SINTER_COLD void refuse(std::int64_t i) const;

private:
    struct extent {
        std::uint64_t byte, bytes;   // of the record's own, without its length and CRCs
    };
    static constexpr std::string_view magic = "Sinter's elements 1\n";
    static constexpr std::uint64_t is_end = std::uint64_t{1} << 63;
    static constexpr std::size_t number_bytes = 8;

    std::string path_, made_of_;
    std::int64_t elements_;
    use use_;
    unsigned forks_ = 0;   ///< that it was made under
    base::descriptor file_;
    mutable base::mutex guard_;
    std::unordered_map<std::int64_t, extent> records_ SINTER_GUARDED_BY(guard_);
    std::uint64_t known_ SINTER_GUARDED_BY(guard_) = 0;   ///< bytes of whole records; 0: not even the first
    std::atomic<bool> writes_{false};
    std::atomic<std::int64_t> end_{-1};

    SINTER_APART void look() SINTER_REQUIRES(guard_);
    SINTER_APART bool read_first() SINTER_REQUIRES(guard_);
    SINTER_APART void read_on(bool others_write) SINTER_REQUIRES(guard_);
    SINTER_APART bool only_zeros(std::uint64_t from, std::uint64_t to) const;
    SINTER_APART std::size_t read_at(std::uint64_t at, span<std::byte> to) const;
    SINTER_APART void write_record(const std::string& record) SINTER_REQUIRES(guard_);
    SINTER_APART std::uint64_t bytes_now() const;
    bool may_write() const;
    SINTER_APART static std::string framed(std::string_view front, std::string_view bytes);
    SINTER_APART static std::string number_text(std::uint64_t n);
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART element_file::element_file(std::string path, std::string made_of, std::int64_t elements,
                                                    use u)
    : path_(std::move(path)), made_of_(std::move(made_of)), elements_(elements), use_(u),
      forks_(base::forks::so_far()), end_(elements < 0 ? -1 : elements) {
    io::need_whole_path(path_);
    if (use_ == use::add) {
        io::make_folders_above(path_);
        file_ = base::os::open_to_change(path_, base::os::opening::made);
        if (!file_ && (errno == EACCES || errno == EROFS)) use_ = use::only_read;
        else if (!file_) io::throw_io_error(errno, "cannot open", path_);
    }
    if (!file_) file_ = io::open_regular_file(path_).fd;
    if (!base::os::status_of(file_.get()).is_regular())
        throw io_error("cannot keep elements", path_, "a folder, a device or a pipe", "a regular file");
    base::mutex_lock hold(guard_);
    look();
}

inline bool element_file::may_write() const {
    return writes_.load(std::memory_order_relaxed) && forks_ == base::forks::so_far();
}

SINTER_APART std::uint64_t element_file::bytes_now() const {
    const base::os::file_status s = base::os::status_of(file_.get());
    if (!s) io::throw_io_error(errno, "cannot ask for the size", path_);
    return s.bytes;
}

/// Learns what the file has by now; takes the lock where nobody else has it.
SINTER_APART void element_file::look() {
    bool fresh = false;
    if (use_ == use::add && !writes_.load(std::memory_order_relaxed) && forks_ == base::forks::so_far()) {
        fresh = base::os::try_lock(file_.get());
        if (!fresh && errno != EWOULDBLOCK) io::throw_io_error(errno, "cannot lock", path_);
    }
    if (known_ == 0 && !read_first()) {
        if (!fresh) return;
        if (bytes_now() > 0 && !base::os::set_length(file_.get(), 0))
            io::throw_io_error(errno, "cannot cut off a record that is not whole", path_);
        write_record(framed(magic, made_of_));
    }
    read_on(use_ == use::add && !fresh && !may_write());
    if (!fresh) return;
    if (bytes_now() > known_ && !base::os::set_length(file_.get(), known_))
        io::throw_io_error(errno, "cannot cut off a record that is not whole", path_);
    writes_.store(true, std::memory_order_relaxed);   // not before all of it is known to be right
}

SINTER_APART std::size_t element_file::read_at(std::uint64_t at, span<std::byte> to) const {
    const std::ptrdiff_t n = base::os::read_up_to_at(file_.get(), at, to);
    if (n < 0) io::throw_io_error(errno, "cannot read", path_, to_text({"bytes from ", at, " on"}));
    return static_cast<std::size_t>(n);
}

/// False: it is not whole. Then nothing was ever added.
SINTER_APART bool element_file::read_first() {
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    const std::uint64_t size = bytes_now();
    const auto no_such_file = [&](std::string_view got) {
        throw format_error("not a file of elements", path_, got, "one that a cache or a snapshot has made, or no file");
    };
    std::vector<std::byte> all(static_cast<std::size_t>(std::min<std::uint64_t>(size, tfrecord::frame_bytes + most)));
    all.resize(read_at(0, all));
    const auto text = [](span<const std::byte> bytes) {
        return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    if (const std::string mine = framed(magic, made_of_); all.size() < mine.size() && mine.starts_with(text(all)))
        return false;
    if (all.size() < tfrecord::head_bytes || !tfrecord::detail::head_holds(all.data())) no_such_file("other bytes");
    const auto n = tfrecord::detail::little<std::uint64_t>(all.data());
    if (n < magic.size() || n > most) no_such_file(to_text({"a first record of ", n, " bytes"}));
    const span<const std::byte> record = span<const std::byte>(all.data(), all.size()).subspan(tfrecord::head_bytes);
    if (!text(record).starts_with(magic)) no_such_file("another first record");
    if (record.size() < n + tfrecord::foot_bytes) return false;
    const span<const std::byte> data = record.first(static_cast<std::size_t>(n));
    const auto crc = tfrecord::detail::little<std::uint32_t>(data.end());
    if (base::masked_crc32c(data) != crc) tfrecord::detail::refuse_data({path_, 0, 0}, data, crc);
    const std::string_view saved = text(data).substr(magic.size());
    if (saved != made_of_)
        throw mismatch_error("other stages have made these elements", path_,
                             description::differences(made_of_, "this pipeline", saved, "the file"),
                             "the same stages as then, or another file");
    known_ = n + tfrecord::frame_bytes;
    return true;
}

SINTER_APART bool element_file::only_zeros(std::uint64_t from, std::uint64_t to) const {
    std::byte block[4096];
    while (from < to) {
        const std::size_t n =
            read_at(from, {block, static_cast<std::size_t>(std::min<std::uint64_t>(sizeof block, to - from))});
        if (std::any_of(block, block + n, [](std::byte b) { return b != std::byte{0}; })) return false;
        if (n == 0) break;
        from += n;
    }
    return true;
}

/// The records from known_ on, as far as they are whole. Their lengths and numbers are read, not their elements.
/// What another process is writing just now may be seen in part.
SINTER_APART void element_file::read_on(bool others_write) {
    constexpr std::size_t ahead = 1 << 16, least = tfrecord::frame_bytes + number_bytes;
    constexpr std::uint64_t large = 4096;   // such records are passed over, and not read
    const std::uint64_t size = bytes_now();
    std::vector<std::byte> block;
    std::uint64_t block_at = 0, before = 0;   // before: the last record's bytes
    for (std::uint64_t record = records_.size() + 1; known_ < size && size - known_ >= least; ++record) {
        if (known_ + least > block_at + block.size()) {
            block.resize(before < large ? ahead : least);
            block_at = known_;
            block.resize(read_at(block_at, block));
            if (block.size() < least) return;
        }
        const std::byte* const head = block.data() + (known_ - block_at);
        const tfrecord::place where{path_, known_, record};
        if (!tfrecord::detail::head_holds(head)) {
            if (others_write || only_zeros(known_, size)) return;
            tfrecord::detail::refuse_head(where, head);
        }
        const auto n = tfrecord::detail::little<std::uint64_t>(head);
        if (n > size - known_ - tfrecord::frame_bytes) return;
        const auto number = n < number_bytes ? 0 : tfrecord::detail::little<std::uint64_t>(head + tfrecord::head_bytes);
        const std::uint64_t last = elements_ < 0 ? is_end : static_cast<std::uint64_t>(elements_);
        const bool ends = (number & is_end) != 0;
        if (n < number_bytes || (ends ? n != number_bytes : number >= last)) {
            if (others_write) return;
            throw format_error("a record that is no element", where.text(),
                               to_text({n, " bytes, number ", number}), "8 bytes or more, and a number below theirs");
        }
        if (ends) {
            const span<const std::byte> data(head + tfrecord::head_bytes, number_bytes);
            const auto crc = tfrecord::detail::little<std::uint32_t>(data.end());
            if (base::masked_crc32c(data) != crc) tfrecord::detail::refuse_data(where, data, crc);
            if (elements_ < 0) end_.store(static_cast<std::int64_t>(number & ~is_end), std::memory_order_relaxed);
        } else {
            records_.emplace(static_cast<std::int64_t>(number), extent{known_, n});
        }
        known_ += n + tfrecord::frame_bytes;
        before = n;
    }
}

SINTER_APART bool element_file::read(std::int64_t i, buffer& b, span<const std::byte>& bytes) {
    extent at{};
    {
        const base::forks::delay whole;
        base::mutex_lock hold(guard_);
        auto found = records_.find(i);
        if (found == records_.end() && !may_write() && use_ == use::add) {
            look();
            found = records_.find(i);
        }
        if (found == records_.end()) return false;
        at = found->second;
    }
    const auto n = static_cast<std::size_t>(at.bytes + tfrecord::frame_bytes);
    if (b.bytes_.size() < n) b.bytes_.resize(n);
    const span<const std::byte> record(b.bytes_.data(), read_at(at.byte, {b.bytes_.data(), n}));
    const tfrecord::place where{path_, at.byte, static_cast<std::uint64_t>(i)};
    if (record.size() < n) tfrecord::detail::refuse_end(where, record.size(), n, ", as when it was found");
    if (!tfrecord::detail::head_holds(record.data())) tfrecord::detail::refuse_head(where, record.data());
    const span<const std::byte> data = record.subspan(tfrecord::head_bytes, n - tfrecord::frame_bytes);
    const auto crc = tfrecord::detail::little<std::uint32_t>(data.end());
    if (base::masked_crc32c(data) != crc) tfrecord::detail::refuse_data(where, data, crc);
    if (tfrecord::detail::little<std::uint64_t>(data.data()) != static_cast<std::uint64_t>(i)) refuse(i);
    bytes = data.subspan(number_bytes);
    return true;
}

SINTER_APART void element_file::refuse(std::int64_t i) const {
    base::mutex_lock hold(guard_);
    const auto found = records_.find(i);
    const std::uint64_t byte = found == records_.end() ? 0 : found->second.byte;
    throw format_error("a record that is no element", to_text({path_, ", byte ", byte, ", element ", i}),
                       "other bytes", "those of this element, as the first record says");
}

SINTER_APART std::string element_file::number_text(std::uint64_t n) {
    std::byte bytes[number_bytes];
    tfrecord::detail::put_little(bytes, n);
    return {reinterpret_cast<const char*>(bytes), number_bytes};
}

SINTER_APART std::string element_file::framed(std::string_view front, std::string_view bytes) {
    std::byte head[tfrecord::head_bytes], foot[tfrecord::foot_bytes];
    tfrecord::detail::put_little(head, static_cast<std::uint64_t>(front.size() + bytes.size()));
    tfrecord::detail::put_little(head + 8, base::masked_crc32c({head, 8}));
    tfrecord::detail::put_little(foot, base::mask_crc32c(base::crc32c(as_bytes(bytes),
                                                                      base::crc32c(as_bytes(front)))));
    return to_text({std::string_view(reinterpret_cast<const char*>(head), sizeof head), front, bytes,
                    std::string_view(reinterpret_cast<const char*>(foot), sizeof foot)});
}

/// Behind those that are known.
SINTER_APART void element_file::write_record(const std::string& record) {
    span<const std::byte> left = as_bytes(record);
    std::uint64_t at = known_;
    while (!left.empty()) {
        const std::ptrdiff_t n = base::os::write_some_at(file_.get(), at, left);
        if (n <= 0) {
            const int fault = n < 0 ? errno : ENOSPC;
            (void)base::os::set_length(file_.get(), known_);   // otherwise the next writer cuts it off
            io::throw_io_error(fault, "cannot write", path_, to_text({left.size(), " more bytes after ", at}));
        }
        left = left.subspan(static_cast<std::size_t>(n));
        at += static_cast<std::uint64_t>(n);
    }
    known_ = at;
}

SINTER_APART bool element_file::add(std::int64_t i, std::string_view bytes) {
    if (!may_write()) return false;
    const std::string record = framed(number_text(static_cast<std::uint64_t>(i)), bytes);
    const base::forks::delay whole;
    base::mutex_lock hold(guard_);
    if (records_.find(i) != records_.end()) return false;
    const std::uint64_t at = known_;
    write_record(record);
    records_.emplace(i, extent{at, record.size() - tfrecord::frame_bytes});
    return true;
}

SINTER_APART void element_file::set_end(std::int64_t n) {
    const base::forks::delay whole;
    base::mutex_lock hold(guard_);
    if (end() >= 0) return;
    if (may_write()) write_record(framed(number_text(static_cast<std::uint64_t>(n) | is_end), {}));
    end_.store(n, std::memory_order_relaxed);
}

SINTER_APART void element_file::sync() const {
    if (!base::os::sync(file_.get())) io::throw_io_error(errno, "cannot sync", path_);
}
#endif

} // namespace sinter::data::stage_parts
