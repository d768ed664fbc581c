// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/safetensors.hpp>
#include <cstring>
#include <utility>

namespace sinter::inline SINTER_ORDINARY {

/// What of a hook lives on in a saved run. The hook lists its variables once, for saving and for
/// loading:
///
///     static constexpr const char* name = "my_hook";
///     void state(hook_state& s) { s("seen", seen_)("best", best_); }
///
/// They are tensors of the checkpoint, hooks/my_hook/seen and so on. state() may be called several
/// times and must only list. Types: bool, int, std::int64_t, float, double, std::vector of float,
/// double or std::int64_t, std::string, and whatever has a state() of its own. Loading changes
/// nothing before everything was found to be there, and of its type.
class hook_state {
public:
    template <class T>
    hook_state& operator()(const char* name, T& x) {
        const std::string outer = prefix_;
        ((prefix_ += '/') += name);
        if constexpr (requires { x.state(*this); }) x.state(*this);
        else if constexpr (std::is_same_v<T, bool>) item(safetensors::dtype::u8, &x, 1);
        else if constexpr (std::is_same_v<T, int>) item(safetensors::dtype::i32, &x, sizeof x);
        else if constexpr (std::is_same_v<T, std::int64_t>) item(safetensors::dtype::i64, &x, sizeof x);
        else if constexpr (std::is_same_v<T, float>) item(safetensors::dtype::f32, &x, sizeof x);
        else if constexpr (std::is_same_v<T, double>) item(safetensors::dtype::f64, &x, sizeof x);
        else if constexpr (std::is_same_v<T, std::vector<float>>) list(safetensors::dtype::f32, x);
        else if constexpr (std::is_same_v<T, std::vector<double>>) list(safetensors::dtype::f64, x);
        else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) list(safetensors::dtype::i64, x);
        else if constexpr (std::is_same_v<T, std::string>) list(safetensors::dtype::u8, x);
        else
            static_assert(sizeof(T) == 0,
                          "hook_state: a variable's type is none that can be saved (train/hooks/hook_state.hpp)");
        prefix_ = outer;
        return *this;
    }
    /// The same of a variable that older files do not have: it then keeps its value.
    template <class T>
    hook_state& optional(const char* name, T& x) {
        const bool outer = std::exchange(may_be_missing_, true);
        (*this)(name, x);
        may_be_missing_ = outer;
        return *this;
    }
    /// The same of a list that is often empty, and then left out of the file.
    template <class T>
    hook_state& where_any(const char* name, T& x) {
        if (mode_ == mode::write && x.empty()) return *this;
        if (mode_ == mode::read) x.clear();
        return optional(name, x);
    }
    /// Are the variables being given their saved values? Then what follows from them can be set as
    /// well, behind the list.
    bool reading() const { return mode_ == mode::read; }

    // ---- for those who save and load
    enum class mode : std::uint8_t { write, check, read };
    /// To write without a file; otherwise to check or to read what a file has.
    explicit hook_state(mode m, const safetensors::contents* from = nullptr) : mode_(m), from_(from) {}
    /// What is listed from here on begins with this.
    void begin(std::string prefix) { prefix_ = std::move(prefix); }
    std::vector<safetensors::entry> entries() const {   ///< that point into this
        std::vector<safetensors::entry> all;
        for (const written& w : written_) all.push_back({w.name, w.type, w.shape, w.bytes.data()});
        return all;
    }
    const std::vector<std::string>& names() const { return names_; }           ///< of all that was checked
    const std::vector<std::string>& differences() const {
        return differences_;
    }   ///< a line for each fault found by checking

private:
    struct written {
        std::string name;
        safetensors::dtype type;
        std::vector<std::int64_t> shape;
        std::vector<char> bytes;
    };
    mode mode_;
    const safetensors::contents* from_;
    std::string prefix_;
    bool may_be_missing_ = false;
    std::vector<written> written_;
    std::vector<std::string> names_, differences_;

    SINTER_SELDOM SINTER_COLD const safetensors::tensor_view* find(safetensors::dtype type, std::size_t rank) {
        const auto found = from_->tensors.find(prefix_);
        const bool there = found != from_->tensors.end();
        if (mode_ == mode::check) {
            names_.push_back(prefix_);
            const std::string needed =
                std::string(safetensors::dtype_name(type)) + (rank ? ", a list" : ", one number");
            if (!there && may_be_missing_) return nullptr;
            if (!there) differences_.push_back(prefix_ + ": missing, needed " + needed);
            else if (found->second.type != type || found->second.shape.size() != rank)
                differences_.push_back(prefix_ + ": got " +
                                       safetensors::describe(found->second.type, found->second.shape) + ", needed " +
                                       needed);
            else return &found->second;
            return nullptr;
        }
        return there ? &found->second : nullptr;
    }
    SINTER_SELDOM SINTER_COLD void item(safetensors::dtype type, void* x, std::size_t bytes) {
        if (mode_ == mode::write) {
            const char* const at = static_cast<const char*>(x);
            return void(written_.push_back({prefix_, type, {}, {at, at + bytes}}));
        }
        if (const safetensors::tensor_view* t = find(type, 0); t && mode_ == mode::read) {
            std::memcpy(x, t->data.data(), bytes);
            if (type == safetensors::dtype::u8)
                *static_cast<bool*>(x) = t->data[0] != std::byte{0};   // a bool is 0 or 1, whatever the file says
        }
    }
    template <class List>
    SINTER_COLD void list(safetensors::dtype type, List& x) {
        using element = typename List::value_type;
        if (mode_ == mode::write) {
            const char* const at = reinterpret_cast<const char*>(x.data());
            return void(written_.push_back(
                {prefix_, type, {static_cast<std::int64_t>(x.size())}, {at, at + x.size() * sizeof(element)}}));
        }
        const safetensors::tensor_view* const t = find(type, 1);
        if (!t) return;
        const std::size_t n = t->data.size() / sizeof(element);
        if (mode_ == mode::check) return x.reserve(n);   // so that reading cannot fail
        x.resize(n);
        if (n) std::memcpy(x.data(), t->data.data(), n * sizeof(element));
    }
};

} // namespace sinter
