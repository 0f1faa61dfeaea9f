#pragma once

#include <memory>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Pins that make a value wider, and the plan with them.
struct WideFix {
  Directives pins;
  std::string effect;                ///< for people: "relu_1 is stored in f32 in place of f16; 1 cast more"
  std::shared_ptr<const Plan> plan;  ///< a draft (planning/draft_plan.h) with the pins added after its directives
};

/// What is wrong with a value. NotFinite: it became infinite or NaN, which can only be fixed by storing it in a wider
/// type. Inexact: its error is too large.
enum class Harm { NotFinite, Inexact };

/// Finds sets of pins around `value`, which a kernel of `plan` writes to memory, that may fix it. The pins are on the
/// nodes that make it, on those that read it, and on those that make the inputs of its kernel. Each set is planned, and
/// only sets are returned that change how the value is calculated or, for NotFinite, store it in a wider type. Smaller
/// sets come first, and the first one is to be used if none is run. Pins that `plan` already has are kept. The result
/// is empty if no pin has an effect. `prices` may be null. Errors are those of planning.
Result<std::vector<WideFix>> wideFixes(const std::shared_ptr<const Plan>& plan, ValueId value, Harm harm,
                                       const PriceModel* prices, const StopToken& stop = {});

}  // namespace fusescope
