#pragma once

#include "app/worker/engine_shelf.h"
#include "base/stop.h"
#include "session/worker_protocol.h"

namespace fusescope::worker {

/// Does the work of a request (any request except Cancel and Shutdown) and returns its result as JSON. If the plan
/// refuses a pin marked obey, the result is an error that names its node.
Result<Json> doWork(const WorkerRequest& request, EngineShelf& shelf, const StopToken& stop, const Progress& progress);

}  // namespace fusescope::worker
