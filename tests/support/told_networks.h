#pragma once

#include <string>

#include "planning/read_back_plan.h"

namespace fusescope::test {

/// What is wrong with what was read back, whatever compiler made it: a node that is in kernels and has another fate, or
/// the other way round; a kernel that has a value of floats as integers, or integers as floats, or reads it in a type
/// in which no kernel writes it; empty: nothing.
std::string problemOfMade(const ReadBackPlan& made);

}  // namespace fusescope::test
