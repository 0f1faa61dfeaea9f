#pragma once

#include <QObject>
#include <QStringList>
#include <string>
#include <vector>

#include "base/ids.h"

namespace fusescope {

class Graph;

/// The one selection that the canvas and every dock show. Nodes of the Graph, first the current one; where
/// another plan has another graph, SelectionHistory finds them there. Of something in a body the node that holds it is
/// selected, and inside() names it. `source` is who set it, so that a view need not scroll to what it was clicked on.
class Selection : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  const std::vector<NodeId>& nodes() const { return m_nodes; }
  NodeId current() const { return m_nodes.empty() ? NodeId() : m_nodes.front(); }
  bool contains(NodeId node) const;
  /// "HOLDER/NAME", as directives name it, or with the handle of a fused node as its name; empty: nothing in a body.
  const std::string& inside() const { return m_inside; }
  /// Handle of a kernel of the network that nodes() do not tell: it has none, or another one runs the same. Empty: they
  /// tell what is selected.
  const std::string& kernel() const { return m_kernel; }
  /// Emits changed() if it differs from what is selected.
  void set(std::vector<NodeId> nodes, const QObject* source = nullptr, std::string inside = {},
           std::string kernel = {});
  void clear(const QObject* source = nullptr) { set({}, source); }

 signals:
  void changed(const QObject* source);

 private:
  std::vector<NodeId> m_nodes;
  std::string m_inside, m_kernel;
};

/// The nodes of `now` that are called as `nodes` of `before`, another graph of the same network.
std::vector<NodeId> sameNodes(const std::vector<NodeId>& nodes, const Graph& before, const Graph& now);

struct FusedNode;
struct PlanSnapshot;

/// The kernel that is selected: all its nodes are, or nodes do not tell it. Null: something else is.
const FusedNode* selectedKernel(const Selection& selection, const PlanSnapshot& snapshot);
/// Selects what `names` stand for in the cover: all that are of the network; else the first that is in a body.
void selectNamed(Selection& selection, const PlanSnapshot& snapshot, const QStringList& names,
                 const QObject* source = nullptr);

}  // namespace fusescope
