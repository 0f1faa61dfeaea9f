#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "interchange/exports.h"

namespace fusescope {

/// A node of the file's main graph that reads or makes floats, with its type in a plan.
struct LoweredNode {
  std::string name;   ///< its name in the file; empty: it has none
  std::string shown;  ///< its name in plans and messages
  std::string op;
  std::string module;                   ///< Origin::module
  std::string programNode;              ///< Origin::programNode
  std::vector<std::string> outputs;     ///< values that it makes
  std::vector<std::string> weights;     ///< float constants that it reads; in a file these are initializers
  DataType type = DataType::Undefined;  ///< the type in which it calculates; for a node that moves elements, the stored
                                        ///< type
};

/// The nodes of a plan for tools that divide a network between float32 and one narrower float.
struct LoweredNodes {
  DataType low = DataType::Undefined;     ///< f16 or bf16
  std::vector<LoweredNode> wide, narrow;  ///< nodes that stay in float32, and nodes in `low`, in the order of the file
  std::vector<ExportNote> notes;          ///< parts of the plan that cannot be expressed in this way

  std::vector<std::string> wideNames() const;  ///< without duplicates
};

/// Divides the nodes of the main graph of `plan`. `format` is "--to modelopt" or the like, for messages. Nodes with
/// bodies count as wide, because none of these tools divides bodies. Errors: the plan quantises (these tools only lower
/// floats), lowers nothing, or lowers to two types.
Result<LoweredNodes> loweredNodes(const Plan& plan, std::string_view format, const StopToken& stop);

/// Returns whether nodes of the operator have bodies.
bool isHolder(std::string_view op);

/// Returns an error for nodes that a tool which uses names cannot distinguish: a node that stays in float32 and has no
/// name in the file, or has the same name as one that does not stay.
Status checkNodeNames(const LoweredNodes& nodes, std::string_view format);

}  // namespace fusescope
