// The lock and the condition of the search. WebAssembly without threads has neither in its library, and needs none.
#pragma once

#include <mutex>

#if defined(__wasm__)

namespace goryu {

class Mutex {
public:
    void lock() noexcept {}
    void unlock() noexcept {}
};

class ConditionVariable {
public:
    // Nobody else could make the condition true.
    template <class Lock, class Duration, class Condition>
    void wait_for(Lock&, Duration, Condition) noexcept {}
    void notify_all() noexcept {}
};

}  // namespace goryu

#else

#include <condition_variable>

namespace goryu {

using Mutex = std::mutex;
using ConditionVariable = std::condition_variable;

}  // namespace goryu

#endif
