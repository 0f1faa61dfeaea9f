#include "ui/canvas/graph_view.h"

#include <QAccessible>
#include <QGuiApplication>
#include <QStyleHints>
#include <cmath>

#include "ui/canvas/graph_view_state.h"
#include "ui/jobs/wait_until.h"

namespace fusescope {
namespace {

constexpr int kTransitionMs = 220;
constexpr int kMostAnimatedItems = 1'500;

double eased(double t) {
  return t * t * (3 - 2 * t);
}

}  // namespace

GraphViewState::GraphViewState(GraphView* view) : q(view) {
  animated = QGuiApplication::platformName() != "offscreen";
  legend = new LegendWidget(view);
  chip = new FilterChip(view);
  minimap = new MinimapWidget(view);
  legend->hide();
  minimap->hide();
  band = new QRubberBand(QRubberBand::Rectangle, view);
  band->hide();
  frame.setInterval(16);
  settle.setSingleShot(true);
  settle.setInterval(0);
}

GraphView::GraphView(QWidget* parent) : QWidget(parent), m(std::make_unique<GraphViewState>(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumSize(160, 120);
  setAccessibleName(tr("Graph"));
  connect(&m->runner, &LayoutRunner::started, this, &GraphView::layoutStarted);
  connect(&m->runner, &LayoutRunner::warning, this, &GraphView::layoutWarning);
  connect(&m->runner, &LayoutRunner::finished, this,
          [this](std::shared_ptr<const CanvasScene> scene, const OpenState& open, double ms) {
            if (m->atRest) m->open = m->restOpen = open;
            // If the size of the canvas is still changing, the open blocks will be chosen again for the new size.
            m->atRest = m->atRest && m->settle.isActive();
            m->take(std::move(scene), ms);
          });
  connect(m->legend, &LegendWidget::chosen, this, &GraphView::showOnly);
  connect(m->chip, &QPushButton::clicked, this, [this] { showOnly({}); });
  connect(m->minimap, &MinimapWidget::centreWanted, this, [this](const QPointF& point) { m->centreOn(point); });
  connect(&m->settle, &QTimer::timeout, this, [this] { m->request(); });
  connect(&m->frame, &QTimer::timeout, this, [this] {
    const double t = double(m->transition.elapsed()) / kTransitionMs;
    m->progress = t >= 1 ? 1 : eased(t);
    if (t >= 1) {
      m->frame.stop();
      m->from.clear();
    }
    update();
  });
}

GraphView::~GraphView() = default;

void GraphView::setCover(std::shared_ptr<const Cover> cover, const QString& said,
                         std::shared_ptr<const ModuleTree> modules) {
  m->cover = std::move(cover);
  m->modules = std::move(modules);
  m->said = said;
  m->wantedModel = m->cover ? m->cover->model.get() : nullptr;
  if (!m->cover) {
    m->runner.forget();
    m->open = {};
    m->selection.clear();
    m->query.clear();
    m->take(std::make_shared<CanvasScene>(), 0);
    return;
  }
  if (m->wantedModel != m->sceneModel) {
    m->atRest = !m->nextView || m->nextView->atRest;
    m->restSize = {};
    m->open = m->nextView ? m->nextView->open : OpenState();
    showOnly(m->nextView ? m->nextView->only : QStringList());
    m->selection.clear();
    m->currentName.clear();
  }
  m->request();
}

void GraphView::setScene(std::shared_ptr<const CanvasScene> scene, std::shared_ptr<const CanvasOverlay> overlay,
                         const OpenState& open, const Model* model) {
  m->isGiven = true;
  m->cover.reset();
  m->wantedModel = model;
  if (m->wantedModel != m->sceneModel) {
    m->selection.clear();
    m->currentName.clear();
  }
  m->open = open;
  m->overlay = std::move(overlay);
  m->take(std::move(scene), 0);
}
std::shared_ptr<const CanvasOverlay> GraphView::overlay() const {
  return m->overlay;
}
std::shared_ptr<const CanvasScene> GraphView::scene() const {
  return m->scene;
}

std::shared_ptr<const Cover> GraphView::cover() const {
  return m->cover;
}

void GraphViewState::request() {
  settle.stop();
  if (isGiven) emit q->openWanted(open);
  if (!cover) return;
  if (anchorKey.isEmpty()) {
    const int item = current() >= 0 ? current() : hovered;
    if (item >= 0) anchorKey = scene->items[std::size_t(item)].key;
  }
  const std::optional<QSizeF> restIn = atRest ? std::optional<QSizeF>(q->size()) : std::nullopt;
  if (atRest) restSize = q->size();
  askedProportion = proportion();
  const bool follows = sceneModel == wantedModel && !scene->items.empty();
  runner.request({.cover = cover,
                  .modules = modules,
                  .open = open,
                  .atRest = restIn,
                  .proportion = askedProportion,
                  .earlier = follows ? scene : nullptr});
}

// Returns the item of `before` that keeps its place on the screen: the requested one, otherwise the one nearest to the
// middle. If that item no longer exists, returns the innermost existing item around it. Returns -1 if no visible item
// exists any more.
int GraphViewState::anchorIn(const CanvasScene& before, const CanvasScene& next) const {
  const auto still = [&](int item) {
    while (item >= 0 && next.itemOfKey(before.items[std::size_t(item)].key) < 0)
      item = before.items[std::size_t(item)].parent;
    return item;
  };
  const int asked = before.itemOfKey(anchorKey);
  if (asked >= 0) return still(asked);
  const QRectF seen = visibleScene();
  int nearest = -1;
  double least = 0;
  for (const int item : before.itemIndex.meeting(seen)) {
    const QPointF gap = before.rects[std::size_t(item)].center() - seen.center();
    const double distance = std::hypot(gap.x(), gap.y());
    if (!before.items[std::size_t(item)].isBox() || (nearest >= 0 && distance >= least)) continue;
    nearest = item;
    least = distance;
  }
  return still(nearest);
}

// Shows another scene. The anchor item keeps its place on the screen, and other items move to their new places.
void GraphViewState::take(std::shared_ptr<const CanvasScene> next, double milliseconds) {
  std::shared_ptr<const CanvasScene> before = scene;
  const bool sawBoxes = seesBoxes(), whole = std::exchange(wasWhole, false);
  // If the user has neither moved the camera nor opened or closed a single item, the camera is set as for a newly
  // opened picture.
  const bool rests = hasCamera && camera == restingAt && anchorKey.isEmpty();
  const bool sameModel = hasCamera && sceneModel == wantedModel && !next->items.empty();
  const int anchor = sameModel ? anchorIn(*before, *next) : -1;
  QPointF shift;
  const auto topOf = [](const CanvasScene& of, int item) {
    const QRectF& rect = of.rects[std::size_t(item)];
    return QPointF(rect.center().x(), rect.top());
  };
  if (anchor >= 0) {
    const int now = next->itemOfKey(before->items[std::size_t(anchor)].key);
    shift = topOf(*next, now) - topOf(*before, anchor);
  }
  scene = std::move(next);
  sceneModel = wantedModel;
  anchorKey.clear();
  hovered = -1;
  from.clear();
  progress = 1;
  if (sameModel) {
    camera.origin += shift;
    if (animated && scene->items.size() <= kMostAnimatedItems) {
      for (const CanvasItem& item : scene->items) {
        const int old = before->itemOfKey(item.key);
        from.push_back(old < 0 ? QRectF() : before->rects[std::size_t(old)].translated(shift));
      }
      progress = 0;
      transition.start();
      frame.start();
    }
  }
  recolor();
  resolveSelection();
  if (!query.isEmpty()) {
    findMatches();
    emit q->searchChanged(matchIndex, q->matchCount());
  }
  if (!sameModel && !scene->items.empty()) {
    const std::optional<CanvasView> wanted = std::exchange(nextView, std::nullopt);
    if (wanted && wanted->zoom > 0) {
      camera.zoom = wanted->zoom;
      centreOn(wanted->centre);
    } else {
      showStart();
    }
  }
  if (sameModel && rests && isStart && !whole) {
    showStart();
  } else if (sameModel && (whole || rests || (sawBoxes && !seesBoxes()))) {
    showAll();
  }
  if (std::exchange(revealsWhenDone, false)) revealSelection();
  placeOverlays();
  moved();
  runner.discard(std::move(before));
  emit q->layoutFinished(scene->engine, milliseconds);
}

void GraphViewState::recolor() {
  colors = CanvasColors(scene, *mode, numbers, theme);
  showColors();
}

void GraphViewState::resolveSelection() {
  selected.clear();
  for (const QString& name : selection) {
    const int item = scene->itemOf(name);
    if (item >= 0) selected.insert(item);
  }
  failingItem = failing.isEmpty() ? -1 : scene->itemOf(failing);
}

// Reports the selection to screen readers, and to the owner if the user has changed it.
void GraphViewState::changed(bool byUser) {
  centredOnce = false;
  const QString text = selection.isEmpty() ? GraphView::tr("Nothing selected") : describe(current());
  q->setAccessibleDescription(text);
  QAccessibleEvent event(q, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
  q->update();
  if (byUser) emit q->selectionChanged(selection);
}

void GraphView::setTimes(ShownTimes times) {
  if (times.same(m->numbers.times)) return;
  m->numbers.times = std::move(times);
  m->recolor();
}

void GraphView::setErrors(ShownErrors errors) {
  if (errors.isSameObject(m->numbers.errors) && errors.made == m->numbers.errors.made) return;
  m->numbers.errors = std::move(errors);
  m->recolor();
}

void GraphView::setFailing(const QString& name) {
  if (m->failing == name) return;
  m->failing = name;
  m->resolveSelection();
  update();
}

void GraphView::setColorMode(const ColorMode& mode) {
  if (m->mode == &mode) return;
  showOnly({});
  m->mode = &mode;
  m->recolor();
  emit colorModeChanged();
}
const ColorMode& GraphView::colorMode() const {
  return *m->mode;
}

void GraphView::setTheme(const Theme& theme) {
  m->theme = theme;
  m->colors.setTheme(theme);
  m->showColors();
}
void GraphView::setSummaryProvider(std::function<QString(const QString&)> provider) {
  m->summary = std::move(provider);
}
void GraphView::setAnimated(bool animated) {
  m->animated = animated;
}
CanvasView GraphView::view() const {
  return {.open = m->open,
          .atRest = m->atRest,
          .centre = m->toScene(QPointF(width(), height()) / 2),
          .zoom = m->hasCamera ? m->camera.zoom : 0,
          .only = m->only};
}

void GraphView::setNextView(CanvasView view) {
  m->nextView = std::move(view);
}

bool GraphView::waitForLayout(int msec) {
  return waitUntil([this] { return !m->layingOut() && m->progress >= 1 && m->minimap->drawn(); }, msec);
}

QRect GraphView::itemRect(const QString& name) const {
  const int item = m->scene->itemOf(name);
  return item < 0 ? QRect() : m->toView(m->scene->rects[std::size_t(item)]).toAlignedRect();
}

QRectF GraphView::placeOf(const QString& name) const {
  const int item = m->scene->itemOf(name);
  return item < 0 ? QRectF() : m->scene->rects[std::size_t(item)];
}

QString GraphView::nameAt(const QPoint& position) const {
  const int item = m->scene->itemAt(m->toScene(position));
  return item < 0 ? QString() : m->scene->items[std::size_t(item)].name;
}

int GraphView::boxCount() const {
  return m->scene->boxes;
}
QString GraphView::layoutEngine() const {
  return m->scene->engine;
}

std::size_t GraphView::itemsColored() const {
  return m->colors.lookedUp();
}

std::size_t GraphView::levelsLaidOut() const {
  return m->runner.levelsLaidOut();
}

QStringList GraphView::keyHelp() {
  const QString dash = QStringLiteral(" \u2014 ");
  return {tr("Wheel, Shift+Wheel") + dash + tr("scroll"),
          tr("Ctrl+Wheel, +, -") + dash + tr("zoom at the cursor"),
          tr("Drag empty space") + dash + tr("pan"),
          tr("Shift+Drag") + dash + tr("select several"),
          tr("Double click, Return") + dash + tr("open or close"),
          tr("Alt+Double click") + dash + tr("open or close all below"),
          tr("Space") + dash + tr("fit everything"),
          tr("F, F F") + dash + tr("centre the selection, fit it"),
          tr("Down, Up") + dash + tr("walk along the edges"),
          tr("Right, Left") + dash + tr("open, close or go to the container"),
          tr("Shift+Right, Shift+Left") + dash + tr("the next box beside it"),
          tr("N, Shift+N") + dash + tr("next, previous difference of two views"),
          tr("], [") + dash + tr("next, previous match"),
          tr("Click, Ctrl+Click on the legend") + dash + tr("show only this colour; show it too"),
          tr("Esc") + dash + tr("clear search, selection and what the legend dims"),
          tr("Menu, Shift+F10") + dash + tr("context menu")};
}

}  // namespace fusescope
