#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>

#include "backends/backend.h"

namespace fusescope {

/// Runs regions as the reference does, right by one tactic ("faulty:right"). The other ("faulty:wrong") has the fault
/// that is planted, if any.
const Backend& faultyBackend();

/// Changes elements of the first output, whatever its type: `elements` are its numbers, rounded to that type
/// afterwards.
using OutputFault = std::function<void(std::span<float> elements, const Dims& dims)>;
/// One in what regions leave that hold a node of operator `op`; null: none.
void setFault(std::string op, OutputFault fault);

/// Where it is above a bound, the first element of what regions leave that hold a node of operator `op` is off by one.
/// Empty: none.
void setFaultyOperator(std::string op, float above = -std::numeric_limits<float>::infinity());

/// Regions that hold a node of operator `op` cannot be compiled for "faulty:right", and by neither tactic if
/// `byNeither`. Empty: all can.
void setUncompilable(std::string op, bool byNeither = false);

/// "faulty:wrong" rounds nothing that a contract rounds inside.
void setUnrounded(bool leavesOut);

/// "faulty:wrong" leaves out the last node of each region that has several.
void setUnfinished(bool leavesOut);

}  // namespace fusescope
