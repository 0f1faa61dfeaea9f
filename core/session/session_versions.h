#pragma once

#include "base/json.h"

namespace fusescope {

/// Of the document. Version 1 had one evaluation of a run, comparisons in a list of their own, and knew of a model's
/// external data nothing. Version 2 had one file of inputs, and an axis along which it is cut for all runs.
constexpr int kSessionVersion = 4;

/// The document of an older `version` as one of kSessionVersion. What is not as that version says is left as it is, for
/// the reader to name.
Json upToDate(Json json, int version);

}  // namespace fusescope
