#pragma once

#include <string>

#include "planning/read_back_plan.h"

namespace fusescope::test {

/// Returns what is wrong with a read-back plan of any compiler, or an empty text. Problems are: a node is in kernels
/// and has another fate, or has no kernel and no fate; a kernel has a float value as integers, or integers as floats;
/// or a kernel reads a value in a type in which no kernel writes it.
std::string problemOfMade(const ReadBackPlan& made);

}  // namespace fusescope::test
