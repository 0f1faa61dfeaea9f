#pragma once

#include <functional>

namespace fusescope {

/// Sets the clock in milliseconds by which the store of this process measures how long loading takes, for tests: with a
/// clock that stands still, everything is worth keeping. Must be called before anything uses the store.
void setStoreClock(std::function<double()> nowMs);

}  // namespace fusescope
