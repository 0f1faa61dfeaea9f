#pragma once

#include <QString>

#include "session/tune_answer.h"

namespace fusescope {

/// "42 evaluations done, trying 5 pins": where a search for pins is.
QString triedWords(const TunedTry& tried);
/// "best so far: 3 pins, error 0.004".
QString bestWords(const TunedPoint& best);

}  // namespace fusescope
