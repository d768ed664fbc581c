// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <utility>

namespace sinter {

/// An object that goes with the last of its copies, which may be in different threads: what is needed of std::shared_ptr, whose
/// header takes every program 18 MB and 0.1 s to compile. With `co_owner<void>` nobody but the object's maker knows its type.
template <class T>
class co_owner {
public:
    co_owner() = default;
    co_owner(const co_owner& other) : held_(other.held_) {
        if (held_) __atomic_fetch_add(&held_->copies, 1, __ATOMIC_RELAXED);
    }
    co_owner(co_owner&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    co_owner& operator=(co_owner other) noexcept {
        std::swap(held_, other.held_);
        return *this;
    }
    ~co_owner() {
        if (held_ && __atomic_fetch_sub(&held_->copies, 1, __ATOMIC_ACQ_REL) == 1) held_->end(held_);
    }
    template <class U>
    static co_owner of(U object) {
        struct holder : held {
            explicit holder(U&& o) : object(static_cast<U&&>(o)) {}
            U object;
        };
        auto* const h = new holder(static_cast<U&&>(object));
        h->at = &h->object;
        h->end = [](held* all) { delete static_cast<holder*>(all); };
        co_owner s;
        s.held_ = h;
        return s;
    }

    T* get() const { return held_ ? static_cast<T*>(held_->at) : nullptr; }
    T* operator->() const { return get(); }
    explicit operator bool() const { return held_ != nullptr; }

private:
    struct held {
        int copies = 1;
        void* at = nullptr;
        void (*end)(held*) = nullptr;
    };
    held* held_ = nullptr;
};

} // namespace sinter
