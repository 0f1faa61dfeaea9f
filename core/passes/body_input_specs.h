#pragma once

#include "ir/model.h"

namespace fusescope {

/// Gives the bodies of a prepared model, at every depth, the InputSpecs that follow from those of the model: the
/// extents that are passed to them at its `min`, `opt` and `max`, or -1 where these are unknown. Plans of bodies report
/// their costs at these extents; no input is refused because of them.
void specifyBodyInputs(Model& model);

}  // namespace fusescope
