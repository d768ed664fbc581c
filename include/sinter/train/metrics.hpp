// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/metrics/accuracy.hpp>
#include <sinter/train/metrics/confusion_matrix.hpp>
#include <sinter/train/metrics/mean.hpp>
