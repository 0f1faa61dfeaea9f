#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "interchange/exports.h"

namespace fusescope {

/// A node of the file's main graph that holds floats, as a plan has it.
struct LoweredNode {
  std::string name;   ///< in the file; empty: the file gives it none
  std::string shown;  ///< what plans and messages call it
  std::string op;
  std::string module;                   ///< Origin::module
  std::string programNode;              ///< Origin::programNode
  std::vector<std::string> outputs;     ///< values that it makes
  std::vector<std::string> weights;     ///< constants of floats that it reads; of a file its initializers
  DataType type = DataType::Undefined;  ///< what it calculates in; of one that moves elements, what these are stored in
};

/// A plan as seen by tools that divide a network between float32 and one narrower float.
struct LoweredNodes {
  DataType low = DataType::Undefined;     ///< f16 or bf16
  std::vector<LoweredNode> wide, narrow;  ///< what stays in float32, and what is in `low`; in the order of the file
  std::vector<ExportNote> notes;          ///< what of the plan cannot be said in these terms

  std::vector<std::string> wideNames() const;  ///< each once
};

/// Divides the nodes of the main graph of `plan`. `format`: "--to modelopt", for messages. Nodes with bodies count as
/// wide, since none of these tools divides bodies. Errors: the plan quantises (such tools lower floats alone), lowers
/// nothing, or lowers to two types.
Result<LoweredNodes> loweredNodes(const Plan& plan, std::string_view format, const StopToken& stop);

/// Whether nodes of the operator have bodies.
bool isHolder(std::string_view op);

/// Refuses nodes that a tool which goes by names cannot tell apart: a node that stays in float32 and has no name in the
/// file, or shares it with one that does not stay.
Status checkNodeNames(const LoweredNodes& nodes, std::string_view format);

}  // namespace fusescope
