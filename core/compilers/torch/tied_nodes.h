#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/torch/program_network.h"

namespace fusescope::torch_compiler {

/// "linear" of "aten.linear.default".
std::string kindOfTarget(std::string_view target);

/// Adds `nodes`, known as `atMost` at best. Of a node that is there already the more certain of both stands.
void addAll(const KnownNodes& nodes, Certainty atMost, KnownNodes& into);

/// The first float of a list of types as the probe writes them; Undefined: there is none.
DataType floatOf(const std::vector<std::string>& types);

/// What nodes of a kernel make and others read, or the network gives.
std::vector<ValueId> leaving(const Graph& graph, const KnownNodes& nodes);

/// Adds decisions on the nodes that are tied to none of the program, and on how many are. `who`: the compiler, as
/// messages call it.
void tellUntied(const HandedNetwork& network, const ProgramNetwork& tied, std::string_view who, ReadBack& told);

}  // namespace fusescope::torch_compiler
