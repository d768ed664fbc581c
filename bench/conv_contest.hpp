// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <optional>

#include "contest.hpp"
#include "onednn.hpp"

/// A convolution of Sinter's in turns with oneDNN's of the same extents.
namespace sinter::bench {

/// One layer's geometry and data as oneDNN names them; `x`, `y` channels last, `w`
/// [taps][CI / groups][CO].
struct peer_layer {
    /// holes: dilation - 1; of grouped ones w begins with the groups.
    onednn::dims x, y, w, step, before, behind, holes;
    float *at_x, *at_y, *at_w;

    /// Nothing where oneDNN has no such primitive here.
    std::optional<onednn::function> make(const std::string& kind, dnnl::algorithm how) const {
        using namespace onednn;
        using dnnl::prop_kind;
        const bool volumes = x.size() == 5, grouped = w.size() > x.size();
        const tag images = volumes ? tag::ndhwc : tag::nhwc;
        const tag weights = grouped ? (volumes ? tag::dhwigo : tag::hwigo) : volumes ? tag::dhwio : tag::hwio;
        const desc dx(x, f32, images), dy(y, f32, images), dw(w, f32, weights);
        const desc ax(x, f32, tag::any), ay(y, f32, tag::any), aw(w, f32, tag::any);
        try {
            const dnnl::convolution_forward::primitive_desc f(
                {prop_kind::forward_training, how, ax, aw, ay, step, holes, before, behind}, engine());
            if (kind == "forward")
                return function(dnnl::convolution_forward(f),
                                {{DNNL_ARG_SRC, {dx, at_x, f.src_desc()}},
                                 {DNNL_ARG_WEIGHTS, {dw, at_w, f.weights_desc()}},
                                 {DNNL_ARG_DST, {dy, at_y, f.dst_desc()}}}, DNNL_ARG_DST);
            if (kind == "dX") {
                const dnnl::convolution_backward_data::primitive_desc b({how, ax, aw, ay, step, holes, before, behind},
                                                                        engine(), f);
                return function(dnnl::convolution_backward_data(b),
                                {{DNNL_ARG_DIFF_SRC, {dx, at_x, b.diff_src_desc()}},
                                 {DNNL_ARG_WEIGHTS, {dw, at_w, b.weights_desc()}},
                                 {DNNL_ARG_DIFF_DST, {dy, at_y, b.diff_dst_desc()}}}, DNNL_ARG_DIFF_SRC);
            }
            const dnnl::convolution_backward_weights::primitive_desc b({how, ax, aw, ay, step, holes, before, behind},
                                                                       engine(), f);
            return function(dnnl::convolution_backward_weights(b),
                            {{DNNL_ARG_SRC, {dx, at_x, b.src_desc()}},
                             {DNNL_ARG_DIFF_WEIGHTS, {dw, at_w, b.diff_weights_desc()}},
                             {DNNL_ARG_DIFF_DST, {dy, at_y, b.diff_dst_desc()}}}, DNNL_ARG_DIFF_WEIGHTS);
        } catch (const dnnl::error&) { return {}; }
    }
};

/// `ours` has written `mine`, n floats; the peers write theirs where `p` says. `filtered`: ours by
/// Winograd's filtering, or nothing; writes `by_filter`. `more`: a member for the JSON line, with a
/// comma before it.
inline void compete(const std::string& name, const std::string& kind, double flops, const peer_layer& p, float* theirs,
                    const float* mine, std::int64_t n, const std::function<void()>& ours,
                    const std::function<void()>& filtered, const float* by_filter, const contest_settings& settings,
                    const std::string& more = {}) {
    const std::string facts = "\"layer\":\"" + name + "\",\"kind\":\"" + kind + "\"" + more;
    auto direct = p.make(kind, dnnl::algorithm::convolution_direct),
         any = p.make(kind, dnnl::algorithm::convolution_auto);
    std::vector<contestant> all{{"sinter", ours}};
    if (filtered) {
        filtered();
        expect_equal("sinter_winograd", facts, by_filter, mine, n);
        all.push_back({"sinter_winograd", filtered});
    }
    for (auto [label, f] : {std::pair("onednn", &direct), std::pair("onednn_auto", &any)}) {
        if (!*f) continue;
        (**f)();
        (*f)->get();
        expect_equal(label, facts, theirs, mine, n);
        all.push_back({label, [f = f] { (**f)(); }});
    }
    contest(facts, flops, all, settings.seconds, settings.rounds);
}

} // namespace sinter::bench
