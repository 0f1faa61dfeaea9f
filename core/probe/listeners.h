#pragma once

#include <memory>

#include "probe/listener.h"

namespace fusescope {

/// Returns this process's listener in an environment: the running one, or a new one. If another thread is starting it,
/// waits for that. A failure is remembered for as long as the attempt took. Errors: the user has not confirmed the
/// command (environments.h), and those of Listener::start().
Result<std::shared_ptr<Listener>> listenerIn(const Environment& environment, const ProbeOptions& options,
                                             const StopToken& stop);

/// Ends all listeners that no job uses.
void endIdleListeners();

}  // namespace fusescope
