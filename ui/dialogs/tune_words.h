#pragma once

#include <QString>

#include "session/tune_answer.h"

namespace fusescope {

// What a search for pins found, in words.

/// "error 0.004, 2 pins, ≈ 2.5 ms".
QString pointWords(const TunedPoint& point);
/// What a search answered, a line each: what was found and how good it is, also on the reference and once it is
/// exported; what everything pinned is better in; what it took.
QString answerWords(const TuneAnswer& answer);
/// One of the answer's other sets, which the user chose: its errors, and what was not tried of it.
QString choiceWords(const TunedPoint& point, const TuneAnswer& answer);

}  // namespace fusescope
