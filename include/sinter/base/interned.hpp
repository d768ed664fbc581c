// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string_view>
#if SINTER_BODIES
#include <atomic>
#include <cstring>
#include <new>
#endif

namespace sinter::base {

/// The same text with a zero after it, for as long as the process lives: equal texts are one. For
/// names, of which a program has few: columns' names travel as pointers through batches, whose types
/// stay plain data. Any thread may ask. std::bad_alloc where memory ends.
SINTER_SELDOM SINTER_COLD const char* interned(std::string_view text);

#if SINTER_BODIES
SINTER_SELDOM_BODY const char* interned(std::string_view text) {
    struct entry {
        entry* next;
        std::size_t size;
        char* characters() { return reinterpret_cast<char*>(this + 1); }
    };
    static std::atomic<entry*> first{nullptr};
    entry *mine = nullptr, *head = first.load();
    for (;;) {
        for (entry* e = head; e; e = e->next)
            if (std::string_view(e->characters(), e->size) == text) {
                ::operator delete(mine);   // another thread was faster, or nothing
                return e->characters();
            }
        if (!mine) {
            mine = new (::operator new(sizeof(entry) + text.size() + 1)) entry{nullptr, text.size()};
            std::memcpy(mine->characters(), text.data(), text.size());
            mine->characters()[text.size()] = 0;
        }
        mine->next = head;
        if (first.compare_exchange_strong(head, mine)) return mine->characters();
    }
}
#endif

} // namespace sinter::base
