#pragma once

#include "calibration/ranges.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// Returns every edge of the ranges: the observed numbers, the range of the codes, the clamped share, and the rms of
/// the error of 8-bit codes. Those with the largest clamped share are first. Null: no rows. It reads every histogram,
/// and must not be called on the GUI thread.
TableContent rangesContent(const Ranges* ranges);

/// Returns "23 edges and 5 weights by mse and mse, of 8 samples".
QString rangesInWords(const Ranges& ranges, const QString& from);

}  // namespace fusescope
