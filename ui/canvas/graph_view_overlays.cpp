// The widgets over the picture of a GraphView: the legend, the button that says which items are dimmed, and the
// overview.
#include <algorithm>

#include "ui/canvas/graph_view.h"
#include "ui/canvas/graph_view_state.h"

namespace fusescope {
namespace {

constexpr int kOverlayMargin = 12, kChipGap = 6;

}  // namespace

void GraphViewState::showColors() {
  legend->show(*mode, colors, said, only);
  chip->show(legend->lines(), only);
  minimap->setScene(scene, colors);
  placeOverlays();
  q->update();
}

// Returns the place of the legend: the lower left corner, or the lower right corner if the left one is covered by boxes
// and the right one is not.
QPoint GraphViewState::legendPlace() const {
  const int y = q->height() - legend->height() - kOverlayMargin;
  const QPoint left(kOverlayMargin, y), right(q->width() - legend->width() - kOverlayMargin, y);
  const auto isOnBoxes = [&](const QPoint& place) {
    const QRectF covered(toScene(place), QSizeF(legend->size()) / camera.zoom);
    return std::ranges::any_of(scene->itemIndex.meeting(covered), [&](int item) {
      return scene->items[std::size_t(item)].isBox() && covered.intersects(scene->rects[std::size_t(item)]);
    });
  };
  return !minimap->isVisibleTo(q) && isOnBoxes(left) && !isOnBoxes(right) ? right : left;
}

void GraphViewState::placeOverlays() {
  const bool any = !scene->items.empty();
  legend->setVisible(any && wantsLegend && q->width() > 360 && q->height() > std::max(260, legend->height() + 60));
  // If the whole picture is visible, the overview would be useless and would cover a part of it.
  const bool allInSight = visibleScene().contains(scene->bounds);
  minimap->setVisible(any && wantsMinimap && !allInSight && q->width() > 420 && q->height() > 300);
  legend->move(legendPlace());
  const bool aboveLegend = legend->isVisibleTo(q);
  const int below = aboveLegend ? legend->y() : q->height() - kOverlayMargin + kChipGap;
  chip->move(aboveLegend ? legend->x() : kOverlayMargin, below - chip->height() - kChipGap);
  minimap->move(q->width() - minimap->width() - kOverlayMargin, q->height() - minimap->height() - kOverlayMargin);
}

void GraphView::setMinimapVisible(bool visible) {
  m->wantsMinimap = visible;
  m->placeOverlays();
}
void GraphView::setLegendVisible(bool visible) {
  m->wantsLegend = visible;
  m->placeOverlays();
}

void GraphView::showOnly(const QStringList& keys) {
  if (keys == m->only) return;
  m->only = keys;
  m->onlyKeys = QSet<QString>(keys.begin(), keys.end());
  m->showColors();
  emit shownOnlyChanged(keys);
}
QStringList GraphView::shownOnly() const {
  return m->only;
}
bool GraphView::hasLegend() const {
  return m->legend->isVisible();
}
void GraphView::focusLegend() {
  m->legend->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace fusescope
