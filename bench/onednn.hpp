// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <dnnl.hpp>

#include <unordered_map>

/// oneDNN's products and convolutions as functions to be timed. What it may lay out as it likes
/// ("any") is brought into that form before and taken out of it afterwards, outside of the time.
namespace sinter::bench::onednn {

using dims = dnnl::memory::dims;
using desc = dnnl::memory::desc;
using tag = dnnl::memory::format_tag;
constexpr auto f32 = dnnl::memory::data_type::f32;

inline const dnnl::engine& engine() {
    static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
    return e;
}
inline dnnl::stream& stream() {
    static dnnl::stream s(engine());
    return s;
}
inline void reorder(dnnl::memory& from, dnnl::memory& to) {
    dnnl::reorder(from, to).execute(stream(), from, to);
    stream().wait();
}

/// An argument in memory of its own, in the form that the primitive asked for.
class argument {
public:
    argument(const desc& plain, float* there, const desc& wanted)
        : plain_(plain, engine(), there), own_(wanted, engine()) {}
    void put() { reorder(plain_, own_); }
    void get() { reorder(own_, plain_); }
    const dnnl::memory& own() const { return own_; }

private:
    dnnl::memory plain_, own_;
};

/// A primitive with its arguments; `result` is the one that it writes.
class function {
public:
    function(const dnnl::primitive& p, std::unordered_map<int, argument> a, int result)
        : p_(p), a_(std::move(a)), result_(result) {
        for (auto& [id, x] : a_) {
            if (id != result) x.put();
            memory_.insert({id, x.own()});
        }
    }
    void operator()() {
        p_.execute(stream(), memory_);
        stream().wait();
    }
    void get() { a_.at(result_).get(); }

private:
    dnnl::primitive p_;
    std::unordered_map<int, argument> a_;
    std::unordered_map<int, dnnl::memory> memory_;
    int result_;
};

} // namespace sinter::bench::onednn
