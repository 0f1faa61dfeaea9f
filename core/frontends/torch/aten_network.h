#pragma once

#include <map>
#include <string>
#include <string_view>

#include "frontends/importers.h"
#include "frontends/torch/exported_program.h"

namespace fusescope::torch {

/// The domain of PyTorch's operators. In it, the operator of a node, "aten.linear.default", is its target in the
/// exported program, "torch.ops.aten.linear.default", without the domain.
inline constexpr std::string_view kDomain = "torch.ops";

/// Makes the network of an exported program: one node with the same name for each of its nodes, inputs with their
/// author's names, the weights that are read with their paths as names, and numbers of the graph as scalars. Arguments
/// that are not values become attributes; graphs among them become bodies. The origin of a node says where its author
/// wrote it; nodes of a body have the place of their holder. Errors name node and value. It is an error if a value is
/// read before it is made, or if a weight is missing or has an unknown type.
Result<Model> atenNetwork(const ExportedProgram& program, const std::map<std::string, Tensor>& weights,
                          const StopToken& stop);

}  // namespace fusescope::torch
