#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interchange/exports.h"
#include "onnxlib/network_edits.h"
#include "planning/plan.h"

namespace fusescope {

/// An edge that the plan holds wider inside a kernel than a network stores between two nodes.
struct HeldWider {
  std::string value;  ///< of the file
  DataType held = DataType::Undefined, stored = DataType::Undefined;
  FusedNodeId fused{};                     ///< whose inner edge it is
  std::set<onnxlib::NodePlace> between{};  ///< what makes it and what reads it there
  bool harmless = true;                    ///< it is rounded right behind what reads it, which gives the same then
};

/// A conversion that the edits put into the network.
struct InsertedCast {
  std::string value;  ///< of the file
  DataType from = DataType::Undefined, to = DataType::Undefined;
};

/// A network with the types of a plan, as edits of its file.
struct TypedNetwork {
  onnxlib::NetworkEdits edits;
  std::map<std::string, std::string> storedAs;  ///< by value of the main graph: the name at its stored type
  std::vector<HeldWider> heldWider;             ///< of the main graph, in its order
  std::vector<InsertedCast> casts;
  std::vector<ExportNote> notes;
};

struct TypedNetworkOptions {
  WeightTypes weights = WeightTypes::Convert;
  BorderTypes borders = BorderTypes::Keep;
  std::set<onnxlib::NodePlace> wide{};  ///< nodes that calculate in f32 between Casts, their operands rounded as before
};

/// Writes what `plan` stores and calculates in into `file`, which it was made of: each node's float operands have the
/// type that it calculates in, and each value that stands in memory its stored type. Moves go in the type of what they
/// move. Where a file's opset does not allow a type and a newer one does, the opset is raised
/// (opset_raising.h). Errors: it cannot be, by node and operator.
Result<TypedNetwork> typedNetwork(const Plan& plan, const onnxlib::FileModel& file, const TypedNetworkOptions& options);

}  // namespace fusescope
