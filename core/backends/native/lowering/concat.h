#pragma once

#include <map>

#include "backends/native/kernels/code_table.h"
#include "backends/native/lowering/context.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// The tables that are applied to the codes of some operands of a Concat while it copies them.
using CodeTables = std::map<ValueId, CodeTable>;

/// Runs a Concat whose operands and result have one type.
Status emitConcat(Context& context, const Node& concat, const CodeTables& tables);

}  // namespace fusescope::native
