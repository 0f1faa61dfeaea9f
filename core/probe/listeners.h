#pragma once

#include <memory>

#include "probe/listener.h"

namespace fusescope {

/// This process's listener in an environment: the one that runs, else a new one. Waits where another thread is starting
/// it. Refuses a command that the user has not confirmed (environments.h). Errors: as Listener::start() has them.
Result<std::shared_ptr<Listener>> listenerIn(const Environment& environment, const ProbeOptions& options,
                                             const StopToken& stop);

/// Ends all listeners that no job uses.
void endIdleListeners();

}  // namespace fusescope
