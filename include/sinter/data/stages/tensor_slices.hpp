// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/type_text.hpp>
#include <array>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

/// Pipelines of what lies in memory as columns: one array for each field.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

template <class A>
inline constexpr bool has_slices = false;
template <class T, class Allocator>
inline constexpr bool has_slices<std::vector<T, Allocator>> = true;
template <class T, std::size_t N>
inline constexpr bool has_slices<std::array<T, N>> = true;

/// data_error unless all have as many.
SINTER_SELDOM SINTER_COLD void need_equal_slices(const std::size_t* slices, std::size_t n);

/// A T of these values: a tuple of them, the only one itself, or a struct with a field for each.
template <class T, class... V>
inline constexpr bool is_made_of = requires(V&&... v) { T{std::forward<V>(v)...}; };

#if SINTER_BODIES
SINTER_SELDOM_BODY void need_equal_slices(const std::size_t* slices, std::size_t n) {
    for (std::size_t i = 1; i < n; ++i)
        if (slices[i] != slices[0])
            throw data_error("arrays of different lengths", to_text({"tensor_slices, array ", i}),
                             to_text({slices[i], " slices"}), to_text({slices[0], ", as array 0 has"}));
}
#endif

} // namespace stage_parts

template <class T, class... Arrays>
class sliced_arrays {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    struct state {};

    explicit sliced_arrays(std::shared_ptr<const std::tuple<Arrays...>> all) : all_(std::move(all)) {
        const auto sizes = std::apply([](const auto&... a) { return std::array{a.size()...}; }, *all_);
        stage_parts::need_equal_slices(sizes.data(), sizes.size());
    }
    std::int64_t size() const { return static_cast<std::int64_t>(std::get<0>(*all_).size()); }
    void begin(state&, std::int64_t) const {}
    T get(state&, std::int64_t i) const {
        return std::apply([&](const auto&... a) { return T{a[static_cast<std::size_t>(i)]...}; }, *all_);
    }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const {
        d.stage("slices of arrays")("slices", size())("element", type_text<T>());
    }

private:
    std::shared_ptr<const std::tuple<Arrays...>> all_;
};

namespace stage_parts {

template <class... Slices>
struct element_of_slices {
    using type = std::tuple<Slices...>;
};
template <class Slice>
struct element_of_slices<Slice> {
    using type = Slice;
};

template <class T, class... Arrays>
auto slices_of(Arrays... arrays) {
    constexpr bool fits = is_made_of<T, const typename Arrays::value_type&...>;
    static_assert(fits, "tensor_slices: needed is a struct with a field for each array, in their order and of the "
                        "types of their slices");
    if constexpr (fits)
        return sliced_arrays<T, Arrays...>(std::make_shared<const std::tuple<Arrays...>>(std::move(arrays)...));
    else return refused_stage{};
}

} // namespace stage_parts

/// Slices of arrays along their first axis: element i is a std::tuple of the arrays' elements number i; of one array,
/// its element itself. An indexed stage, as tf.data.Dataset.from_tensor_slices.
///
///     std::vector<std::array<float, 3>> x; std::vector<std::int32_t> labels;
///     auto train = data::tensor_slices(x, labels) | data::shuffle() | data::batch(64);
///
/// Arrays are std::vector and std::array; further axes are what these are of. data_error, with both lengths, unless all
/// have as many slices. The pipeline keeps the arrays: those that are given away (std::move) are not copied. An element
/// is a copy of its slices.
template <class... Arrays>
auto tensor_slices(Arrays... arrays) {
    constexpr bool fits = sizeof...(Arrays) > 0 && (stage_parts::has_slices<Arrays> && ...);
    static_assert(fits, "tensor_slices: needed are one std::vector or std::array or more");
    if constexpr (fits)
        return stage_parts::slices_of<
            typename stage_parts::element_of_slices<typename Arrays::value_type...>::type>(std::move(arrays)...);
    else return refused_stage{};
}

/// The same as structs: `tensor_slices<sample>(x, labels)`. A slice goes to the field of the array's place.
template <class T, class First, class... Rest>
    requires(std::is_class_v<T> && !stage_parts::has_slices<T>)
auto tensor_slices(First first, Rest... rest) {
    constexpr bool fits = stage_parts::has_slices<First> && (stage_parts::has_slices<Rest> && ...);
    static_assert(fits, "tensor_slices: needed are one std::vector or std::array or more");
    if constexpr (fits) return stage_parts::slices_of<T>(std::move(first), std::move(rest)...);
    else return refused_stage{};
}

template <class T>
class one_element {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    struct state {};

    explicit one_element(std::shared_ptr<const T> e) : element_(std::move(e)) {}
    std::int64_t size() const { return 1; }
    void begin(state&, std::int64_t) const {}
    const T& get(state&, std::int64_t) const { return *element_; }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const { d.stage("one element")("element", type_text<T>()); }

private:
    std::shared_ptr<const T> element_;
};

/// One element: a std::tuple of these values, or the only one itself, as tf.data.Dataset.from_tensors. The pipeline
/// keeps it.
template <class... Values>
    requires(sizeof...(Values) > 0)
auto tensors(Values... values) {
    using element = typename stage_parts::element_of_slices<Values...>::type;
    return one_element<element>(std::make_shared<const element>(std::move(values)...));
}

} // namespace sinter::data
