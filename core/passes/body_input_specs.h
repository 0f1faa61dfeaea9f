#pragma once

#include "ir/model.h"

namespace fusescope {

/// Gives the bodies of a prepared model, at whatever depth, the InputSpecs that follow from those of the model: what
/// the extents are that they are handed at its `min`, `opt` and `max`; -1 where that cannot be told. What is planned of
/// a body is told for these; nothing is refused for them.
void specifyBodyInputs(Model& model);

}  // namespace fusescope
