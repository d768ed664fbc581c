// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/data/element_bytes.hpp>
#include <sinter/data/stages/element_file.hpp>
#include <sinter/data/stages/slots.hpp>
#include <sinter/data/stages/stage.hpp>
#include <memory>
#include <utility>

/// Elements that are computed once.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

/// Where a pipeline keeps elements. get(state, i, compute) gives element i, which compute() makes where it is not there
/// yet; end() is how many there are in all, below 0 as long as nobody knows.
template <class T>
class memory_of_elements {
public:
    static constexpr const char* name = "cache";
    struct state {};
    explicit memory_of_elements(std::int64_t elements) : end_(elements < 0 ? -1 : elements) {}
    bool has(std::int64_t i) const { return all_.find(i) != nullptr; }
    template <class F>
    const T& get(state&, std::int64_t i, F compute) {
        const T* const there = all_.find(i);
        return there ? *there : all_.put(i, T(compute()));
    }
    std::int64_t end() const { return end_.load(std::memory_order_relaxed); }
    void set_end(std::int64_t n) { end_.store(n, std::memory_order_relaxed); }

private:
    slots<T> all_;
    std::atomic<std::int64_t> end_;
};

/// In files: File is element_file, or has its functions.
template <class T, class File>
class files_of_elements {
public:
    static constexpr const char* name = File::stage_name;
    struct state {
        typename File::buffer read;
        std::string written;
    };
    template <class... Arguments>
    explicit files_of_elements(Arguments&&... a) : file_(std::forward<Arguments>(a)...) {}
    bool has(std::int64_t i) const { return file_.has(i); }
    template <class F>
    T get(state& s, std::int64_t i, F compute) {
        if (span<const std::byte> bytes; file_.read(i, s.read, bytes)) {
            T e{};
            if (!data::read_bytes(bytes, e)) file_.refuse(i);
            return e;
        }
        T e(compute());
        s.written.clear();
        data::append_bytes(s.written, e);
        file_.add(i, s.written);
        return e;
    }
    std::int64_t end() const { return file_.end(); }
    void set_end(std::int64_t n) { file_.set_end(n); }

private:
    File file_;
};

/// What made the elements, and how they lie in files: elements of other stages are never taken for these.
template <element_stage Up>
SINTER_COLD std::string made_of(const Up& up, const char* stage) {
    description d;
    d.of("elements kept");
    up.describe(d);
    d.stage(stage)("elements", up.size())("elements are", bytes_layout<typename Up::value_type>());
    return d.lasting_text();
}

} // namespace stage_parts

/// Of an indexed stage: elements come in any order.
template <element_stage Up, class Store>
class cached_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        typename Up::state up{};
        typename Store::state kept{};
    };

    cached_stage(Up up, std::shared_ptr<Store> store) : up_(std::move(up)), store_(std::move(store)) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t) const { up_.begin(s.up, 0); }
    decltype(auto) get(state& s, std::int64_t i) const {
        return store_->get(s.kept, i, [&]() -> decltype(auto) { return up_.get(s.up, i); });
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const {
        if (!store_->has(i)) up_.prefetch(s.up, i);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage(Store::name);
    }

private:
    Up up_;
    std::shared_ptr<Store> store_;
};

/// Of a stream: what comes before is read for elements that are not there. A cursor stands before element `i`; where
/// the elements before it were there, its cursor of what comes before has stayed at element `up_place`.
template <stream_stage Up, class Store>
class cached_stage<Up, Store> {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        typename Up::state up{};
        typename Store::state kept{};
    };
    struct cursor {
        typename Up::cursor up{};
        std::int64_t up_place = 0, i = 0;
    };
    struct ticket {
        typename Up::ticket up{};
        std::int64_t i = 0;
    };

    cached_stage(Up up, std::shared_ptr<Store> store) : up_(std::move(up)), store_(std::move(store)) {}
    std::int64_t size() const { return up_.size(); }
    bool fits(const cursor& c) const {
        return c.up_place >= 0 && c.i >= c.up_place && stage_parts::fits(up_, c.up);
    }
    void begin(state& s, std::int64_t) const { up_.begin(s.up, 0); }
    bool next(state& s, cursor& c, ticket& k) const {
        if (const std::int64_t n = store_->end(); n >= 0 && c.i >= n) return false;
        if (!store_->has(c.i)) {
            for (; c.up_place < c.i; ++c.up_place)
                if (!up_.next(s.up, c.up, k.up)) return false;
            if (!up_.next(s.up, c.up, k.up)) {
                store_->set_end(c.i);
                return false;
            }
            ++c.up_place;
        }
        k.i = c.i++;
        return true;
    }
    decltype(auto) get(state& s, ticket& k) const {
        return store_->get(s.kept, k.i, [&]() -> decltype(auto) { return up_.get(s.up, k.up); });
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage(Store::name);
    }

private:
    Up up_;
    std::shared_ptr<Store> store_;
};

struct cache_step {};
struct cache_file_step {
    std::string file;
};

/// Keeps each element in memory when it is computed first, and gives it from there in all further passes. They come in
/// any order, and from any number of threads; a pass that is broken off has filled what it has read.
///
/// What is kept are the elements of pass 0: what comes before is read as if each pass were the first. So random numbers
/// before it are the same in all passes, and shuffle() belongs behind it.
///
/// Memory: the elements, and a block of up to 64 KB where few of them are there. A reader that goes on in a pass where
/// nothing is kept yet, as another process does, reads what comes before from its own place: in a later pass of a
/// stream from the beginning, where elements are passed over and not computed. option_error where a pass has no end.
constexpr cache_step cache() { return {}; }

/// The same in a file, which further runs of the program read: elements that are there are never computed again. The
/// file is valid whenever it is looked at, whether all elements are in it or some: a program that is killed leaves what
/// it has added, and the next one goes on. Elements are checked by CRC-32C when they are read.
///
///     auto train = data::csv::rows<passenger>("adult.csv") | data::map(slow) | data::cache("adult.cache")
///                | data::shuffle() | data::batch(64);
///
/// The file knows what comes before it, stage by stage. Where that has changed it is a mismatch_error that names the
/// stage, what is there now and what was saved. A changed lambda is not seen, and neither is a file that has other
/// contents of the same length: then the cache is removed by hand. A function object's type is seen.
///
/// Of several processes with one file, one adds to it; the others take what it has added, and compute the rest for
/// themselves. io_error where the file cannot be written, or its file system knows no locks; format_error where it is
/// damaged (element_file.hpp says what is). Memory: 64 bytes an element that is there, and for each thread the largest
/// one.
inline cache_file_step cache(std::string file) { return {std::move(file)}; }

namespace stage_parts {

SINTER_SELDOM SINTER_COLD void need_end_of_pass(std::int64_t size, const char* stage);

/// The element_file of cache(file).
class cache_file : public element_file {
public:
    static constexpr const char* stage_name = "cache";
    using element_file::element_file;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void need_end_of_pass(std::int64_t size, const char* stage) {
    if (size == endless)
        throw option_error("it keeps all elements of a pass", stage, "a pass without end", "take(n) before it");
}
#endif

} // namespace stage_parts

template <element_stage Up>
auto operator|(Up up, cache_step) {
    using store = stage_parts::memory_of_elements<typename Up::value_type>;
    stage_parts::need_end_of_pass(up.size(), "cache");
    auto kept = std::make_shared<store>(up.size());
    return cached_stage<Up, store>(std::move(up), std::move(kept));
}

template <element_stage Up>
auto operator|(Up up, cache_file_step s) {
    constexpr bool fits = has_bytes<typename Up::value_type>;
    static_assert(fits, "cache(file): needed are elements that can be written as bytes: numbers, texts, arrays, "
                        "pixels, vectors, and structs and tuples of these");
    if constexpr (fits) {
        using store = stage_parts::files_of_elements<typename Up::value_type, stage_parts::cache_file>;
        stage_parts::need_end_of_pass(up.size(), "cache");
        auto kept = std::make_shared<store>(std::move(s.file), stage_parts::made_of(up, "cache"), up.size());
        return cached_stage<Up, store>(std::move(up), std::move(kept));
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
