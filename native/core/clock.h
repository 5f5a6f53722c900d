// Clocks, to measure where the time of a search goes.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace goryu {

// A moment: the processor time that this thread has used, and the wall time, in nanoseconds.
struct Moment {
    std::int64_t cpu = 0;
    std::int64_t wall = 0;

    static Moment now() noexcept {
        Moment moment;
        moment.wall = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
#ifdef CLOCK_THREAD_CPUTIME_ID
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        moment.cpu = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
#else
        moment.cpu = moment.wall;
#endif
        return moment;
    }
};

// The time spent in something that happens many times.
class Spent {
public:
    void add(const Moment& since) noexcept {
        const Moment now = Moment::now();
        cpu_ += now.cpu - since.cpu;
        wall_ += now.wall - since.wall;
    }
    double cpu_s() const noexcept { return 1e-9 * static_cast<double>(cpu_); }
    double wall_s() const noexcept { return 1e-9 * static_cast<double>(wall_); }

private:
    std::int64_t cpu_ = 0;
    std::int64_t wall_ = 0;
};

}  // namespace goryu
