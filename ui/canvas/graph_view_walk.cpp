#include <algorithm>
#include <cmath>

#include "ui/canvas/graph_view.h"
#include "ui/canvas/graph_view_state.h"
#include "ui/document/made_words.h"

namespace fusescope {

int GraphViewState::current() const {
  if (!currentName.isEmpty()) {
    const int item = scene->itemOf(currentName);
    if (item >= 0) return item;
  }
  return selected.isEmpty() ? -1 : *std::min_element(selected.begin(), selected.end());
}

void GraphViewState::choose(int item, bool add) {
  if (item < 0) return;
  const QString name = scene->items[std::size_t(item)].handle();
  if (add && selection.contains(name)) {
    selection.removeAll(name);
  } else {
    if (!add) selection.clear();
    selection << name;
  }
  currentName = name;
  resolveSelection();
  changed(true);
}

// Returns the neighbour that is most nearly straight below or above, along an edge. For a container, the edges of the
// items in it count.
int GraphViewState::nearestAlong(int item, bool down) const {
  const QRectF& start = scene->rects[std::size_t(item)];
  int best = -1;
  double least = 1e30;
  for (const CanvasEdge& edge : scene->edges) {
    const int near = down ? edge.from : edge.to, far = down ? edge.to : edge.from;
    if (!scene->isInside(near, item) || scene->isInside(far, item)) continue;
    const QPointF there = scene->rects[std::size_t(far)].center();
    const double distance = std::abs(there.x() - start.center().x()) + 0.5 * std::abs(there.y() - start.center().y());
    if (distance < least) {
      least = distance;
      best = far;
    }
  }
  return best;
}

int GraphViewState::sibling(int item, bool right) const {
  const QPointF start = scene->rects[std::size_t(item)].center();
  int best = -1;
  double least = 1e30;
  for (std::size_t i = 0; i < scene->items.size(); ++i) {
    if (int(i) == item || scene->items[i].parent != scene->items[std::size_t(item)].parent) continue;
    const QPointF there = scene->rects[i].center();
    const double across = (there.x() - start.x()) * (right ? 1 : -1);
    if (across <= 0) continue;
    const double distance = across + 3 * std::abs(there.y() - start.y());
    if (distance < least) {
      least = distance;
      best = int(i);
    }
  }
  return best;
}

int GraphViewState::firstChild(int item) const {
  int best = -1;
  for (std::size_t i = 0; i < scene->items.size(); ++i) {
    if (scene->items[i].parent != item) continue;
    if (best < 0 || scene->rects[i].top() < scene->rects[std::size_t(best)].top()) best = int(i);
  }
  return best;
}

void GraphViewState::walk(int key) {
  int item = current();
  if (item < 0) {
    item = scene->items.empty() ? -1 : scene->itemAt(visibleScene().center());
    if (item < 0 && !scene->items.empty()) item = 0;
    if (item < 0) return;
    choose(item, false);
    return reveal(scene->rects[std::size_t(item)]);
  }
  const CanvasItem& at = scene->items[std::size_t(item)];
  int next = -1;
  if (key == Qt::Key_Right) {
    if (at.canOpen && !at.open) return setOpen(at.handle(), true);
    next = at.open ? firstChild(item) : sibling(item, true);
  } else if (key == Qt::Key_Left) {
    if (at.open) return setOpen(at.handle(), false);
    next = at.parent >= 0 ? at.parent : sibling(item, false);
  } else {
    next = nearestAlong(item, key == Qt::Key_Down);
  }
  if (next < 0) return;
  choose(next, false);
  reveal(lookedAt(next));
}

void GraphViewState::stepMatch(int by) {
  const int count = int(matchEntries.size());
  if (count == 0) return;
  matchIndex = matchIndex < 0 ? (by > 0 ? 0 : count - 1) : (matchIndex + by + count) % count;
  const int entry = matchEntries[std::size_t(matchIndex)];
  const int item = scene->itemOfEntry(entry);
  currentName = scene->nameOfEntry(entry);
  selection = QStringList(currentName);
  resolveSelection();
  if (openAround(selection)) {
    revealsWhenDone = true;
    request();
  } else if (item >= 0) {
    reveal(lookedAt(item), true);
    centreOn(lookedAt(item).center());
  }
  changed(true);
  emit q->searchChanged(matchIndex, count);
}

namespace {

QString predictionNote() {
  return GraphView::tr("predicted: the target's compiler fuses by its own rules");
}

/// Describes how certain it is which kernel contains the node, or the node's fate if none does; empty for our own plan.
QString madeNote(const CanvasItem& item) {
  if (!item.fate.isEmpty()) return GraphView::tr("no kernel of its own: %1").arg(item.fate);
  if (!item.certainty) return {};
  const QString certainty = certaintyText(*item.certainty);
  return item.block == nullptr ? certainty : GraphView::tr("its least certain kernel is %1").arg(certainty);
}

/// Returns the meanings of an item's marks, each as a sentence.
QStringList markTexts(const CanvasColors& colors, int item) {
  QStringList texts;
  for (const Mark mark : colors.of(std::size_t(item)).marks)
    texts << QStringLiteral("%1: %2").arg(markWord(mark), colors.markWords(std::size_t(item), mark));
  return texts;
}

/// Describes the types in which an item calculates, that of its main operator first.
QString precisionText(const CanvasItem& item, const Theme& theme) {
  const QString main = precisionSwatch(item.precision, theme).text;
  if (item.facts.second == DataType::Undefined) return main;
  return GraphView::tr("calculates in %1, partly in %2").arg(main, precisionSwatch(item.facts.second, theme).text);
}

}  // namespace

QString GraphViewState::timeText(int item) const {
  const QString time = colors.timeWords(std::size_t(item));
  const TimeKind kind = colors.time(std::size_t(item)).kind;
  return time.isEmpty() || kind == TimeKind::Emulated
             ? time
             : time + QStringLiteral(", ") + kindText(kind, numbers.times.made);
}

/// Returns a text such as "local error 3e-4, carried error 1e-3", and says whether the tensor is wrong.
QString GraphViewState::errorsText(int item) const {
  const CanvasItem& it = scene->items[std::size_t(item)];
  if (it.timeKey.isEmpty() || numbers.errors.of.empty()) return {};
  const ShownError error = numbers.errors.find(it.timeKey.toStdString());
  QStringList parts;
  const auto add = [&](const QString& what, Which which) {
    const QString text = errorPairText(error, which, numbers.errors.bound);
    if (text.isEmpty()) return;
    const ErrorLevel level = levelOf(error, which, numbers.errors.bound);
    const QString words = levelText(level);
    parts << what.arg(level == ErrorLevel::CannotBeDetermined ? words : QStringLiteral("%1 (%2)").arg(text, words));
  };
  add(GraphView::tr("local error %1"), &LocalAndCarried::local);
  add(GraphView::tr("carried error %1"), &LocalAndCarried::carried);
  return parts.join(QStringLiteral(", "));
}

QString GraphViewState::differenceText(int item) const {
  if (overlay == nullptr) return {};
  const QString words = overlay->words.value(item);
  return words.isEmpty() ? words : GraphView::tr("differs: %1").arg(words);
}

QString GraphViewState::describe(int item) const {
  if (item < 0) return selection.join(", ");
  const CanvasItem& it = scene->items[std::size_t(item)];
  QStringList parts{it.title, it.detail};
  if (!it.meta.isEmpty()) parts << it.meta;
  if (it.precision != DataType::Undefined) parts << precisionText(it, theme);
  if (item == failingItem) parts << GraphView::tr("the shown run goes wrong here");
  if (it.block != nullptr && !it.block->note.isEmpty()) parts << it.block->note;
  if (const QString differs = differenceText(item); !differs.isEmpty()) parts << differs;
  if (it.prediction) parts << predictionNote();
  if (const QString made = madeNote(it); !made.isEmpty()) parts << made;
  if (const QString time = timeText(item); !time.isEmpty()) parts << time;
  if (const QString errors = errorsText(item); !errors.isEmpty()) parts << errors;
  parts << markTexts(colors, item);
  if (it.canOpen) parts << (it.open ? GraphView::tr("open") : GraphView::tr("closed, %n nodes", nullptr, it.nodes));
  parts << GraphView::tr("%1 in, %2 out").arg(it.edgesIn).arg(it.edgesOut);
  if (selection.size() > 1) parts << GraphView::tr("%1 selected").arg(selection.size());
  return parts.join(", ");
}

QString GraphViewState::tooltipAt(const QPointF& viewPoint) const {
  const QPointF point = toScene(viewPoint);
  const int item = scene->itemAt(point);
  const int edge = item >= 0 && scene->items[std::size_t(item)].isBox() ? -1 : scene->edgeAt(point, 6 / camera.zoom);
  if (edge >= 0) return scene->edges[std::size_t(edge)].tooltip;
  if (item < 0) return {};
  const CanvasItem& it = scene->items[std::size_t(item)];
  QString text = "<b>" + it.name.toHtmlEscaped() + "</b>";
  QStringList facts;
  if (!it.kindName.isEmpty()) facts << QString(it.kindName).replace('_', ' ');
  if (it.calculates()) facts << precisionText(it, theme);
  if (it.prediction) facts << predictionNote();
  if (const QString made = madeNote(it); !made.isEmpty()) facts << made;
  if (it.nodes > 1) facts << GraphView::tr("%1 nodes").arg(it.nodes);
  if (it.constants > 0) facts << GraphView::tr("%1 constants").arg(it.constants);
  if (const QString time = timeText(item); !time.isEmpty()) facts << time;
  if (const QString errors = errorsText(item); !errors.isEmpty()) facts << errors;
  text += "<br/>" + facts.join(QStringLiteral(" \u00b7 ")).toHtmlEscaped();
  if (!it.meta.isEmpty()) text += "<br/>" + it.meta.toHtmlEscaped();
  if (it.block != nullptr && !it.block->note.isEmpty())
    text += "<br/>" + it.block->note.toHtmlEscaped().replace("\n", "<br/>");
  for (const QString& mark : markTexts(colors, item)) text += "<br/>" + mark.toHtmlEscaped();
  if (const QString differs = differenceText(item); !differs.isEmpty())
    text += "<br/><b>" + differs.toHtmlEscaped() + "</b>";
  if (!it.stubs.isEmpty()) text += "<br/>" + GraphView::tr("reads %1").arg(it.stubs.join(", ")).toHtmlEscaped();
  const QString why = summary ? summary(it.handle()) : QString();
  if (!why.isEmpty()) text += "<br/><br/>" + why.toHtmlEscaped().replace("\n", "<br/>");
  return "<qt>" + text + "</qt>";
}

}  // namespace fusescope
