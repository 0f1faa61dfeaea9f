#pragma once

#include <map>
#include <string>
#include <string_view>

#include "frontends/importers.h"
#include "frontends/torch/exported_program.h"

namespace fusescope::torch {

/// The domain of PyTorch's operators. With it a node's operator, "aten.linear.default", is what an exported program
/// calls its target: "torch.ops.aten.linear.default".
inline constexpr std::string_view kDomain = "torch.ops";

/// The network of an exported program: a node for each of its nodes, of the same name; inputs under the names of their
/// author; weights that are read under their paths; numbers of the graph as scalars. Arguments that are no values are
/// attributes, graphs among them bodies. Where its author wrote a node is said by its origin; nodes of a body
/// have that of their holder. Errors name node and value: a value is read that nothing makes before, a weight is
/// missing or of a type that is not known.
Result<Model> atenNetwork(const ExportedProgram& program, const std::map<std::string, Tensor>& weights,
                          const StopToken& stop);

}  // namespace fusescope::torch
