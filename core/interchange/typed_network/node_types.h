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

/// What becomes of a node of the file.
struct FileNodeTypes {
  enum class Role {
    AsDeclared,  ///< its operands and results keep the types of the file
    Calculates,  ///< its float operands are rounded to `reads`, and it runs in `runs`
    Moves,       ///< it takes the type of what it moves
    FloatCast,   ///< the author's own: its result is as it says
    AnyType,     ///< it reads floats at whatever type they are stored
  };
  Role role = Role::AsDeclared;
  DataType reads = DataType::Undefined;
  DataType runs = DataType::Undefined;
  FusedNodeId fused;          ///< of the main graph or of a body's plan; invalid: no node stands for it
  std::vector<NodeId> nodes;  ///< of the plan's graph that stand for it
  std::string keptBecause;    ///< the plan lowers it, and it cannot be in the file: why
};

/// The nodes of one graph of the file under `plan` (null: nothing is known, all is as declared), by place.
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

/// The name that messages and plans give each node of a graph, by place.
std::vector<std::string> uniqueNodeNames(const onnxlib::FileGraph& graph);

}  // namespace fusescope
