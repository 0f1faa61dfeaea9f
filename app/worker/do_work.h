#pragma once

#include "app/worker/engine_shelf.h"
#include "base/stop.h"
#include "session/worker_protocol.h"

namespace fusescope::worker {

/// Does what a request asks (any but Cancel and Shutdown) and gives its result's JSON. A pin marked obey that the plan
/// refuses is an error located at its node.
Result<Json> doWork(const WorkerRequest& request, EngineShelf& shelf, const StopToken& stop, const Progress& progress);

}  // namespace fusescope::worker
