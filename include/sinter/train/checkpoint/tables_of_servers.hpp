// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/table_files_calls.hpp>

/// The code that table_files_calls::all calls. Strategies with strategy_traits::remote_tables include this file.
#if SINTER_BODIES
#include <sinter/io/safetensors/checksum.hpp>
#include <sinter/io/safetensors/open.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/strategy/table_calls.hpp>
#include <sinter/train/checkpoint/hashed_tables.hpp>
#include <sinter/train/checkpoint/shared_file.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <sinter/train/members.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

class tables_of_servers final : public tables_to_save {
public:
    tables_of_servers(const trainer_state& t, const std::string& path)
        : t_(t), session_(t.session()), path_(path),
          folder_(path.find('/') == path.npos ? std::string() : path.substr(0, path.rfind('/'))) {}

    SINTER_COLD bool save_beside(table_files& to) override {
        if (!session_.tables()->keeps_tables()) return false;
        bool seen = true;
        by_the_chief(session_, "save the servers' tables beside", path_, [&] {
            const auto take = [&](const std::string& name, const std::string& file, std::uint64_t bytes,
                                  std::uint64_t checksum) {
                to.name = name;
                to.parts.push_back({file, bytes, checksum});
            };
            seen = session_.tables()->save_tables(table_files::folder_of(path_), take);
        });
        if (is_alone(session_) ? !seen : of_any(session_, !seen)) return false;
        for (const variable_info& v : t_.facts.parameters)
            if (v.remote) to.tables.push_back(t_.facts.path(v));
        return true;
    }
    SINTER_COLD bool stream(const std::vector<saved_variable>& variables) override {
        if (!session_.tables()->keeps_tables()) return false;
        by_the_chief(session_, "read tables to save", path_, [&] {
            for (const saved_variable& s : variables) {
                if (!s.v->remote) continue;
                scratch_tensor& tensor = streamed_.emplace_back(folder_);
                session_.tables()->each_block(*s.v, s.slot,
                                              [&](span<const float> rows) { tensor.append(as_bytes(rows)); });
            }
        });
        return true;
    }
    const safetensors::entry_source* next() override {
        return next_ < streamed_.size() ? &streamed_[next_++] : nullptr;
    }
    SINTER_COLD void add_hashed(std::vector<safetensors::entry>& entries, bool whole, bool finite) override {
        if (!has_hashed_tables(t_.facts)) return;
        by_the_chief(session_, "read tables to save", path_, [&] { hashed_.take(t_, whole, folder_, finite); });
        hashed_.add_to(entries);
    }

private:
    const trainer_state& t_;
    session_base& session_;
    std::string path_, folder_;
    std::vector<scratch_tensor> streamed_;   ///< on the chief, for a file
    std::size_t next_ = 0;
    hashed_tables_to_save hashed_;
};

/// As with_file_of_chief(), of a file that need not fit in memory: open() says which, or that there is none, for
/// which f is not called. The other members have its bytes, but of the tensors that is_large()
/// names no rows: those are the chief's affair, who looks at them by check(contents) before anybody
/// goes on.
SINTER_COLD inline void with_large_file_of_chief(session_base& s, const std::string& path,
                                                 base::function_ref<std::optional<safetensors::file>()> open,
                                                 base::function_ref<bool(std::string_view)> is_large,
                                                 with_contents check, with_contents f) {
    std::optional<safetensors::file> whole;
    if (is_alone(s)) {
        if (s.member().chief()) whole = open();
        return whole ? void(f(*whole)) : void();
    }
    std::vector<std::byte> rest;
    by_the_same_members(s, [&] {
        whole.reset();
        rest.clear();
        by_the_chief(s, "read", path, [&] {
            whole = open();
            if (!whole) return;
            check(*whole);
            std::vector<safetensors::entry> entries;
            for (const auto& [name, t] : whole->tensors) {
                entries.push_back({name, t.type, t.shape, t.data.data()});
                if (!is_large(name)) continue;
                if (t.shape.empty())
                    throw mismatch_error("not the rows of a table", path + ", " + name, "one number", "rows");
                entries.back().shape[0] = 0;
            }
            safetensors::metadata_map metadata = whole->metadata;
            if (const auto sum = metadata.find("checksum"); sum != metadata.end())
                sum->second = safetensors::checksum(entries);
            rest = safetensors::to_bytes(std::move(entries), metadata);
        });
        bytes_of_chief(s, rest);
    });
    if (whole) f(*whole);
    else if (!rest.empty()) f(safetensors::parse(span<const std::byte>(rest.data(), rest.size()), path));
}

SINTER_COLD inline std::unique_ptr<tables_to_save> tables_to_save_of(const trainer_state& t, const std::string& path) {
    return std::make_unique<tables_of_servers>(t, path);
}
SINTER_COLD inline std::unique_ptr<tables_to_load> make_tables_to_load() {
    return std::make_unique<hashed_tables_to_load>();
}
SINTER_COLD inline safetensors::file open_with_tables(const trainer_facts& facts, const std::string& path) {
    safetensors::file f = safetensors::open_verified(
        path, [&](std::string_view name) { return hashed_tables_to_load::has_rows(facts, name); });
    need_table_files(f);
    return f;
}
SINTER_COLD inline void with_opened_tables(session_base& s, const trainer_facts& facts, const std::string& path,
                                           saved what,
                                           base::function_ref<std::optional<safetensors::file>()> open,
                                           base::function_ref<void(const safetensors::contents&)> f) {
    with_large_file_of_chief(
        s, path, open, [&](std::string_view name) { return hashed_tables_to_load::has_rows(facts, name); },
        [&](const safetensors::contents& file) {
            const bool whole = what == saved::whole && file.tensors.contains("step");
            hashed_tables_to_load::check_rows(facts, file, whole);
        },
        f);
}
SINTER_APART const table_files_calls table_files_calls::all{tables_to_save_of, make_tables_to_load, open_with_tables,
                                                            with_opened_tables};

} // namespace sinter::training_parts
#endif
