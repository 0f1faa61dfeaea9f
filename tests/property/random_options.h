#pragma once

#include "ir/graph.h"
#include "planning/plan.h"
#include "tests/mutation/dice.h"

namespace fusescope::property {

/// Precisions, a target and directives about `graph`. Every directive has an id, so that one can be left out and the
/// others keep their names. Some contradict each other.
PlanOptions randomOptions(mutation::Dice& dice, const Graph& graph);
/// For a cpu, with directives that lower nothing: splits, rules switched off, fallbacks, segments.
PlanOptions unloweredOptions(mutation::Dice& dice, const Graph& graph);

}  // namespace fusescope::property
