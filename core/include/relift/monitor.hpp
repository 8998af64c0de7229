// Progress and interruption: the kernel tells how much work it has done, and now and then the caller is asked.
#pragma once
#include <chrono>

#include "field.hpp"

namespace relift {

// Thrown through the kernel when the caller wants to stop; all memory is freed on the way.
struct Interrupted {};

class Monitor {
public:
    explicit Monitor(std::chrono::milliseconds between_questions = std::chrono::milliseconds(100))
        : between_(between_questions) {}
    virtual ~Monitor() = default;

    // Called often; asks the caller at most ten times a second, unless told otherwise.
    void did(u64 work, const char* phase, u64 round, u64 n_classes) {
        work_ += work;
        if (work_ < work_between_looks_at_the_clock) return;
        work_ = 0;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < between_) return;
        last_ = now;
        if (!go_on(phase, round, n_classes)) throw Interrupted();
    }

private:
    virtual bool go_on(const char* phase, u64 round, u64 n_classes) = 0;

    static constexpr u64 work_between_looks_at_the_clock = u64(1) << 17;
    u64 work_ = 0;
    std::chrono::milliseconds between_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace relift
