#pragma once

#include <QObject>
#include <QStringList>
#include <string>
#include <vector>

#include "base/ids.h"

namespace fusescope {

class Graph;

/// The selection that the canvas and every dock share. It consists of nodes of the Graph, the current one first; if
/// another plan has another graph, SelectionHistory finds the nodes there. For something in a body the holder is
/// selected, and inside() names the thing. `source` is the object that set it, so that a view need not scroll to what
/// was clicked in it.
class Selection : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  const std::vector<NodeId>& nodes() const { return m_nodes; }
  NodeId current() const { return m_nodes.empty() ? NodeId() : m_nodes.front(); }
  bool contains(NodeId node) const;
  /// Returns "HOLDER/NAME", as in directives, or with the handle of a fused node as the name; empty: nothing in a body
  /// is selected.
  const std::string& inside() const { return m_inside; }
  /// Returns the handle of a selected kernel of the network that nodes() do not identify: it has no nodes, or another
  /// kernel has the same. Empty: the nodes identify the selection.
  const std::string& kernel() const { return m_kernel; }
  /// Emits changed() if the selection differs.
  void set(std::vector<NodeId> nodes, const QObject* source = nullptr, std::string inside = {},
           std::string kernel = {});
  void clear(const QObject* source = nullptr) { set({}, source); }

 signals:
  void changed(const QObject* source);

 private:
  std::vector<NodeId> m_nodes;
  std::string m_inside, m_kernel;
};

/// Returns the nodes of `now` with the same names as `nodes` of `before`, another graph of the same network.
std::vector<NodeId> sameNodes(const std::vector<NodeId>& nodes, const Graph& before, const Graph& now);

struct FusedNode;
struct PlanSnapshot;

/// Returns the selected kernel: all its nodes are selected, or it is selected without nodes. Null: something else is
/// selected.
const FusedNode* selectedKernel(const Selection& selection, const PlanSnapshot& snapshot);
/// Selects what `names` refer to in the cover: all things of the network; or else the first thing in a body.
void selectNamed(Selection& selection, const PlanSnapshot& snapshot, const QStringList& names,
                 const QObject* source = nullptr);

}  // namespace fusescope
