#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "planning/structure.h"

namespace fusescope {

class Graph;
struct Node;

/// The types of the edges of a graph, given the types in which its nodes calculate. A value is produced in the type in
/// which its producer calculates, or in the type that the author declares for its result (leavesAnotherType()). It is
/// wanted in the widest type of its readers. It is stored in the narrower of the two types (if both are equally wide,
/// in that of the readers), unless a Cast of the author or a directive requires another. Both types pass through nodes
/// that only move elements. The time of a change depends only on the part of the graph that it affects, and a change
/// can be undone.
class Typing {
 public:
  /// `calculates` is by NodeId, and Undefined for a node that calculates no floats. `pinned` is by ValueId, and
  /// Undefined for a value that no directive stores in a certain type.
  Typing(const Graph& graph, const Structure& structure, std::vector<DataType> calculates,
         std::vector<DataType> pinned);

  DataType calculates(NodeId node) const { return m_calculates[node.index]; }
  const std::vector<DataType>& calculates() const { return m_calculates; }
  /// Returns the type of `value` in memory, if it is stored; constants have their own type.
  DataType stored(ValueId value) const { return m_stored[value.index]; }
  /// Returns the type in which `node` reads operand `i` from memory. Undefined means that it reads the stored type: a
  /// node that moves elements reads the type in which its result is read or stored, and a Cast to an integer reads what
  /// is stored.
  DataType readType(const Node& node, std::size_t i) const;
  bool moves(NodeId node) const { return m_structure.facts[node.index].moves; }

  struct Change {
    std::vector<std::pair<NodeId, DataType>> nodes;    ///< the types in which they calculate
    std::vector<std::pair<ValueId, DataType>> values;  ///< the pinned types
  };
  /// Applies a change. The result contains the change that reverts it, and the values whose stored type is different
  /// now.
  struct Undo {
    Change change;
    std::vector<ValueId> retyped;
  };
  Undo apply(const Change& change);

 private:
  DataType declared(ValueId value, NodeId reader) const;
  DataType findMade(ValueId value) const;
  DataType wantedBehind(const Node& move) const;
  DataType findWanted(ValueId value) const;
  DataType findStored(ValueId value) const;
  bool isFree(ValueId value) const;

  const Graph& m_graph;
  const Structure& m_structure;
  std::vector<DataType> m_calculates, m_pinned;      ///< by NodeId; by ValueId
  std::vector<DataType> m_made, m_wanted, m_stored;  ///< by ValueId
};

/// Returns whether the author declares a result of the node in another type than the node calculates in, as a
/// normalisation in f16 does with its statistics in f32. Such a result is produced in the declared type.
bool leavesAnotherType(const NodeFacts& producer, DataType declared);
/// Returns whether `node` is a Cast of the author between floats that rounds, to f16 or bf16.
bool rounds(const Graph& graph, const Node& node);
/// Returns the narrower of two float types, or `wanted` if both are equally wide.
DataType narrower(DataType made, DataType wanted);
/// Returns the narrowest type that represents all numbers of both, for example f32 for f16 and bf16. Undefined is
/// ignored.
DataType widest(DataType a, DataType b);

}  // namespace fusescope
