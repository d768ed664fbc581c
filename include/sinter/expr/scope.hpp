// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>

/// Names of layers, as a tree of scopes: the third conv2d in the block `head` is `head/conv2d_2`.
namespace sinter {

constexpr unsigned hash_name(const char* s) {
    unsigned h = 2166136261u;
    while (*s) h = (h ^ static_cast<unsigned char>(*s++)) * 16777619u;
    return h;
}
constexpr bool same_name(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

struct scope_entry {
    const char* name = "";
    int number = 0, parent = -1;
};

class scope_tree {
public:
    constexpr scope_tree() : slot_(table_size, -1), count_(table_size, 0) { entries_.push({}); }

    /// Opens a new scope: the k-th of its name under its parent gets the number k.
    constexpr int open(const char* name, int parent) {
        const int i = find(name, parent);
        return entries_.push({name, count_[i]++, parent});
    }
    /// Opens the one scope of this name under its parent, new or not; `reopened` says which.
    constexpr int reopen(const char* name, int parent, bool& reopened) {
        const int i = find(name, parent);
        reopened = count_[i] > 0;
        if (!reopened) {
            ++count_[i];
            first_.push({i, entries_.push({name, 0, parent})});
        }
        for (int k = 0; k < first_.n; ++k)
            if (first_[k].slot == i) return first_[k].scope;
        return entries_.push({name, 0, parent});   // the name was used by open() before
    }
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
    struct reopened_scope {
        int slot, scope;
    };
    static constexpr int table_size = 2048;
    growing<scope_entry> entries_;
    growing<int> slot_, count_;                // hash of (name, parent) -> how often opened
    growing<const char*> names_;
    growing<int> parents_;
    growing<reopened_scope> first_;

    constexpr int find(const char* name, int parent) {
        unsigned i = (hash_name(name) ^ static_cast<unsigned>(parent) * 2654435761u) % table_size;
        while (slot_[static_cast<int>(i)] >= 0) {
            const int k = slot_[static_cast<int>(i)];
            if (parents_[k] == parent && same_name(names_[k], name)) return static_cast<int>(i);
            i = (i + 1) % table_size;
        }
        slot_[static_cast<int>(i)] = names_.push(name);
        parents_.push(parent);
        return static_cast<int>(i);
    }
};

} // namespace sinter
