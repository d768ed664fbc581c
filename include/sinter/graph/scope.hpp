// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/array.hpp>
#include <sinter/graph/scope_entry.hpp>

/// Names of layers, as a tree of scopes: the third conv2d in the block `head` is `head/conv2d_2`.
namespace sinter::inline SINTER_TARGET::compiler {

constexpr unsigned hash_name(const char* s) {
    unsigned h = 2166136261u;
    while (*s) h = (h ^ static_cast<unsigned char>(*s++)) * 16777619u;
    return h;
}
constexpr bool same_name(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

using facts::scope_entry;

class scope_tree {
public:
    constexpr scope_tree() : slot_(table_size) { entries_.push({}); }

    /// Opens a scope: the k-th of its name under its parent gets the number k. With `again`, scopes
    /// that an earlier visit of the parent opened are found in the same order instead of made anew.
    constexpr int open(const char* name, int parent, bool again = false) {
        const int number = names_[find(name, parent)].count++;
        if (again)
            for (int i = 1; i < entries_.n; ++i)
                if (entries_[i].parent == parent && entries_[i].number == number && same_name(entries_[i].name, name)) {
                    restart(i);
                    return i;
                }
        return entries_.push({name, number, parent});
    }
    /// Opens the one scope of this name under its parent, whether it is new or not; `block`: of
    /// whatever stands in it, else of a single layer.
    constexpr int enter(const char* name, int parent, bool block = true) {
        use& u = names_[find(name, parent)];
        if (u.first < 0) {
            ++u.count;
            u.first = entries_.push({name, 0, parent, false, block});
        } else {
            entries_[u.first].entered_again = true;
            restart(u.first);
        }
        return u.first;
    }
    /// Appends a scope as it is: how a later pass takes up an earlier one's, to name them.
    constexpr void restore(const scope_entry& s) { entries_.push(s); }
    /// Is `scope` that of the layer `layer`, or of a layer within it? A block's layers are not the
    /// block's own.
    constexpr bool is_of_layer(int scope, int layer) const {
        while (scope > layer && layer > 0 && !entries_[layer].block) scope = entries_[scope].parent;
        return scope == layer;
    }
    constexpr bool entered_again(int scope) const { return entries_[scope].entered_again; }
    constexpr const scope_entry& operator[](int i) const { return entries_[i]; }
    constexpr int size() const { return entries_.n; }
    constexpr view<const scope_entry> entries() const { return entries_.all(); }
    /// More than `most` different (name, parent) pairs were asked for; what was opened since then
    /// means nothing.
    constexpr bool overflowed() const { return overflowed_; }
    static constexpr int most = 1536;   // three quarters of the table, so that searches stay short, and end

    constexpr void write_path(int scope, char* out, int& length, int capacity) const {
        if (scope <= 0) return;
        const scope_entry& s = entries_[scope];
        write_path(s.parent, out, length, capacity);
        if (length) append(out, length, capacity, "/");
        append(out, length, capacity, s.name);
        if (s.number) {
            char digits[12] = {};
            int d = 0;
            for (int v = s.number; v; v /= 10) digits[d++] = static_cast<char>('0' + v % 10);
            append(out, length, capacity, "_");
            while (d) {
                const char one[2] = {digits[--d], 0};
                append(out, length, capacity, one);
            }
        }
    }
    static constexpr void append(char* out, int& length, int capacity, const char* text) {
        while (*text && length < capacity) out[length++] = *text++;
    }

private:
    struct use {
        const char* name;
        int parent, count = 0, first = -1;
    };
    static constexpr int table_size = 2048;
    growing<scope_entry> entries_;
    growing<int> slot_;      // hash of (name, parent) -> place in names_, + 1
    growing<use> names_;
    bool overflowed_ = false;

    constexpr void restart(int scope) {
        for (int i = 0; i < names_.n; ++i)
            if (names_[i].parent == scope) names_[i].count = 0;
    }
    constexpr int find(const char* name, int parent) {
        unsigned i = (hash_name(name) ^ static_cast<unsigned>(parent) * 2654435761u) % table_size;
        while (const int taken = slot_[static_cast<int>(i)]) {
            const int k = taken - 1;
            if (names_[k].parent == parent && same_name(names_[k].name, name)) return k;
            i = (i + 1) % table_size;
        }
        if (names_.n == most) {
            overflowed_ = true;
            return 0;
        }
        const int k = names_.push({name, parent});
        slot_[static_cast<int>(i)] = k + 1;
        return k;
    }
};

} // namespace sinter::compiler
