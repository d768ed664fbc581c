// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/base/prefetch.hpp>
#include <sinter/data/element.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/type_text.hpp>
#include <sinter/io/idx.hpp>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/io/printable.hpp>
#endif

/// IDX files as typed elements.
namespace sinter::inline SINTER_ORDINARY::data {

namespace idx_parts {

template <class F>
struct field_of_file {   ///< one number
    using number = F;
    static void extents(std::vector<std::int64_t>&) {}
};
template <class F, std::size_t N>
struct field_of_file<std::array<F, N>> {
    using number = typename field_of_file<F>::number;
    static void extents(std::vector<std::int64_t>& to) {
        to.push_back(static_cast<std::int64_t>(N));
        field_of_file<F>::extents(to);
    }
};
template <class F, std::size_t N>
struct field_of_file<F[N]> : field_of_file<std::array<F, N>> {};
template <int H, int W, int C>
struct field_of_file<pixels<H, W, C>> {
    using number = std::uint8_t;
    static void extents(std::vector<std::int64_t>& to) { to.insert(to.end(), {H, W, C}); }
};
template <class F>
struct field_of_file<extra<F>> : field_of_file<F> {};

template <class N>
inline constexpr bool is_number = (std::integral<N> && !std::same_as<N, bool>) || std::same_as<N, float> ||
                                  std::same_as<N, double> || std::same_as<N, std::byte>;

/// Whether each From is a To.
template <class From, class To>
inline constexpr bool holds_all = [] {
    if constexpr (std::same_as<To, std::byte>)
        return std::same_as<From, std::uint8_t>;
    else if constexpr (std::integral<From> && std::integral<To>)
        return std::in_range<To>(std::numeric_limits<From>::min()) &&
               std::in_range<To>(std::numeric_limits<From>::max());
    else return std::floating_point<From> && std::floating_point<To> && sizeof(From) <= sizeof(To);
}();

using copy_numbers = void (*)(const std::byte* from, void* to, std::size_t n);

/// Copies numbers of a file into those of a field; null where a field has not all of them.
template <class From, class To>
copy_numbers copy_between() {
    if constexpr (!holds_all<From, To>) return nullptr;
    else
        return [](const std::byte* from, void* to, std::size_t n) {
            if constexpr (sizeof(From) == sizeof(To)) {
                std::memcpy(to, from, n * sizeof(To));
            } else {
                for (std::size_t i = 0; i < n; ++i) {
                    From x;
                    std::memcpy(&x, from + i * sizeof(From), sizeof x);
                    static_cast<To*>(to)[i] = static_cast<To>(x);
                }
            }
        };
}
template <class To>
copy_numbers copy_of(io::idx_type type) {
    switch (type) {
    case io::idx_type::u8: return copy_between<std::uint8_t, To>();
    case io::idx_type::i8: return copy_between<std::int8_t, To>();
    case io::idx_type::i16: return copy_between<std::int16_t, To>();
    case io::idx_type::i32: return copy_between<std::int32_t, To>();
    case io::idx_type::f32: return copy_between<float, To>();
    case io::idx_type::f64: return copy_between<double, To>();
    }
    return nullptr;
}

/// A file, and how its examples become a field.
struct file {
    io::idx_array array;
    copy_numbers copy = nullptr;
    std::size_t numbers = 0, bytes = 0;   ///< of an example

    const std::byte* row(std::int64_t i) const { return array.bytes.data() + static_cast<std::size_t>(i) * bytes; }
};
/// What a field needs of its file.
struct needed_of_file {
    std::string_view name;   ///< of the field; empty: it has none
    std::vector<std::int64_t> extents;
    copy_numbers (*copy)(io::idx_type);
    std::string_view type;   ///< of its numbers
};
/// Reads the files; data_error where one does not fit.
SINTER_SELDOM SINTER_COLD std::vector<file> read_files(span<const std::string> paths,
                                                       span<const needed_of_file> fields);
SINTER_SELDOM SINTER_COLD void describe_file(description& d, const file& f);

template <class N>
constexpr std::string_view name_of_number() {
    if constexpr (std::same_as<N, float>) return "floats";
    else if constexpr (std::same_as<N, double>) return "doubles";
    else if constexpr (sizeof(N) == 1) return std::is_signed_v<N> ? "signed bytes" : "bytes";
    else if constexpr (sizeof(N) == 2) return std::is_signed_v<N> ? "16-bit integers" : "16-bit integers without signs";
    else if constexpr (sizeof(N) == 4) return std::is_signed_v<N> ? "32-bit integers" : "32-bit integers without signs";
    else return "64-bit integers";
}

} // namespace idx_parts

template <class T>
class idx_stage {
    template <class F>
    using of_file = idx_parts::field_of_file<F>;

public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    struct state {};

    explicit idx_stage(span<const std::string> paths) {
        std::vector<idx_parts::needed_of_file> fields;
        for_each_part([&]<class P>(P) {
            using of = of_file<typename P::type>;
            auto& f = fields.emplace_back();
            f = {P::name, {}, idx_parts::copy_of<typename of::number>,
                 idx_parts::name_of_number<typename of::number>()};
            of::extents(f.extents);
        });
        files_ = std::make_shared<const std::vector<idx_parts::file>>(idx_parts::read_files(paths, fields));
    }
    std::int64_t size() const { return files_->front().array.extents.front(); }
    void begin(state&, std::int64_t) const {}
    T get(state&, std::int64_t i) const {
        T to{};
        for_each_element_field(to, [&](auto n, auto& field) {
            const idx_parts::file& f = (*files_)[std::size_t{n}];
            f.copy(f.row(i), &field, f.numbers);
        });
        return to;
    }
    __attribute__((always_inline)) void prefetch(state&, std::int64_t i) const {
        if constexpr (sizeof(T) <= 4096)   // of large ones processors ask for enough by themselves
            for (const idx_parts::file& f : *files_) base::prefetch_lines(f.row(i), static_cast<std::int64_t>(f.bytes));
    }
    SINTER_COLD void describe(description& d) const {
        d.stage("IDX files")("element", type_text<T>());
        for (const idx_parts::file& f : *files_) idx_parts::describe_file(d, f);
    }

private:
    std::shared_ptr<const std::vector<idx_parts::file>> files_;

    template <class F>
    static void for_each_part(F f) {
        [&]<class... P>(element_parts::part_list<P...>) { (f(P{}), ...); }(
            typename element_parts::parts_of<T>::type{});
    }
};

namespace idx_parts {

template <class T>
inline constexpr bool is_element = []<class... P>(element_parts::part_list<P...>) {
    return sizeof...(P) > 0 && (is_number<typename field_of_file<typename P::type>::number> && ...);
}(typename element_parts::parts_of<T>::type{});

template <class T>
auto open(span<const std::string> paths) {
    static_assert(is_element<T>, "idx: a field is none that an IDX file has: numbers, arrays of them, and pixels");
    if constexpr (is_element<T>) return idx_stage<T>(paths);
    else return refused_stage{};
}

} // namespace idx_parts

/// The examples of an IDX file, plain or gzip, of any of the format's types and of any rank: element i is what lies
/// along all axes but the first, as T says: a number, a std::array (of arrays), data::pixels, or a struct of one of
/// these. An indexed stage.
///
///     auto images = data::idx<data::pixels<28, 28>>("train-images-idx3-ubyte.gz");
///
/// Numbers are of the file's type, or of one that has all of its values: a file of bytes fits a field of int, one of
/// floats a field of double. data_error, with what the file has and what T needs, is thrown for a file of other extents
/// (axes of one do not count) or numbers before its elements are read; io_error and format_error as of io::read_idx.
/// All of the file is read into memory, once.
template <class T>
    requires(!std::is_void_v<T>)
auto idx(const std::string& path) {
    return idx_parts::open<T>({&path, 1});
}
/// A struct, or a tuple, whose fields come from a file each:
///
///     struct digit { data::pixels<28, 28> image; std::int32_t label; };
///     auto train = data::idx<digit>({"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}) | data::shuffle() | ...
///
/// option_error unless there are as many files as fields; data_error where one has another number of examples than the
/// first.
template <class T>
    requires(!std::is_void_v<T>)
auto idx(std::initializer_list<std::string> paths) {
    return idx_parts::open<T>({paths.begin(), paths.size()});
}

#if SINTER_BODIES
namespace idx_parts {

inline std::string_view name_of(io::idx_type type) {
    switch (type) {
    case io::idx_type::u8: return "bytes";
    case io::idx_type::i8: return "signed bytes";
    case io::idx_type::i16: return "16-bit integers";
    case io::idx_type::i32: return "32-bit integers";
    case io::idx_type::f32: return "floats";
    case io::idx_type::f64: return "doubles";
    }
    return "numbers";
}

SINTER_SELDOM_BODY std::vector<file> read_files(span<const std::string> paths, span<const needed_of_file> fields) {
    if (paths.size() != fields.size())
        throw option_error("another number of files than fields", "idx", to_text({paths.size(), " files"}),
                           to_text({fields.size(), ", a file for each field"}));
    const auto long_axes = [](span<const std::int64_t> all) {
        std::vector<std::int64_t> some;
        for (const std::int64_t e : all)
            if (e != 1) some.push_back(e);
        return some;
    };
    std::vector<file> files;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const needed_of_file& f = fields[i];
        const std::string where =
            f.name.empty() ? paths[i] : to_text({paths[i], ", field ", io::printable(f.name)});
        io::idx_array array = io::read_idx(paths[i], [&](const io::idx_array& header) {
            const span<const std::int64_t> extents(header.extents), example = extents.subspan(1);
            if (!f.copy(header.type) || long_axes(example) != long_axes(f.extents))
                throw data_error("IDX file does not fit the element", where,
                                 to_text({"examples ", io::extents_text(example), " of ", name_of(header.type)}),
                                 to_text({io::extents_text(f.extents), " of ", f.type}));
            if (i > 0 && extents[0] != files[0].array.extents[0])
                throw data_error("IDX files have different numbers of examples", where, to_text({extents[0]}),
                                 to_text({files[0].array.extents[0], ", as in ", paths[0]}));
        });
        file& to = files.emplace_back();
        to.copy = f.copy(array.type);
        to.numbers = 1;
        for (const std::int64_t e : f.extents) to.numbers *= static_cast<std::size_t>(e);
        to.bytes = to.numbers * io::idx_type_bytes(array.type);
        to.array = std::move(array);
    }
    return files;
}

SINTER_SELDOM_BODY void describe_file(description& d, const file& f) {
    base::fnv1a_hash h;
    for (std::size_t i = 0; i < f.array.bytes.size() && i < 1024; ++i)
        h.add(std::to_integer<unsigned char>(f.array.bytes[i]));
    d("extents", io::extents_text(f.array.extents))("numbers", name_of(f.array.type));
    d("the first numbers (their hash)", h.value());
}

} // namespace idx_parts
#endif

} // namespace sinter::data
