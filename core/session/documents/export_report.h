#pragma once

#include <string>

#include "base/json_fwd.h"
#include "interchange/exports.h"

namespace fusescope {

/// Returns what `export --json` prints of a file in `format` that was written at `path`. `numbers` is null where
/// nothing was run.
Json exportJson(const std::string& format, const std::string& path, const Exported& exported);

}  // namespace fusescope
