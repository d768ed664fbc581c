// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <type_traits>

namespace sinter::inline SINTER_ORDINARY::data {

/// Which pipeline an option means: `&p`, or `p` itself, which is not copied and must live as long; or one that is made
/// in the option, `set | data::batch(64)`, which lives in it. Null: none.
class pipeline_ref {
public:
    constexpr pipeline_ref() = default;
    constexpr pipeline_ref(std::nullptr_t) {}
    constexpr pipeline_ref(pipeline* p) : at_(p) {}
    constexpr pipeline_ref(pipeline& p) : at_(&p) {}
    pipeline_ref(pipeline&& p) : own_(std::make_shared<pipeline>(std::move(p))), at_(own_.get()) {}
    template <class T>
        requires(!std::is_same_v<std::remove_cvref_t<T>, pipeline_ref> && !std::is_convertible_v<T, pipeline*>)
    pipeline_ref(T&&) {
        static_assert(sizeof(T) == 0, "data: this is no pipeline, which gives batches: write set | data::batch(64); "
                                      "a constant one cannot be read");
    }
    constexpr operator pipeline*() const { return at_; }
    constexpr pipeline* operator->() const { return at_; }

private:
    std::shared_ptr<pipeline> own_;
    pipeline* at_ = nullptr;
};

} // namespace sinter::data
