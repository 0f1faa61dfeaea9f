#pragma once

#include <map>
#include <optional>
#include <set>

#include "backends/backend.h"

namespace fusescope::native {

/// The only rounding rule (ARCHITECTURE.md) for a program, which holds every float as f32: what its values are rounded
/// to where its nodes read them. What is stored is rounded by whoever writes it.
class Rounding {
 public:
  /// `apart`: constants that each of their readers rounds on its own, by readBy(), though the program is lowered whole.
  explicit Rounding(const KernelRequest& request, std::set<ValueId> apart = {});

  /// To what a value that a node makes is rounded before other nodes of the program read it: it also stands in memory,
  /// or the contract narrows it. Undefined: it is held as it was made.
  DataType made(ValueId value) const { return found(m_made, value); }
  /// The same where it is arithmetic: the value is no narrow float yet, as one is that was only moved from memory.
  DataType rounds(ValueId value) const { return m_isHeld.contains(value) ? DataType::Undefined : made(value); }
  /// To what a value that the program finds in memory, or has only moved from there, is rounded for all who read it.
  DataType read(ValueId value) const { return found(m_read, value); }

  /// A narrow float that can hold all of a value as those who read it see it; Undefined: there is none.
  DataType holds(ValueId value) const { return found(m_exact, value); }

  /// Whether nodes read one value at several types. Then nothing is read(), and nodes are lowered one by one, each with
  /// readBy().
  bool differs() const { return m_differs; }
  bool isApart(ValueId value) const { return m_apart.contains(value); }
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
  std::set<ValueId> m_apart;
  Types m_made, m_read;
  std::set<ValueId> m_isHeld;                      ///< made(), and of that type before
  std::set<ValueId> m_moved;                       ///< made by moves of what lies in memory
  std::map<ValueId, std::set<DataType>> m_wanted;  ///< by those who read a value, also through moves
  Types m_exact;                                   ///< holds()
  bool m_differs = false;
};

}  // namespace fusescope::native
