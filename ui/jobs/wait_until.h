#pragma once

#include <functional>

namespace fusescope {

/// Runs the event loop of the GUI thread until `done` or so long; gives what `done` says then. Asks after each event,
/// and sleeps between them: a loop that only asked would take a core from the work that it waits for.
bool waitUntil(const std::function<bool()>& done, int milliseconds);

}  // namespace fusescope
