#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planning/structure.h"

namespace fusescope {

class Graph;
struct Node;

/// The type in which a node calculates, and the reason.
struct TypeChoice {
  DataType type = DataType::Undefined;  ///< Undefined: it moves elements and keeps their type
  TypeReason reason = TypeReason::Default;
  int directive = -1;  ///< the pin that applies, whether it was granted or not
  std::string why;     ///< why a pin or a --precision was not granted
};

/// Chooses the type of one node at a time from --precision, the author's types, and pins.
class TypeChooser {
 public:
  /// `priced` (by NodeId, or empty) has the types that prices chose where several are allowed.
  TypeChooser(const Graph& graph, const Target& target, const Structure& structure, const PlanOptions& options,
              std::vector<DataType> priced);
  /// `pin` is the index of the directive in force, or -1.
  TypeChoice choose(NodeId node, int pin) const;
  /// Returns the type of a product whose operands are dequantised by another kernel, if no pin applies to it.
  TypeChoice chooseUnquantised(NodeId node) const;
  /// Returns why the value of a PinOutput directive cannot be stored in `type`; empty if it can.
  std::string outputObstacle(ValueId value, DataType type) const;

 private:
  TypeChoice unpinned(NodeId node) const;
  /// Returns `choice`, unless the target does not run the operator in that type; then the node keeps its type.
  TypeChoice whereItRuns(NodeId node, TypeChoice choice) const;
  std::string obstacle(NodeId node, DataType type) const;
  static std::string whyNoFloats(const NodeFacts& facts);
  /// Returns why the target does not run the node's operator in `type`; empty if it does.
  std::string operatorObstacle(NodeId node, DataType type) const;
  bool namesExactly(const Directive& pin, const Node& node) const;

  const Graph& m_graph;
  Target m_target;
  const Structure& m_structure;
  const PlanOptions& m_options;
  std::vector<DataType> m_priced;
  std::vector<DataType> m_floats;  ///< the types of --precision that are floats
  std::vector<DataType> m_asked;   ///< the same without f32
};

}  // namespace fusescope
