#pragma once

#include <QObject>
#include <string>
#include <vector>

#include "base/ids.h"

namespace fusescope {

class Selection;

/// What was selected before, to go back to and forward again, as in a browser. Selections are of one model: whoever
/// opens another clears it. GUI thread only.
class SelectionHistory : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kMost = 200;  ///< the oldest are forgotten

  explicit SelectionHistory(Selection& selection, QObject* parent = nullptr);

  bool canGoBack() const { return m_at > 0; }
  bool canGoForward() const { return m_at + 1 < m_visited.size(); }
  void back();
  void forward();
  void clear();

 signals:
  void changed();

 private:
  struct Visited {
    std::vector<NodeId> nodes;
    std::string inside, kernel;
    bool operator==(const Visited&) const = default;
  };
  void note();
  void goTo(std::size_t place);

  Selection& m_selection;
  std::vector<Visited> m_visited;  ///< oldest first
  std::size_t m_at = 0;            ///< of m_visited, what is selected; meaningless while it is empty
};

}  // namespace fusescope
