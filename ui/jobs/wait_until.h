#pragma once

#include <functional>

namespace fusescope {

/// Runs the event loop of the GUI thread until `done` returns true or the time is over, and returns the result of
/// `done`. It calls `done` after each event, and sleeps between events: polling would use a core that the awaited work
/// needs.
bool waitUntil(const std::function<bool()>& done, int milliseconds);

}  // namespace fusescope
