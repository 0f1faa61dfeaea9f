#pragma once

#include <QString>

#include "session/tune_answer.h"
#include "ui/widgets/error_plot.h"

namespace fusescope {

// Texts about the results of a search for pins.

/// Returns "error 0.004, 2 pins, ≈ 2.5 ms".
QString pointWords(const TunedPoint& point);
/// Returns a plot of the sets of pins that a search found: error against predicted time, or against the number of pins
/// if a time is unknown. `chosen` is the recommended set; `allowed` is the requested error.
ErrorPlotContent tunePlotContent(const std::vector<TunedPoint>& points, const std::optional<TunedPoint>& chosen,
                                 std::optional<double> allowed);
/// Returns the answer of a search, line by line: what was found and its errors, also on the reference and after an
/// export; in what pinning everything is better; how long it took.
QString answerWords(const TuneAnswer& answer);
/// Returns the text for another set of the answer that the user chose: its errors, and what was not tried for it.
QString choiceWords(const TunedPoint& point, const TuneAnswer& answer);

}  // namespace fusescope
