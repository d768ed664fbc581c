// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/compiler/output_number.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/strategy/bind_batch.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline SINTER_TARGET {

/// All outputs of a net for all examples of a pass, each [examples, extents...]: what
/// estimator::predict_all gives. They are found by number or by name (output<"score">):
///
///     const auto found = model.predict_all(data);
///     found.output<"score">();             // a name that the net does not have does not compile
///     found.output("score");               // option_error where there is none
///     found.output(0);
///     npz::write("found.npz", found.entries());
///
/// P: the prediction program.
template <class P>
class predictions {
public:
    /// Examples.
    std::int64_t size() const { return size_; }
    span<const float> output(int i = 0) const {
        session_parts::need_output(i, P::v.n_outputs, "predictions");
        return all_[static_cast<std::size_t>(i)];
    }
    span<const float> output(std::string_view name) const {
        return output(session_parts::output_of_name(name, P::v.output_names, P::v.n_outputs, "predictions"));
    }
    template <compiler::text T>
    span<const float> output() const { return output(compiler::output_number<P, T>()); }

    /// As files take them (npz::write, safetensors::write), good for as long as this lives: under
    /// their names, and what has none as ONNX calls it, `output`, `output_1`, ...
    SINTER_COLD std::vector<safetensors::entry> entries() const {
        std::vector<safetensors::entry> to;
        for (int i = 0; i < P::v.n_outputs; ++i) {
            const shape& s = P::v.output_shapes[i];
            std::vector<std::int64_t> extents(s.d, s.d + s.rank);
            if (s.batched) extents.insert(extents.begin(), size_);
            const std::string numbered = i ? to_text({"output_", i}) : "output";
            to.push_back({*P::v.output_names[i] ? P::v.output_names[i] : numbered, safetensors::dtype::f32,
                          std::move(extents), all_[static_cast<std::size_t>(i)].data()});
        }
        return to;
    }

    /// Output `i` of further examples behind those that are there. What does not depend on the batch
    /// is there once.
    void add(int i, span<const float> y) {
        std::vector<float>& to = all_[static_cast<std::size_t>(i)];
        if (!P::v.output_shapes[i].batched) to.clear();
        to.insert(to.end(), y.begin(), y.end());
    }
    void add_examples(int n) { size_ += n; }

private:
    std::array<std::vector<float>, std::size_t{P::v.n_outputs}> all_;
    std::int64_t size_ = 0;
};

} // namespace sinter
