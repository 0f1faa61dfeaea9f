#pragma once

#include <QString>

#include "session/run.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Which engine serves which extents of a run, as a table; empty where that was not found out.
QString servingHtml(const Run& run, const Theme& theme);

}  // namespace fusescope
