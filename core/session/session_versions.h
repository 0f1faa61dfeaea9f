#pragma once

#include "base/json_fwd.h"

namespace fusescope {

/// The version of the document. In version 1 a run had one evaluation, comparisons were in a separate list, and
/// external data of a model was unknown. In version 2 there was one file of inputs, and one axis for cutting it in all
/// runs.
constexpr int kSessionVersion = 4;

/// Converts a document of an older `version` to kSessionVersion. Contents that violate that version are left unchanged,
/// so that the reader reports them.
Json upToDate(Json json, int version);

}  // namespace fusescope
