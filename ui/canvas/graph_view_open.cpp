// Opening, selecting and finding items in a GraphView.
#include "ui/canvas/graph_view.h"
#include "ui/canvas/graph_view_state.h"

namespace fusescope {
namespace {

constexpr int kMostOpenedFor = 12;  // if more things are selected than this, the containers around them are not opened

}  // namespace

QString GraphViewState::openableOf(const QString& name) const {
  const QString handle = scene->containerOf(name);
  return scene->findOpenable(handle) ? handle : QString();
}

void GraphViewState::setOpen(const QString& name, bool wanted) {
  const QString handle = openableOf(name);
  if ((!cover && !isGiven) || handle.isEmpty() || q->isOpen(name) == wanted) return;
  const int item = scene->itemOf(name);
  if (item >= 0) anchorKey = scene->items[std::size_t(item)].key;
  open.set(*scene->container(handle)->kind, handle, wanted);
  if (wanted) openAround({name});
  request();
}

bool GraphViewState::openAround(const QStringList& names) {
  bool any = false;
  for (const QString& name : names) {
    auto at = scene->container(scene->containerOf(name));
    while (at) {
      const QString around = at->within;
      at = scene->container(around);
      if (!at || !at->kind->opensForContent || open.isOpen(*at->kind, around)) continue;
      open.set(*at->kind, around, true);
      any = true;
    }
  }
  return any;
}

void GraphView::expand(const QString& name) {
  m->setOpen(name, true);
}
void GraphView::collapse(const QString& name) {
  m->setOpen(name, false);
}
void GraphView::toggle(const QString& name) {
  isOpen(name) ? collapse(name) : expand(name);
}
bool GraphView::isOpen(const QString& name) const {
  const QString handle = m->openableOf(name);
  return !handle.isEmpty() && m->open.isOpen(*m->scene->container(handle)->kind, handle);
}

void GraphView::expandAll() {
  if (!m->cover && !m->isGiven) return;
  m->open = allOpen(*m->scene);
  m->atRest = false;
  m->wasWhole = m->seesAll();
  m->request();
}

void GraphView::collapseAll() {
  if (!m->cover) return;
  m->atRest = true;
  m->wasWhole = m->seesAll();
  m->request();
}

void GraphView::select(const QStringList& names, bool reveal) {
  m->selection = names;
  m->currentName = names.isEmpty() ? QString() : names.last();
  m->resolveSelection();
  if (reveal && m->openAround(names.size() <= kMostOpenedFor ? names : QStringList(names.last()))) {
    m->revealsWhenDone = true;
    m->request();
  } else if (reveal) {
    m->revealSelection();
  }
  m->changed(false);
}
QStringList GraphView::selection() const {
  return m->selection;
}

int GraphView::search(const QString& text) {
  m->query = text.trimmed();
  m->matchIndex = -1;
  m->findMatches();
  emit searchChanged(-1, matchCount());
  update();
  return matchCount();
}

void GraphViewState::findMatches() {
  matches.clear();
  matchEntries = scene->matching(query);
  for (const int match : matchEntries) matches.insert(scene->itemOfEntry(match));
  if (matchIndex >= int(matchEntries.size())) matchIndex = -1;
}
int GraphView::matchCount() const {
  return int(m->matchEntries.size());
}
void GraphView::nextMatch() {
  m->stepMatch(1);
}
void GraphView::previousMatch() {
  m->stepMatch(-1);
}

}  // namespace fusescope
