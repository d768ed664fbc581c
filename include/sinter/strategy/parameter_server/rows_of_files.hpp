// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checkpoint/tensor_file.hpp>
#include <memory>

namespace sinter::inline SINTER_TARGET::detail {

/// The rows of one table in files that servers have written, each its own; they stay there. The
/// files may be removed meanwhile, and must not change.
class rows_of_files {
public:
    using files = std::vector<std::shared_ptr<const sharded::tensor_file>>;

    SINTER_COLD static files open(const std::vector<std::string>& paths) {
        files all;
        for (const std::string& p : paths) all.push_back(std::make_shared<const sharded::tensor_file>(p));
        return all;
    }
    /// `slots`: of each row behind its values. Throws mismatch_error where a file has no such table.
    SINTER_COLD rows_of_files(const files& from, const std::string& table, int width, int slots) : width_(width) {
        using safetensors::dtype;
        for (const auto& f : from) {
            const std::string name = joined({"table/", table, "/"});
            const safetensors::tensor_place* const k = f->find(name + "keys");
            if (!k || k->type != dtype::i64 || k->shape.size() != 1)
                throw mismatch_error("the checkpoint has no such table", f->path(), "none", io::printable(table));
            part p{f, rows_, k->shape[0], k, f->find(name + "steps"), {}};
            if (p.steps) f->need(name + "steps", dtype::i64, {p.rows});
            p.arrays.push_back(&f->need(name + "values", dtype::f32, {p.rows, width}));
            for (int s = 0; s < slots; ++s)
                p.arrays.push_back(&f->need(joined({name, "slot/", s}), dtype::f32, {p.rows, width}));
            rows_ += p.rows;
            parts_.push_back(std::move(p));
        }
    }
    std::size_t size() const { return static_cast<std::size_t>(rows_); }
    /// As loaded_rows::get.
    void get(std::size_t number, std::int64_t& key, std::int64_t& step, float* row) const {
        auto i = static_cast<std::int64_t>(number);
        const part* p = parts_.data();
        while (i - p->first >= p->rows) ++p;
        i -= p->first;
        p->file->read(*p->keys, static_cast<std::uint64_t>(8 * i), &key, 8);
        step = 0;
        if (p->steps) p->file->read(*p->steps, static_cast<std::uint64_t>(8 * i), &step, 8);
        const std::size_t bytes = 4 * static_cast<std::size_t>(width_);
        for (std::size_t a = 0; row && a < p->arrays.size(); ++a, row += width_)
            p->file->read(*p->arrays[a], bytes * static_cast<std::uint64_t>(i), row, bytes);
    }

private:
    struct part {
        std::shared_ptr<const sharded::tensor_file> file;
        std::int64_t first, rows;
        const safetensors::tensor_place *keys, *steps;
        std::vector<const safetensors::tensor_place*> arrays;
    };
    std::vector<part> parts_;
    std::int64_t rows_ = 0;
    int width_;
};

} // namespace sinter::detail
