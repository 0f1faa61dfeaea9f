#pragma once

#include <QObject>
#include <string>
#include <vector>

#include "base/ids.h"

namespace fusescope {

class PlanDocument;
class Selection;

/// Earlier selections, for going back and forward as in a browser. It also converts the present and earlier selections
/// to the graph that the document displays. It is used on the GUI thread only.
class SelectionHistory : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kMost = 200;  ///< the oldest ones are deleted

  SelectionHistory(Selection& selection, const PlanDocument& document, QObject* parent = nullptr);

  bool canGoBack() const { return m_at > 0; }
  bool canGoForward() const { return m_at + 1 < m_visited.size(); }
  void back();
  void forward();

 private:
  struct Visited {
    std::vector<NodeId> nodes;
    std::string inside, kernel;
    bool operator==(const Visited&) const = default;
  };
  void note();
  void goTo(std::size_t place);
  /// Is called when the document shows another graph than `before`, or, if that is null, another model.
  void follow(const Graph* before);

  Selection& m_selection;
  const PlanDocument& m_document;
  std::vector<Visited> m_visited;  ///< the oldest first
  std::size_t m_at = 0;            ///< the index of the selection in m_visited; without meaning if that is empty
};

}  // namespace fusescope
