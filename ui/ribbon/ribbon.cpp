#include "ui/ribbon/ribbon.h"

#include <QAccessible>
#include <QMenu>
#include <algorithm>
#include <cmath>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kTotals = 148, kNarrowTotals = 118;  // pixels beside the axis
constexpr int kNarrow = 760;                       // the width below which a ribbon is narrow
constexpr int kMenuWidth = 24;
constexpr int kRoomyWindow = 800;  // a window of at least this height has room for more rows
constexpr double kLeastRange = 1e-4;

}  // namespace

Ribbon::Ribbon(const DockContext& context, GraphView& canvas, QWidget* parent)
    : QWidget(parent), m_context(context), m_canvas(canvas), m_source(context), m_menu(new QToolButton(this)) {
  setObjectName(QStringLiteral("ribbon"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setFixedHeight(ribbon::kLeastHeight);
  setAccessibleName(tr("Ribbon: the network in the order in which it runs"));
  m_look.theme = &Theme::dark();
  m_menu->setText(QStringLiteral("⋮"));
  m_menu->setAutoRaise(true);
  m_menu->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
  m_menu->setToolTip(tr("Choose what the widths of the boxes show, or change the zoom"));
  m_menu->setAccessibleName(tr("Menu of the ribbon"));
  m_menu->setPopupMode(QToolButton::InstantPopup);
  m_menu->setFocusPolicy(Qt::NoFocus);  // the Menu key opens the same menu from the ribbon
  auto* menu = new QMenu(m_menu);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    fillMenu(*menu);
  });
  m_menu->setMenu(menu);
  connect(&m_source, &RibbonSource::pictureChanged, this, &Ribbon::takePicture);
  connect(&m_source, &RibbonSource::colorsChanged, this, [this] {
    m_look.colors = m_source.colors();
    update();
  });
  connect(&context.selection, &Selection::changed, this, &Ribbon::showSelection);
  connect(&context.controller, &RunController::activityChanged, this, &Ribbon::showProgress);
  connect(&context.runs, &Runs::shownChanged, this, &Ribbon::showFailure);
  // It may now be possible to time two runs in turns.
  connect(&context.runs, &Runs::changed, this, qOverload<>(&QWidget::update));
  connect(&context.document, &PlanDocument::modelChanged, this, [this] {
    m_heard.reset();
    m_otherProgress.endDialog();
  });
  connect(&canvas, &GraphView::cameraChanged, this, [this] {
    m_inViewStale = true;
    update();
  });
  connect(&canvas, &GraphView::layoutFinished, this, [this] {
    m_placesStale = m_inViewStale = true;
    update();
  });
  connect(&canvas, &GraphView::colorModeChanged, this,
          [this] { m_source.setColors(m_canvas.colorMode(), *m_look.theme); });
}

Ribbon::~Ribbon() = default;

void Ribbon::setTheme(const Theme& theme) {
  m_look.theme = &Theme::of(theme.kind);
  m_source.setColors(m_canvas.colorMode(), theme);
  update();
}

void Ribbon::setWidthBy(RibbonWidth width) {
  m_source.setWidth(width);
}

void Ribbon::takePicture() {
  const RibbonPicture& now = picture();
  const Model* model = now.empty() ? nullptr : now.shown().snapshot->plan->model.get();
  m_look.brush = {};
  m_look.hovered.reset();
  m_look.current.reset();
  m_look.colors = m_source.colors();
  const auto kept = model == m_model ? rangeOfEdges() : std::nullopt;
  m_range = kept.value_or(RibbonRange{0, now.layout.total});
  if (!kept) m_edges = {};
  m_model = model;
  m_placesStale = m_inViewStale = true;
  fitHeight();
  showSelection();
  showFailure();
  showProgress();
  update();
}

void Ribbon::fitHeight() {
  const bool roomy = window()->height() >= kRoomyWindow;
  const int height = ribbonHeight(picture(), roomy);
  if (height != this->height()) setFixedHeight(height);
}

void Ribbon::showSelection() {
  m_look.selected.assign(picture().lanes.size(), {});
  for (std::size_t l = 0; l < picture().lanes.size(); ++l) {
    const RibbonLane& lane = picture().lanes[l];
    const auto screen = m_context.document.snapshot();
    const auto add = [&](const FusedNode& fused) {
      m_look.selected[l].push_back(picture().layout.barOfKernel[l][fused.id.index]);
    };
    const FusedNode* kernel =
        m_context.selection.kernel().empty() ? nullptr : lane.snapshot->fusedWith(m_context.selection.kernel());
    if (kernel != nullptr) {
      add(*kernel);
    } else if (screen != nullptr && lane.snapshot->plan->model == screen->plan->model) {
      for (const NodeId node : m_context.selection.nodes())
        if (const FusedNode* fused = lane.snapshot->fusedOf(node)) add(*fused);
    } else if (screen != nullptr) {
      const FusedNode* fused = selectedKernel(m_context.selection, *screen);
      if (fused != nullptr) fused = lane.snapshot->fusedWith(handleOf(*fused));
      if (fused != nullptr) add(*fused);
    }
    std::ranges::sort(m_look.selected[l]);
    m_look.selected[l].erase(std::ranges::unique(m_look.selected[l]).begin(), m_look.selected[l].end());
  }
  update();
}

void Ribbon::showFailure() {
  m_look.failing.reset();
  if (!picture().empty() && !picture().shown().ofOtherPlan) {
    const auto failure = m_context.runs.failure();
    const FusedNode* fused =
        failure && failure->node.valid() ? picture().shown().snapshot->fusedOf(failure->node) : nullptr;
    if (fused != nullptr) m_look.failing = picture().layout.barOfKernel.back()[fused->id.index];
  }
  update();
}

void Ribbon::showProgress() {
  if (m_context.controller.busy()) {
    const RunController::UnderWay now = m_context.controller.underWay();
    m_look.progress = m_progress.followRun(picture(), now.run, now.phase, now.detail, m_context.controller.activity());
  } else if (m_heard) {
    m_look.progress = m_otherProgress.followDialog(picture(), m_heard->work, m_heard->phase, m_heard->detail);
  } else {
    m_look.progress = {};
  }
  update();
}

void Ribbon::showWorkProgress(const WorkSettings& work, const QString& phase, const QString& detail) {
  const auto* errors = std::get_if<ErrorsSettings>(&work);
  const bool isBisection = errors != nullptr && errors->bisect;
  if (!isBisection && !std::holds_alternative<TuneSettings>(work) && !std::holds_alternative<CalibrateSettings>(work))
    return;
  m_heard.reset();
  if (phase.isEmpty()) {
    m_otherProgress.endDialog();
  } else {
    m_heard = {work, phase, detail};
  }
  showProgress();
}

void Ribbon::findPlaces() {
  m_placesStale = false;
  m_places.clear();
  if (picture().empty()) return;
  const RibbonLane& lane = picture().shown();
  m_places.reserve(lane.size());
  for (std::uint32_t i = 0; i < lane.size(); ++i) {
    QRectF place = m_canvas.placeOf(lane.items[i].timeKey);
    const NodeId main = PlanSnapshot::mainNodeOf(lane.fused(i));
    if (place.isNull() && main.valid()) place = m_canvas.placeOf(qs(lane.snapshot->graph().node(main).name));
    m_places.push_back(place);
  }
}

/// Finds the parts of the axis whose kernels are visible on the canvas. Adjacent parts are joined.
void Ribbon::findInView() {
  if (m_placesStale) findPlaces();
  m_inViewStale = false;
  m_look.inView.clear();
  if (picture().empty()) return;
  const QRectF seen = m_canvas.camera().visible(m_canvas.size());
  for (const RibbonBar& bar : picture().layout.lanes.back().bars()) {
    const QRectF& place = m_places[static_cast<std::size_t>(bar.what)];
    if (place.isNull() || !place.intersects(seen)) continue;
    // A group is visible as a whole, even if the lane fills only a part of it.
    const double end = picture().layout.groupBegin[bar.last];
    if (!m_look.inView.empty() && m_look.inView.back().to >= bar.begin * (1 - 1e-9)) {
      m_look.inView.back().to = std::max(end, m_look.inView.back().to);
    } else {
      m_look.inView.push_back({bar.begin, end});
    }
  }
}

QRectF Ribbon::axis() const {
  const int totals = width() < kNarrow ? kNarrowTotals : kTotals;
  return {0, 0, std::max(1.0, double(width() - totals - kMenuWidth)), double(height() - 1)};
}

RibbonScale Ribbon::scale() const {
  const QRectF on = axis();
  return {m_range, on.left(), on.width()};
}

bool Ribbon::isZoomed() const {
  return !picture().empty() && m_range.width() < picture().layout.total * (1 - 1e-9);
}

void Ribbon::setRange(RibbonRange range) {
  const double total = picture().layout.total;
  const double width = std::clamp(range.width(), total * kLeastRange, total);
  range.from = std::clamp(range.from, 0.0, total - width);
  range.to = range.from + width;
  if (range == m_range) return;
  m_range = range;
  keepEdges();
  update();
}

void Ribbon::keepEdges() {
  m_edges = {};
  if (!isZoomed()) return;
  const auto handleAt = [&](double place) {
    const RibbonRow& row = picture().layout.lanes.back();
    const std::size_t bar = std::min(row.firstBehind(place), row.bars().size() - 1);
    return handleOf(picture().shown().fused(static_cast<std::uint32_t>(row.bars()[bar].what)));
  };
  m_edges = {handleAt(m_range.from), handleAt(m_range.to - m_range.width() * kLeastRange)};
}

std::optional<RibbonRange> Ribbon::rangeOfEdges() const {
  if (m_edges.first.empty() || picture().empty()) return std::nullopt;
  const auto bar = [&](const std::string& handle) -> const RibbonBar* {
    const FusedNode* fused = picture().shown().snapshot->fusedWith(handle);
    if (fused == nullptr) return nullptr;
    return &picture().layout.lanes.back().bars()[picture().layout.barOfKernel.back()[fused->id.index]];
  };
  const RibbonBar *first = bar(m_edges.first), *last = bar(m_edges.second);
  if (first == nullptr || last == nullptr || first->begin >= last->end) return std::nullopt;
  return RibbonRange{first->begin, last->end};
}

void Ribbon::zoomTo(const RibbonRange& range) {
  if (!picture().empty() && range.width() > 0) setRange(range);
}

void Ribbon::zoomOut() {
  zoomTo({0, picture().layout.total});
}

void Ribbon::zoomAt(double x, double factor) {
  if (picture().empty()) return;
  const double place = scale().toPlace(x);
  setRange({place - (place - m_range.from) / factor, place + (m_range.to - place) / factor});
}

void Ribbon::pan(double pixels) {
  if (picture().empty()) return;
  const double by = scale().pixels(pixels);
  setRange({m_range.from + by, m_range.to + by});
}

const RibbonRow& Ribbon::rowOf(const RibbonSpot& spot) const {
  return spot.above ? picture().layout.above[spot.row] : picture().layout.lanes[spot.row];
}

std::optional<RibbonSpot> Ribbon::spotAt(const QPointF& position) const {
  if (picture().empty() || !axis().contains(position)) return std::nullopt;
  for (const RibbonBand& band : bands()) {
    const bool above = band.kind == RibbonBand::Kind::Above;
    if ((!above && band.kind != RibbonBand::Kind::Lane) || !band.rect.contains(position)) continue;
    RibbonSpot spot{above, band.of, 0};
    const int bar = rowOf(spot).barAt(scale().toPlace(position.x()));
    if (bar < 0) return std::nullopt;
    spot.bar = static_cast<std::uint32_t>(bar);
    return spot;
  }
  return std::nullopt;
}

QRect Ribbon::rectOf(const RibbonSpot& spot) const {
  for (const RibbonBand& band : bands()) {
    const bool above = band.kind == RibbonBand::Kind::Above;
    if (above != spot.above || (!above && band.kind != RibbonBand::Kind::Lane) || band.of != spot.row) continue;
    const RibbonBar& bar = barOf(spot);
    const QRectF rect(scale().toX(bar.begin), band.rect.top(), bar.width() / scale().pixels(1), band.rect.height());
    const QRectF seen = rect.intersected(band.rect);
    return seen.isEmpty() ? QRect() : seen.toAlignedRect();
  }
  return {};
}

/// Returns the nodes of a bar on screen. For a lane of another model, these are the nodes of the kernel on screen with
/// the same origins, if there is one.
std::vector<NodeId> Ribbon::nodesOf(const RibbonSpot& spot, std::string& kernel) const {
  const auto screen = m_context.document.snapshot();
  if (screen == nullptr) return {};
  if (spot.above) {
    std::vector<NodeId> nodes;
    const RibbonBar& bar = barOf(spot);
    const PlanSnapshot& shown = *picture().shown().snapshot;
    if (shown.plan->model != screen->plan->model) return {};
    const auto of = static_cast<std::size_t>(bar.what);
    return rowOf(spot).kind() == RibbonRow::Kind::Blocks ? shown.modules->modules[of].nodes
                                                         : shown.cover->segments[of].nodes;
  }
  const RibbonLane& lane = picture().lanes[spot.row];
  const FusedNode* fused = &lane.fused(static_cast<std::uint32_t>(barOf(spot).what));
  const std::string handle = handleOf(*fused);
  if (lane.snapshot->plan->model != screen->plan->model) fused = screen->fusedWith(handle);
  if (fused == nullptr) return {};
  if (lane.snapshot == screen && !screen->isIdentifiedByNodes(*fused)) kernel = handle;
  return fused->nodes;
}

void Ribbon::choose(const RibbonSpot& spot) {
  std::string kernel;
  std::vector<NodeId> nodes = nodesOf(spot, kernel);
  if (nodes.empty()) return;
  const bool isAgain = nodes == m_context.selection.nodes();
  m_context.selection.set(std::move(nodes), this, {}, std::move(kernel));
  if (isAgain) m_canvas.select(m_canvas.selection(), true);  // the canvas may have been moved since
}

void Ribbon::activate(const RibbonSpot& spot) {
  const RibbonBar& bar = barOf(spot);
  if (spot.above) return zoomTo({bar.begin, bar.end});
  choose(spot);
}

void Ribbon::setCurrent(const RibbonSpot& spot) {
  m_look.current = spot;
  const RibbonBar& bar = barOf(spot);
  const double middle = (bar.begin + bar.end) / 2;
  if (bar.end > m_range.to || bar.begin < m_range.from)
    setRange({middle - m_range.width() / 2, middle + m_range.width() / 2});
  setAccessibleDescription(describe(spot));
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
  update();
}

QString Ribbon::describe(const RibbonSpot& spot) const {
  return barDescription(picture(), rowOf(spot), barOf(spot));
}

QStringList Ribbon::laneText(std::size_t lane) const {
  if (picture().empty()) return {};
  const LaneTotal total = laneTotal(picture(), lane);
  QStringList lines{total.time, total.whose};
  const bool isLast = lane + 1 == picture().lanes.size();
  const QString more = isLast && !m_look.progress.words.isEmpty() ? m_look.progress.words
                       : isLast && !m_source.problem().isEmpty()  ? m_source.problem()
                                                                  : total.more;
  if (!more.isEmpty()) lines << more;
  if (!total.unseen.isEmpty()) lines << total.unseen;
  return lines;
}

TotalDelta Ribbon::deltaBelow(std::size_t upper) const {
  const auto& lanes = picture().lanes;
  return totalDelta(picture(), upper, m_context.runs.inTurns(lanes[upper].run, lanes[upper + 1].run));
}

}  // namespace fusescope
