#pragma once

#include <QString>

#include "session/runs/run.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Returns a table of which engine serves which extents of a run; empty if this was not determined.
QString servingHtml(const Run& run, const Theme& theme);

}  // namespace fusescope
