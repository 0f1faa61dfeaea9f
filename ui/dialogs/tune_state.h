#pragma once

#include <QString>
#include <string>

#include "session/worker_protocol.h"

namespace fusescope {

/// The file in the session's `folder` where a search with the wishes of `tune` keeps what it evaluates: the same for
/// requests whose errors are the same numbers, whatever they are to reach. `model`: ModelFile::identity().
std::string tuneStateFile(const WorkerRequest& tune, const std::string& model, const QString& folder);

}  // namespace fusescope
