// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE error_message
#include <boost/test/unit_test.hpp>

#include <sinter/graph/shape.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/compiler/error_message.hpp>

#include <string_view>

/// The type that a compile error shows. (The errors themselves: test/bad.)
using namespace sinter;
using namespace sinter::compiler;

struct sound {
    static constexpr fault err{};
};
struct faulty {
    static constexpr fault err = [] {
        fault f;
        f.what = fault_kind::inner_extents_differ;
        f.where = op::gemm;
        for (char c : std::string_view("tower/dense_1")) f.path[f.path_length++] = c;
        f.got = extents(3, 4);
        f.needed = extents(5);
        return f;
    }();
};
static_assert(std::is_same_v<detail::verdict<sound>::type, no_error>);
static_assert(check_model<no_error>::value);

template <class>
struct parts;
template <fault_kind What, class Where, class Path, int... Got, int... Needed>
struct parts<model_error<What, Where, Path, got<Got...>, needed<Needed...>>> {
    static constexpr fault_kind what = What;
    using where = Where;
    using path = Path;
    static constexpr int got_extents[] = {Got...}, needed_extents[] = {Needed...};
};
using told = parts<detail::verdict<faulty>::type>;
static_assert(told::what == fault_kind::inner_extents_differ);

#ifdef SINTER_ERROR_AS_STRING
template <printed P>
constexpr std::string_view text_of(in_layer<P>) { return P.c; }
template <printed P>
constexpr std::string_view text_of(in_op<P>) { return P.c; }
#else
template <char... C>
inline constexpr char letters[] = {C..., 0};
template <char... C>
constexpr std::string_view text_of(in_layer<C...>) { return letters<C...>; }
template <char... C>
constexpr std::string_view text_of(in_op<C...>) { return letters<C...>; }
#endif

BOOST_AUTO_TEST_CASE(what_where_got_needed) {
    BOOST_TEST(text_of(told::where{}) == "gemm");
    BOOST_TEST(text_of(told::path{}) == "tower/dense_1");
    BOOST_TEST(told::got_extents[0] == 3);
    BOOST_TEST(told::got_extents[1] == 4);
    BOOST_TEST(told::needed_extents[0] == 5);
    BOOST_TEST(std::size(told::got_extents) == 2U);
    static_assert(!model_error<fault_kind::sizes_differ, told::where, told::path, got<>, needed<>>::ok);
}
