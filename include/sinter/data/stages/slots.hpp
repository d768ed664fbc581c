// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/mutex.hpp>
#include <sinter/base/os/fork.hpp>
#include <sinter/base/target_namespace.hpp>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// Values of numbered places, 0 to any number. Each is put there once, in any order and by any number of threads, and
/// stays where it is. Memory: blocks of up to 64 KB, or of one value, each where one of its values is; and 8 bytes for
/// each block up to twice the largest number.
template <class T>
class slots {
public:
    slots() = default;
    slots(const slots&) = delete;
    slots& operator=(const slots&) = delete;
    ~slots() {
        for (std::size_t k = 0; k < levels_.size(); ++k) {
            std::atomic<block*>* const level = levels_[k].load(std::memory_order_relaxed);
            if (!level) continue;
            for (std::size_t b = 0; b < std::size_t{1} << k; ++b) delete level[b].load(std::memory_order_relaxed);
            delete[] level;
        }
    }

    /// Null: nothing is there yet.
    const T* find(std::int64_t i) const {
        const place at(i);
        const std::atomic<block*>* const level = levels_[at.level].load(std::memory_order_acquire);
        const block* const b = level ? level[at.block].load(std::memory_order_acquire) : nullptr;
        return b && b->there[at.slot].load(std::memory_order_acquire) ? &*b->values[at.slot] : nullptr;
    }
    /// What is at place i from now on: another thread's value where that was faster.
    const T& put(std::int64_t i, T&& v) {
        const base::forks::delay whole;
        const place at(i);
        block& b = block_at(at);
        base::mutex_lock hold(b.guard);
        std::optional<T>& value = b.values[at.slot];
        if (!b.there[at.slot].load(std::memory_order_relaxed)) {
            value.emplace(std::move(v));
            b.there[at.slot].store(true, std::memory_order_release);
        }
        return *value;
    }

private:
    static constexpr std::size_t in_block = sizeof(T) > 32768 ? 1 : sizeof(T) < 256 ? 256 : 65536 / sizeof(T);
    struct block {
        base::mutex guard;
        std::array<std::atomic<bool>, in_block> there{};
        std::array<std::optional<T>, in_block> values;
    };
    /// Level k has 2^k blocks: those of the levels before it are one less.
    struct place {
        std::size_t level, block, slot;
        explicit place(std::int64_t i) {
            const auto n = static_cast<std::size_t>(i);
            const std::size_t number = n / in_block + 1;
            level = static_cast<std::size_t>(std::bit_width(number)) - 1;
            block = number - (std::size_t{1} << level);
            slot = n % in_block;
        }
    };

    block& block_at(const place& at) {
        std::atomic<block*>* const level = made(levels_[at.level], [&] {
            return std::unique_ptr<std::atomic<block*>[]>(new std::atomic<block*>[std::size_t{1} << at.level]());
        });
        return *made(level[at.block], [] { return std::make_unique<block>(); });
    }
    /// What `at` points to; where that is nothing, what make() gives, unless another thread is faster.
    template <class P, class Make>
    static P* made(std::atomic<P*>& at, Make make) {
        P* there = at.load(std::memory_order_acquire);
        if (there) return there;
        auto mine = make();
        if (at.compare_exchange_strong(there, mine.get(), std::memory_order_acq_rel)) return mine.release();
        return there;
    }

    std::array<std::atomic<std::atomic<block*>*>, 64> levels_{};
};

} // namespace sinter::data::stage_parts
