#pragma once

#include <QString>

#include "session/tune_answer.h"

namespace fusescope {

/// Returns the progress of a search for pins: "42 evaluations done, trying 5 pins".
QString triedWords(const TunedTry& tried);
/// Returns "best so far: 3 pins, error 0.004".
QString bestWords(const TunedPoint& best);

}  // namespace fusescope
