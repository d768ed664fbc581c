// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/chart/axis.hpp>
#include <sinter/train/chart/confusion_chart.hpp>
#include <sinter/train/chart/line_chart.hpp>
