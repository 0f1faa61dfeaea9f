#include "ui/document/selection_history.h"

#include "ir/graph.h"
#include "ui/document/plan_document.h"
#include "ui/document/selection.h"

namespace fusescope {

SelectionHistory::SelectionHistory(Selection& selection, const PlanDocument& document, QObject* parent)
    : QObject(parent), m_selection(selection), m_document(document) {
  connect(&document, &PlanDocument::graphChanged, this, &SelectionHistory::follow);
  connect(&selection, &Selection::changed, this, [this](const QObject* source) {
    if (source != this) note();
  });
}

/// An empty selection is not recorded in the history.
void SelectionHistory::note() {
  Visited now{m_selection.nodes(), m_selection.inside(), m_selection.kernel()};
  if (now.nodes.empty() && now.kernel.empty()) return;
  if (!m_visited.empty() && m_visited[m_at] == now) return;
  if (!m_visited.empty()) m_visited.resize(m_at + 1);
  m_visited.push_back(std::move(now));
  if (m_visited.size() > kMost) m_visited.erase(m_visited.begin());
  m_at = m_visited.size() - 1;
}

void SelectionHistory::back() {
  if (canGoBack()) goTo(m_at - 1);
}

void SelectionHistory::forward() {
  if (canGoForward()) goTo(m_at + 1);
}

void SelectionHistory::follow(const Graph* before) {
  const auto visited = std::exchange(m_visited, {});
  const std::size_t at = std::exchange(m_at, 0);
  if (before == nullptr) return m_selection.clear(this);
  const Graph& now = m_document.snapshot()->graph();
  for (std::size_t i = 0; i < visited.size(); ++i) {
    Visited there = visited[i];
    there.nodes = sameNodes(there.nodes, *before, now);
    const bool gone = there.nodes.empty() && !visited[i].nodes.empty();
    if (!gone && (m_visited.empty() || m_visited.back() != there)) m_visited.push_back(std::move(there));
    if (i == at && !m_visited.empty()) m_at = m_visited.size() - 1;
  }
  std::vector<NodeId> nodes = sameNodes(m_selection.nodes(), *before, now);
  if (nodes.empty() && !m_selection.nodes().empty()) return m_selection.clear(this);
  m_selection.set(std::move(nodes), this, m_selection.inside(), m_selection.kernel());
}

void SelectionHistory::goTo(std::size_t place) {
  m_at = place;
  const Visited to = m_visited[place];
  m_selection.set(to.nodes, this, to.inside, to.kernel);
}

}  // namespace fusescope
