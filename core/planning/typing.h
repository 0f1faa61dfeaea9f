#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "planning/structure.h"

namespace fusescope {

/// Which types stand on the edges of a graph, given what its nodes calculate in. A value is made in what its producer
/// calculates in, or in what the author has it leave instead (leavesAnotherType()), and wanted in the widest type of
/// its readers; it is stored at the narrower of the two (of two types of one width: the readers'), unless a Cast of the
/// author or a directive says otherwise. Moves pass both through. Changing a few nodes costs what they reach, and can
/// be taken back.
class Typing {
 public:
  /// `calculates` by NodeId, Undefined where a node calculates no floats; `pinned` by ValueId, Undefined where free.
  Typing(const Graph& graph, const Structure& structure, std::vector<DataType> calculates,
         std::vector<DataType> pinned);

  DataType calculates(NodeId node) const { return m_calculates[node.index]; }
  const std::vector<DataType>& calculates() const { return m_calculates; }
  /// The type at which `value` stands in memory where it does; constants at their own.
  DataType stored(ValueId value) const { return m_stored[value.index]; }
  /// The type at which `node` reads operand `i` where it is in memory. Undefined: it takes what is there; a node that
  /// moves elements what its result is read or stored at, a Cast to an integer what is stored.
  DataType readType(const Node& node, std::size_t i) const;
  bool moves(NodeId node) const { return m_structure.facts[node.index].moves; }

  struct Change {
    std::vector<std::pair<NodeId, DataType>> nodes;    ///< what they calculate in
    std::vector<std::pair<ValueId, DataType>> values;  ///< pinned types
  };
  /// Applies the change; returns what takes it back and the values whose stored type is another now.
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
  std::vector<DataType> m_calculates, m_pinned;      ///< by NodeId, by ValueId
  std::vector<DataType> m_made, m_wanted, m_stored;  ///< by ValueId
};

/// Whether the network's author has a node leave a result at `declared` that is not the type it calculates in: a
/// normalisation in f16 its statistics in f32. Such a result is made in what is declared, whatever the node calculates
/// in.
bool leavesAnotherType(const NodeFacts& producer, DataType declared);
/// Whether `node` is a Cast of the author between floats that rounds: to f16 or bf16.
bool rounds(const Graph& graph, const Node& node);
/// The narrower of two float types; of one width, the second.
DataType narrower(DataType made, DataType wanted);
/// The narrowest type that holds both: f32 for f16 and bf16. Undefined counts as nothing.
DataType widest(DataType a, DataType b);

}  // namespace fusescope
