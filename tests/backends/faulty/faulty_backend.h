#pragma once

#include <limits>
#include <string>

#include "backends/backend.h"

namespace fusescope {

/// Runs regions as the reference does, right by one tactic ("faulty:right"). By the other ("faulty:wrong") the first
/// element of what it leaves is off by one, where it is above a bound, wherever the region holds a node of the operator
/// that setFaultyOperator() names.
const Backend& faultyBackend();

/// "faulty:wrong" rounds nothing that a contract rounds inside.
void setUnrounded(bool leavesOut);

/// Empty: none.
void setFaultyOperator(std::string op, float above = -std::numeric_limits<float>::infinity());

}  // namespace fusescope
