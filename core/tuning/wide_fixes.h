#pragma once

#include <memory>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Pins that keep a value wider, and what the plan with them says.
struct WideFix {
  Directives pins;
  std::string effect;                ///< for people: "relu_1 is stored in f32 in place of f16; 1 cast more"
  std::shared_ptr<const Plan> plan;  ///< with the pins behind its directives; a draft (planning/draft_plan.h)
};

/// What is wrong with a value: it became infinite or NaN, which only storing it wider mends, or it is not exact enough.
enum class Harm { NotFinite, Inexact };

/// What pins around `value`, which a kernel of `plan` leaves in memory, can do about it: the nodes that make it, those
/// that read it, those that make what its kernel reads. Each set is planned, and only those are given that change how
/// the value is calculated, or of an infinite one, store it wider; smaller ones come first, and the first is the one to
/// take where none is run. Pins that stand in `plan` already stay as they are. Empty: no pin does anything about it.
/// `prices` may be null. Errors: those of planning.
Result<std::vector<WideFix>> wideFixes(const std::shared_ptr<const Plan>& plan, ValueId value, Harm harm,
                                       const PriceModel* prices, const StopToken& stop = {});

}  // namespace fusescope
