#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"
#include "onnxlib/operator_types.h"
#include "planning/plan.h"

namespace fusescope {

/// How a node of the file is changed.
struct FileNodeTypes {
  enum class Role {
    AsDeclared,  ///< its operands and results keep the types of the file
    Calculates,  ///< its float operands are rounded to `reads`, and it runs in the type `runs`
    Moves,       ///< it has the type of the value that it moves
    FloatCast,   ///< a Cast of the author: its result has the type that it names
    AnyType,     ///< it reads floats in any stored type
  };
  Role role = Role::AsDeclared;
  DataType reads = DataType::Undefined;
  DataType runs = DataType::Undefined;
  FusedNodeId fused;          ///< in the main graph or a body's plan; invalid: the plan has no node for it
  std::vector<NodeId> nodes;  ///< the nodes of the plan's graph that come from it
  std::string keptBecause;    ///< why it cannot be written, although the plan lowers it
};

/// Determines how the nodes of one graph of the file, by index, change under `plan` (null: all types stay as declared).
class NodeRoles {
 public:
  NodeRoles(const onnxlib::FileModel& file, const onnxlib::FileGraph& graph, const Plan* plan, bool main);
  FileNodeTypes of(std::size_t node) const;

 private:
  bool isCall(const onnxlib::FileNode& node) const;

  const onnxlib::FileModel& m_file;
  const onnxlib::FileGraph& m_graph;
  const Plan* m_plan;
  std::vector<std::vector<NodeId>> m_nodes;  ///< by place: of the plan's graph
};

/// Returns the name of each node of a graph in messages and plans, by index.
std::vector<std::string> uniqueNodeNames(const onnxlib::FileGraph& graph);

}  // namespace fusescope
