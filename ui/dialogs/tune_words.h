#pragma once

#include <QString>

#include "session/tune_answer.h"
#include "ui/docks/error_plot.h"

namespace fusescope {

// What a search for pins found, in words.

/// "error 0.004, 2 pins, ≈ 2.5 ms".
QString pointWords(const TunedPoint& point);
/// Sets of pins that a search found, error against predicted time, or against their number where not every time is
/// known. `chosen`: what it recommends; `allowed`: the error that was asked for.
ErrorPlotContent tunePlotContent(const std::vector<TunedPoint>& points, const std::optional<TunedPoint>& chosen,
                                 std::optional<double> allowed);
/// What a search answered, a line each: what was found and how good it is, also on the reference and once it is
/// exported; what everything pinned is better in; what it took.
QString answerWords(const TuneAnswer& answer);
/// One of the answer's other sets, which the user chose: its errors, and what was not tried of it.
QString choiceWords(const TunedPoint& point, const TuneAnswer& answer);

}  // namespace fusescope
