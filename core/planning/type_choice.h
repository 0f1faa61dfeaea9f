#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planning/structure.h"

namespace fusescope {

/// What a node calculates in, and why.
struct TypeChoice {
  DataType type = DataType::Undefined;  ///< Undefined: it moves elements and takes their type
  TypeReason reason = TypeReason::Default;
  int directive = -1;  ///< the pin that was asked, granted or not
  std::string why;     ///< of a pin or a --precision that was not granted
};

/// Chooses for one node at a time: what is asked with --precision, what the author wrote, what a pin asks.
class TypeChooser {
 public:
  /// `priced` (by NodeId, or empty): the types that prices chose where several are allowed.
  TypeChooser(const Graph& graph, const Target& target, const Structure& structure, const PlanOptions& options,
              std::vector<DataType> priced);
  /// `pin`: index of the directive in force, or -1.
  TypeChoice choose(NodeId node, int pin) const;
  /// Of a product whose operands are dequantised by another kernel, without a pin.
  TypeChoice chooseUnquantised(NodeId node) const;
  /// Why the value of a PinOutput directive cannot be stored at `type`; empty if it can.
  std::string outputObstacle(ValueId value, DataType type) const;

 private:
  TypeChoice unpinned(NodeId node) const;
  /// `choice`, or that the node keeps its type because the target does not run its operator in that of `choice`.
  TypeChoice whereItRuns(NodeId node, TypeChoice choice) const;
  std::string obstacle(NodeId node, DataType type) const;
  static std::string whyNoFloats(const NodeFacts& facts);
  /// Why the target does not run the node's operator in `type`; empty if it does.
  std::string operatorObstacle(NodeId node, DataType type) const;
  bool namesExactly(const Directive& pin, const Node& node) const;

  const Graph& m_graph;
  Target m_target;
  const Structure& m_structure;
  const PlanOptions& m_options;
  std::vector<DataType> m_priced;
  std::vector<DataType> m_floats;  ///< --precision without integers
  std::vector<DataType> m_asked;   ///< and without f32
};

}  // namespace fusescope
