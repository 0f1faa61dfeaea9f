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

/// An edge inside a kernel whose type in the plan is wider than the type in which the network stores the value.
struct WiderInnerEdge {
  std::string value;  ///< a value of the file
  DataType held = DataType::Undefined, stored = DataType::Undefined;
  FusedNodeId fused{};                     ///< the fused node whose inner edge it is
  std::set<onnxlib::NodePlace> between{};  ///< its producer and its readers in that fused node
  bool harmless = true;                    ///< its readers round it directly afterwards, so that the result is the same
};

/// A conversion that the edits add to the network.
struct InsertedCast {
  std::string value;  ///< a value of the file
  DataType from = DataType::Undefined, to = DataType::Undefined;
};

/// A network with the types of a plan, as edits of its file.
struct TypedNetwork {
  onnxlib::NetworkEdits edits;
  std::map<std::string, std::string> storedAs;  ///< for each value of the main graph, the name of the value in its
                                                ///< stored type
  std::vector<WiderInnerEdge> widerInnerEdges;  ///< in the main graph, in its order
  std::vector<InsertedCast> casts;
  std::vector<ExportNote> notes;
};

struct TypedNetworkOptions {
  WeightTypes weights = WeightTypes::Convert;
  BorderTypes borders = BorderTypes::Keep;
  std::set<onnxlib::NodePlace> wide{};  ///< nodes that calculate in f32 between Casts, with operands rounded as before
};

}  // namespace fusescope
