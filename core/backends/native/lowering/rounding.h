#pragma once

#include <map>
#include <optional>
#include <set>

#include "backends/backend.h"

namespace fusescope {
class Graph;
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Applies the only rounding rule (ARCHITECTURE.md) to a program in which every float is f32: it says to which type
/// nodes round values when they read them. Whoever writes a value to memory rounds it to its stored type.
class Rounding {
 public:
  /// `byReader` are constants that each reader rounds separately, by readBy(), although the program is lowered as a
  /// whole.
  explicit Rounding(const KernelRequest& request, std::set<ValueId> byReader = {});

  /// Returns the type to which a value that a node makes is rounded before other nodes of the program read it, because
  /// it is also written to memory or because the contract narrows it. Undefined: it is not rounded.
  DataType made(ValueId value) const { return found(m_made, value); }
  /// Returns the same if the rounding changes numbers, and Undefined for a value that has this narrow type already
  /// because it was only moved in memory.
  DataType rounds(ValueId value) const { return m_isHeld.contains(value) ? DataType::Undefined : made(value); }
  /// Returns the type to which all readers round a value that is in memory at the start, or was only moved from there.
  DataType read(ValueId value) const { return found(m_read, value); }

  /// Returns a narrow float that represents all of a value exactly, as its readers see it; Undefined if there is none.
  DataType holds(ValueId value) const { return found(m_exact, value); }

  /// Returns whether nodes read one value in several types. Then read() returns nothing, and nodes are lowered one by
  /// one with readBy().
  bool differs() const { return m_differs; }
  /// Returns whether each reader of this constant rounds it separately.
  bool isRoundedByReader(ValueId value) const { return m_roundedByReader.contains(value); }
  DataType readBy(NodeId reader, ValueId value) const;

 private:
  using Types = std::map<ValueId, DataType>;
  static DataType found(const Types& types, ValueId value) {
    const auto at = types.find(value);
    return at == types.end() ? DataType::Undefined : at->second;
  }
  bool isMoved(ValueId value) const { return m_moved.contains(value); }
  void findMade();
  void findHeld();
  void findMoved();
  void findWanted();
  void decide();
  void decide(ValueId value);
  DataType exactType(const Node& mover) const;

  const KernelRequest* m_request;
  const Graph* m_graph;
  std::set<ValueId> m_roundedByReader;
  Types m_made, m_read;
  std::set<ValueId> m_isHeld;  ///< values whose type was made() before the rounding
  std::set<ValueId> m_moved;   ///< values that are moved parts of operands in memory
  /// The types in which readers want a value, including readers behind moves.
  std::map<ValueId, std::set<DataType>> m_wanted;
  Types m_exact;  ///< see holds()
  bool m_differs = false;
};

}  // namespace fusescope::native
