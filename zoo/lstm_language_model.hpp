// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/expr/input.hpp>

namespace sinter::zoo {

/// The medium model of Zaremba, Sutskever and Vinyals 2014 ("Recurrent neural network
/// regularization", section 4.1); their large one has 1500 units, which drop out by 0.65.
struct lstm_language_model_size {
    int symbols = 10'000, steps = 35, units = 650;
    int embedded = 0;              ///< width of the symbols' embedding; 0: as many as units
    number dropout = 0.5;          ///< between layers, never from step to step
    recurrent_options recurrent{}; ///< .carried = true: as in the paper, a batch continues the one before
};

/// Symbol numbers [T] -> scores of each next one, [T, symbols]: two LSTMs on top of each other.
template <lstm_language_model_size S = lstm_language_model_size{}>
inline constexpr auto lstm_language_model = indices<S.steps>
    >> embedding<S.symbols, S.embedded ? S.embedded : S.units> >> dropout<S.dropout>
    >> lstm<S.units, S.recurrent> >> dropout<S.dropout>
    >> lstm<S.units, S.recurrent> >> dropout<S.dropout>
    >> dense<S.symbols>;

} // namespace sinter::zoo
