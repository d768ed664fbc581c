// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <span>
#include <string>

/// What the rest of a program knows of its model: standard C++ alone, so that it compiles at once
/// and is not compiled anew when the net changes.
class scorer {
public:
    virtual ~scorer() = default;
    /// Passes over the points, [n, 2], and their classes, 0 or 1.
    virtual void train(std::span<const float> points, std::span<const int> classes, int epochs) = 0;
    /// Is the point of class 1? How sure the model is, from 0 to 1.
    virtual float score(std::span<const float, 2> point) = 0;
    virtual void save(const std::string& file) const = 0;
};

std::unique_ptr<scorer> make_scorer(unsigned seed);
