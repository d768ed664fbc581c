// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/safetensors/checksum.hpp>
#include <sinter/io/safetensors/open.hpp>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The rows of one table in files that servers have written, each its own; they stay there. Files
/// may be removed or replaced meanwhile. What somebody changes in them is an io_error
/// (io/random_access_file.hpp).
class rows_of_files {
public:
    using files = std::vector<std::shared_ptr<const safetensors::file>>;

    SINTER_COLD static files open(const std::vector<std::string>& paths) {
        files all;
        for (const std::string& p : paths)
            all.push_back(std::make_shared<const safetensors::file>(
                safetensors::open(p, [](std::string_view n) { return n.starts_with("table/"); })));
        return all;
    }
    /// `slots`: of each row after its values. Throws mismatch_error where a file has no such table.
    SINTER_COLD rows_of_files(const files& from, const std::string& table, int width, int slots)
        : width_(static_cast<std::size_t>(width)) {
        using safetensors::dtype;
        for (const auto& f : from) {
            const std::string name = to_text({"table/", table, "/"});
            const auto k = f->tensors.find(name + "keys");
            if (k == f->tensors.end() || k->second.type != dtype::i64 || k->second.shape.size() != 1)
                throw mismatch_error("the checkpoint has no such table", f->source, "none", io::printable(table));
            const std::int64_t rows = k->second.shape[0];
            const auto reads = [&](const std::string& array, dtype type, const std::vector<std::int64_t>& shape) {
                const safetensors::tensor_view& t = f->at(name + array);
                if (t.type != type || t.shape != shape)
                    throw mismatch_error("a table of another width", to_text({f->source, ", ", io::printable(t.name)}),
                                         safetensors::describe(t.type, t.shape), safetensors::describe(type, shape));
                return safetensors::tensor_reader(*f, t);
            };
            part p{f, rows_, rows, reads("keys", dtype::i64, {rows}), {}, {}};
            if (f->tensors.contains(name + "steps")) p.steps = reads("steps", dtype::i64, {rows});
            p.arrays.push_back(reads("values", dtype::f32, {rows, width}));
            for (int s = 0; s < slots; ++s)
                p.arrays.push_back(reads(to_text({"slot/", s}), dtype::f32, {rows, width}));
            rows_ += rows;
            parts_.push_back(std::move(p));
        }
    }
    std::size_t size() const { return static_cast<std::size_t>(rows_); }
    /// Number i: its key, the step of its last update, its values and slots; `row` may be null.
    SINTER_COLD void get(std::size_t number, std::int64_t& key, std::int64_t& step, float* row) {
        auto i = static_cast<std::int64_t>(number);
        part* p = parts_.data();
        while (i - p->first >= p->rows) ++p;
        const auto at = static_cast<std::size_t>(i - p->first);
        key = p->keys.number(at);
        step = p->steps.size() == 0 ? 0 : p->steps.number(at);
        for (std::size_t a = 0; row && a < p->arrays.size(); ++a, row += width_)
            p->arrays[a].read(std::uint64_t{4} * width_ * at, {reinterpret_cast<std::byte*>(row), 4 * width_});
    }

private:
    struct part {
        std::shared_ptr<const safetensors::file> file;
        std::int64_t first, rows;
        safetensors::tensor_reader keys, steps;
        std::vector<safetensors::tensor_reader> arrays;
    };
    std::vector<part> parts_;
    std::int64_t rows_ = 0;
    std::size_t width_;
};

} // namespace sinter::parameter_servers
