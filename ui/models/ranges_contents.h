#pragma once

#include "calibration/ranges.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// Every edge of the ranges: what was seen there, what codes stand for, how much of it is clamped, and the rms of what
/// codes of 8 bits change. Those that are clamped most first. Null: none. Reads every histogram: not for the GUI
/// thread.
TableContent rangesContent(const Ranges* ranges);

/// "23 edges and 5 weights by mse and mse, of 8 samples".
QString rangesInWords(const Ranges& ranges, const QString& from);

}  // namespace fusescope
