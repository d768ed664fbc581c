// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/metrics/accuracy.hpp>
#include <sinter/train/metrics/auc.hpp>
#include <sinter/train/metrics/binary_accuracy.hpp>
#include <sinter/train/metrics/confusion_matrix.hpp>
#include <sinter/train/metrics/f1.hpp>
#include <sinter/train/metrics/mae.hpp>
#include <sinter/train/metrics/mean.hpp>
#include <sinter/train/metrics/mse.hpp>
#include <sinter/train/metrics/named.hpp>
#include <sinter/train/metrics/perplexity.hpp>
#include <sinter/train/metrics/precision.hpp>
#include <sinter/train/metrics/r2.hpp>
#include <sinter/train/metrics/recall.hpp>
#include <sinter/train/metrics/rmse.hpp>
#include <sinter/train/metrics/top_k.hpp>
