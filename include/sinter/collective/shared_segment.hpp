// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/processors.hpp>
#include <atomic>
#include <climits>
#include <fcntl.h>
#include <linux/futex.h>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/patience.hpp>
#include <sinter/collective/element.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Memory that several processes of one machine have in common. It has no name in any folder, so
/// nothing is left behind, however they end: the others open it through the process that made it.
class shared_segment {
public:
    shared_segment() = default;
    /// A new one of so many zeros.
    static shared_segment make(std::size_t bytes) {
        shared_segment s;
        s.file_ = io::descriptor(::memfd_create("sinter", MFD_CLOEXEC));
        if (!s.file_) io::throw_io_error(errno, "cannot make shared memory", "memfd_create");
        // Reserved now: writing where there is no memory left would end the process by a signal.
        if (const int fault = ::posix_fallocate(s.file_.get(), 0, static_cast<off_t>(bytes)); fault != 0)
            io::throw_io_error(fault, "cannot reserve shared memory", std::to_string(bytes) + " bytes");
        s.map(bytes, "memfd");
        return s;
    }
    /// Where others open it, while this object is there: another process's path() is theirs.
    std::string path() const { return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.get()); }
    static shared_segment open(const std::string& path, std::size_t bytes) {
        shared_segment s;
        s.file_ = io::descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
        if (!s.file_) io::throw_io_error(errno, "cannot open shared memory", path);
        struct stat status {};
        if (::fstat(s.file_.get(), &status) != 0 || status.st_size != static_cast<off_t>(bytes))
            throw device_error("this is not the shared memory that was meant", path,
                               std::to_string(status.st_size) + " bytes", std::to_string(bytes));
        s.map(bytes, path);
        return s;
    }
    /// All have it: nobody else will open it.
    void close_file() { file_.close(); }

    shared_segment(shared_segment&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), file_(std::move(other.file_)) {}
    shared_segment& operator=(shared_segment&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(file_, other.file_);
        return *this;
    }
    ~shared_segment() {
        if (data_) ::munmap(data_, bytes_);
    }
    std::byte* data() const { return static_cast<std::byte*>(data_); }
    std::size_t size() const { return bytes_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
    io::descriptor file_;

    void map(std::size_t bytes, const std::string& path) {
        void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
        if (at == MAP_FAILED) io::throw_io_error(errno, "cannot map shared memory", path);
        data_ = at;
        bytes_ = bytes;
    }
};

/// A number in shared memory that one process raises and others wait for.
struct alignas(64) shared_counter {
    std::atomic<std::uint32_t> value;
    std::atomic<std::uint32_t> sleepers;

    static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

    void raise_to(std::uint32_t to) {
        value.store(to);   // both are sequentially consistent: either this sees who sleeps,
        if (sleepers.load() != 0) futex(FUTEX_WAKE, INT_MAX, nullptr);
    }
    /// Until it is `least` or more (numbers wrap). False: `within` seconds are over.
    bool reaches(std::uint32_t least, bool may_spin, double within) {
        const auto there = [&] {
            return static_cast<std::int32_t>(value.load(std::memory_order_acquire) - least) >= 0;
        };
        if (there()) return true;
        if (may_spin)
            for (const double until = monotonic_seconds() + spin_seconds; monotonic_seconds() < until;)
                for (int i = 0; i < 32; ++i) {
                    if (there()) return true;
                    relax();
                }
        else
            for (int i = 0; i < 20; ++i) {   // whoever is waited for may need this core
                base::yield_core();
                if (there()) return true;
            }
        const double until = monotonic_seconds() + within;
        while (true) {
            sleepers.fetch_add(1);
            const std::uint32_t now = value.load();   // or this sees the new number
            bool done = static_cast<std::int32_t>(now - least) >= 0;
            if (!done) futex(FUTEX_WAIT, now, &patience_of_a_sleep);
            sleepers.fetch_sub(1);
            done = done || there();
            if (done) return true;
            if (monotonic_seconds() > until) return false;
        }
    }

private:
    static constexpr double spin_seconds = 100e-6;
    static constexpr timespec patience_of_a_sleep{0, 20'000'000};
    void futex(int what, std::uint32_t n, const timespec* timeout) {
        ::syscall(SYS_futex, &value, what, n, timeout, nullptr, 0);
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
