#include "ui/document/selection_history.h"

#include "ui/document/selection.h"

namespace fusescope {

SelectionHistory::SelectionHistory(Selection& selection, QObject* parent) : QObject(parent), m_selection(selection) {
  connect(&selection, &Selection::changed, this, [this](const QObject* source) {
    if (source != this) note();
  });
}

/// Nothing selected is no place to come back to.
void SelectionHistory::note() {
  Visited now{m_selection.nodes(), m_selection.inside(), m_selection.kernel()};
  if (now.nodes.empty() && now.kernel.empty()) return;
  if (!m_visited.empty() && m_visited[m_at] == now) return;
  if (!m_visited.empty()) m_visited.resize(m_at + 1);
  m_visited.push_back(std::move(now));
  if (m_visited.size() > kMost) m_visited.erase(m_visited.begin());
  m_at = m_visited.size() - 1;
  emit changed();
}

void SelectionHistory::back() {
  if (canGoBack()) goTo(m_at - 1);
}

void SelectionHistory::forward() {
  if (canGoForward()) goTo(m_at + 1);
}

void SelectionHistory::clear() {
  m_visited.clear();
  m_at = 0;
  emit changed();
}

void SelectionHistory::goTo(std::size_t place) {
  m_at = place;
  const Visited to = m_visited[place];
  m_selection.set(to.nodes, this, to.inside, to.kernel);
  emit changed();
}

}  // namespace fusescope
