// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/safetensors/contents.hpp>
#include <algorithm>
#include <optional>

/// Checkpoints of a run whose tables parameter servers keep. Each server writes its own rows:
///
///     step-300.safetensors                                       all else, and which files belong to it
///     step-300.safetensors.tables/save-1/shard-0-of-2.safetensors    rows of server 0
///
/// The first is written when the others are there. It names them, their lengths and checksums: there
/// is no checkpoint without it, and it is none without them.
namespace sinter::inline SINTER_ORDINARY::training_parts {

class table_files {
public:
    struct part {
        std::string name;   ///< of the file, without a folder
        std::uint64_t bytes = 0, checksum = 0;
    };
    std::string folder;                ///< of the files
    std::string name;                  ///< of this folder in folder_of(checkpoint)
    std::vector<part> parts;
    std::vector<std::string> tables;   ///< paths of the parameters whose values and slots are there

    static std::string folder_of(const std::string& checkpoint) { return checkpoint + ".tables"; }
    bool has(std::string_view path) const { return std::find(tables.begin(), tables.end(), path) != tables.end(); }
    std::vector<std::string> paths() const {
        std::vector<std::string> all;
        for (const part& p : parts) all.push_back(to_text({folder, "/", p.name}));
        return all;
    }

    /// As a file's metadata has it, and back: nothing where it has none. Throws format_error.
    SINTER_SELDOM SINTER_COLD void add_to(safetensors::metadata_map& to) const;
    SINTER_SELDOM SINTER_COLD static std::optional<table_files> of(const safetensors::contents& f);
    /// Throws io_error or format_error where a file is not the one that was written. Each is read once.
    SINTER_SELDOM SINTER_COLD void need_whole() const;
    /// Removes what lies beside a checkpoint, but for the folder `but`. What stays does no harm.
    SINTER_SELDOM SINTER_COLD static void remove(const std::string& checkpoint, const std::string& but = {});
};

/// Throws where a file's tables are in files that are not as they were written.
SINTER_SELDOM SINTER_COLD void need_table_files(const safetensors::contents& f);
/// Puts a table's rows that are there over `to`, its plain values, or those of slot `slot`: for those
/// who keep all of it themselves.
SINTER_SELDOM SINTER_COLD void read_table_files(const table_files& from, const std::string& path, int slot,
                                                std::int64_t width, std::vector<float>& to);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/checksum.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/base/whole_number.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/folder_names.hpp>
#include <sinter/io/safetensors/open.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM SINTER_COLD std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> all;
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
        all.emplace_back(text.substr(0, end));
    return all;
}
SINTER_SELDOM SINTER_COLD std::vector<std::string> plain_names_in(const std::string& folder) {
    std::vector<std::string> all;
    io::try_each_name(folder, [&](std::string_view n) {
        if (!n.starts_with('.')) all.emplace_back(n);   // ours never do, and `..` is not in it
    });
    return all;
}

SINTER_SELDOM_BODY void table_files::add_to(safetensors::metadata_map& to) const {
    std::string files = name + "\n", of;
    for (const part& p : parts) files += to_text({p.name, " ", p.bytes, " ", p.checksum, "\n"});
    for (const std::string& t : tables) of += t + "\n";
    to["table_files"] = files, to["tables"] = of;
}
SINTER_SELDOM_BODY std::optional<table_files> table_files::of(const safetensors::contents& f) {
    const auto files = f.metadata.find("table_files"), of = f.metadata.find("tables");
    if (files == f.metadata.end() || of == f.metadata.end()) return {};
    table_files all;
    all.tables = lines_of(of->second);
    const std::vector<std::string> names = lines_of(files->second);
    const auto fault = [&] { throw format_error("does not say where its tables are", f.source); };
    if (names.empty()) fault();
    all.name = names[0];
    for (std::size_t i = 1; i < names.size(); ++i) {
        const std::string& line = names[i];
        const std::size_t a = line.find(' '), b = line.rfind(' ');
        part p{line.substr(0, a), 0, 0};
        if (a == b || a == line.npos) fault();
        const auto number = [&](std::size_t from, std::size_t to, std::uint64_t& n) {
            if (!base::read_whole_number(std::string_view(line).substr(from, to - from), n)) fault();
        };
        number(a + 1, b, p.bytes), number(b + 1, line.size(), p.checksum);
        all.parts.push_back(std::move(p));
    }
    const auto plain = [](const std::string& n) { return !n.empty() && n[0] != '.' && n.find('/') == n.npos; };
    if (!plain(all.name) || all.parts.empty()) fault();
    for (const part& p : all.parts)
        if (!plain(p.name)) fault();
    all.folder = to_text({folder_of(f.source), "/", all.name});
    return all;
}
SINTER_SELDOM_BODY void table_files::need_whole() const {
    for (const part& p : parts) {
        const std::string path = to_text({folder, "/", p.name});
        io::input_file in(path);
        if (in.size() != p.bytes)
            throw format_error("a file of another length than its checkpoint says", path,
                               to_text({in.size(), " bytes"}), to_text({p.bytes, " bytes"}));
        std::vector<std::byte> piece(std::size_t{1} << 20);
        base::checksum sum;
        while (const std::size_t n = in.read_some({piece.data(), piece.size()})) sum.update({piece.data(), n});
        if (sum.value() != p.checksum)
            throw format_error("a file that was damaged: its checksum is not its checkpoint's", path);
    }
}
SINTER_SELDOM_BODY void table_files::remove(const std::string& checkpoint, const std::string& but) {
    const std::string all = folder_of(checkpoint);
    for (const std::string& n : plain_names_in(all)) {
        if (n == but) continue;
        const std::string path = to_text({all, "/", n});
        for (const std::string& file : plain_names_in(path)) base::os::remove_file(to_text({path, "/", file}));
        if (!base::os::remove_folder(path) && but.empty()) base::os::remove_file(path);
    }
    if (but.empty()) base::os::remove_folder(all);
}
SINTER_SELDOM_BODY void need_table_files(const safetensors::contents& f) {
    if (const auto apart = table_files::of(f)) apart->need_whole();
}
SINTER_SELDOM_BODY void read_table_files(const table_files& from, const std::string& path, int slot, std::int64_t width,
                                         std::vector<float>& to) {
    for (const std::string& file : from.paths()) {
        const safetensors::file f = safetensors::open(file, [](std::string_view n) { return n.starts_with("table/"); });
        const std::string table = to_text({"table/", path, "/"});
        safetensors::tensor_reader keys(f, f.at(table + "keys"));
        const auto& values = f.at(table + (slot < 0 ? std::string("values") : to_text({"slot/", slot})));
        safetensors::tensor_reader rows(f, values);
        const std::size_t n = keys.size() / 8, bytes = static_cast<std::size_t>(width) * 4;
        if (values.type != safetensors::dtype::f32 || rows.size() != n * bytes)
            throw mismatch_error("a table of another width", to_text({file, ", ", io::printable(path)}),
                                 safetensors::describe(values.type, values.shape),
                                 to_text({n, " rows of ", width, " floats"}));
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t key = keys.number(i);
            if (key < 0 || key >= static_cast<std::int64_t>(to.size()) / width)
                throw mismatch_error("a row that the table does not have", to_text({file, ", ", io::printable(path)}),
                                     to_text({"row ", key}), to_text({to.size() / static_cast<std::size_t>(width)}));
            rows.read(bytes * i, {reinterpret_cast<std::byte*>(to.data() + key * width), bytes});
        }
    }
}

} // namespace sinter::training_parts
#endif
