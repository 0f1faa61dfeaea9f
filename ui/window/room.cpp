#include "ui/window/room.h"

#include <QApplication>
#include <algorithm>
#include <limits>

namespace fusescope {

namespace {

constexpr double kMostDragged = 0.6;  ///< the largest share of the room for a size that the user set in a larger window
constexpr double kMostBeside = 0.5;   ///< the largest share of the room for the docks of both sides together
constexpr int kLeastSide = 150, kLeastBelow = 118;
const QSize kLeastGraph(240, 160);
constexpr int kClosedUntilAsked = std::numeric_limits<int>::max();
const QString kFoldKey = QStringLiteral("wish"), kSizeKey = QStringLiteral("size"), kFrontKey = QStringLiteral("front");
const QString kOpenWord = QStringLiteral("open"), kFoldedWord = QStringLiteral("folded");

QString keyOfSide(Qt::DockWidgetArea side) {
  return side == Qt::LeftDockWidgetArea    ? QStringLiteral("left")
         : side == Qt::RightDockWidgetArea ? QStringLiteral("right")
                                           : QStringLiteral("below");
}

}  // namespace

Room::Room(std::function<const Theme&()> theme)
    : m_across(new QSplitter(Qt::Horizontal)),
      m_down(new QSplitter(Qt::Vertical)),
      m_graph(new QWidget),
      m_column(new QVBoxLayout(m_graph)),
      m_sides{{Qt::LeftDockWidgetArea, new DockArea(Qt::LeftDockWidgetArea, theme), 0.146, 210, 380, 1100},
              {Qt::RightDockWidgetArea, new DockArea(Qt::RightDockWidgetArea, theme), 0.159, 220, 480, 700},
              {Qt::BottomDockWidgetArea, new DockArea(Qt::BottomDockWidgetArea, theme), 0.34, 180, 520,
               kClosedUntilAsked}} {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_across);
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(0);
  m_graph->setMinimumSize(kLeastGraph);
  m_across->addWidget(m_sides[0].area);
  m_across->addWidget(m_down);
  m_across->addWidget(m_sides[1].area);
  m_down->addWidget(m_graph);
  m_down->addWidget(m_sides[2].area);
  m_across->setStretchFactor(1, 1);
  m_down->setStretchFactor(0, 1);
  for (QSplitter* splitter : {m_across, m_down}) {
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(1);  // Qt still accepts the mouse within five pixels
    connect(splitter, &QSplitter::splitterMoved, this, &Room::noteDragged);
  }
  for (Side& side : m_sides) {
    connect(side.area, &DockArea::openWanted, this, [this, &side] { setFoldChoice(side, FoldChoice::Open); });
    connect(side.area, &DockArea::foldWanted, this, [this, &side] { setFoldChoice(side, FoldChoice::Folded); });
    connect(side.area, &DockArea::frontChanged, this, &Room::frontChanged);
  }
}

Room::Side& Room::sideAt(Qt::DockWidgetArea at) {
  return *std::ranges::find(m_sides, at, &Side::at);
}

Room::Side& Room::sideOf(const Dock* dock) {
  return *std::ranges::find_if(m_sides, [dock](const Side& side) { return side.area->holds(dock); });
}

void Room::add(Dock* dock, const DockForm& form) {
  sideAt(form.area).area->add(dock, form);
}

void Room::open(Dock* dock) {
  Side& side = sideOf(dock);
  side.area->bringToFront(dock);
  setFoldChoice(side, FoldChoice::Open);
}

void Room::toggle(Qt::DockWidgetArea at) {
  Side& side = sideAt(at);
  setFoldChoice(side, folded(side) ? FoldChoice::Open : FoldChoice::Folded);
}

bool Room::isOpen(const Dock* dock) const {
  return std::ranges::any_of(m_sides,
                             [dock](const Side& side) { return side.area->front() == dock && !side.area->folded(); });
}

void Room::setFoldChoice(Side& side, FoldChoice choice) {
  const bool focused = side.area->isAncestorOf(QApplication::focusWidget());
  side.choice = choice;
  fit();
  if (focused && side.area->folded()) m_graph->setFocus();
}

bool Room::folded(const Side& side) const {
  return side.choice == FoldChoice::None ? width() < side.foldsBelow : side.choice == FoldChoice::Folded;
}

int Room::wanted(const Side& side) const {
  if (folded(side)) return DockTabs::kThickness;
  const int room = side.isBelow() ? height() : width();
  if (side.dragged > 0) return std::min(side.dragged, static_cast<int>(room * kMostDragged));
  return std::clamp(static_cast<int>(room * side.share), side.least, side.most);
}

void Room::fit() {
  for (const Side& side : m_sides) side.area->setFolded(folded(side), side.isBelow() ? kLeastBelow : kLeastSide);
  const auto& [left, right, below] = m_sides;
  m_across->handle(1)->setEnabled(!left.area->folded());
  m_across->handle(2)->setEnabled(!right.area->folded());
  m_down->handle(1)->setEnabled(!below.area->folded());
  const int asked = wanted(left) + wanted(right);
  const double fits = std::min(1.0, kMostBeside * width() / asked);
  const int onLeft = static_cast<int>(fits * wanted(left)), onRight = static_cast<int>(fits * wanted(right));
  m_across->setSizes({onLeft, std::max(width() - onLeft - onRight - 2 * m_across->handleWidth(), 0), onRight});
  m_down->setSizes({std::max(height() - wanted(below) - m_down->handleWidth(), 0), wanted(below)});
}

void Room::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

void Room::noteDragged() {
  for (Side& side : m_sides) {
    if (side.area->folded()) continue;
    const int now = side.isBelow() ? side.area->height() : side.area->width();
    if (now != wanted(side)) side.dragged = now;
  }
}

void Room::reset() {
  for (Side& side : m_sides) {
    side.choice = FoldChoice::None;
    side.dragged = 0;
    side.area->tabs().setCurrentIndex(0);
  }
  fit();
}

QJsonObject Room::state() const {
  QJsonObject state;
  for (const Side& side : m_sides) {
    QJsonObject one{{kFrontKey, side.area->tabs().tabText(side.area->tabs().currentIndex())}};
    if (side.choice != FoldChoice::None) one[kFoldKey] = side.choice == FoldChoice::Open ? kOpenWord : kFoldedWord;
    if (side.dragged > 0) one[kSizeKey] = side.dragged;
    state[keyOfSide(side.at)] = one;
  }
  return state;
}

void Room::restore(const QJsonObject& state) {
  for (Side& side : m_sides) {
    const QJsonObject one = state[keyOfSide(side.at)].toObject();
    const QString choice = one[kFoldKey].toString();
    side.choice = choice == kOpenWord     ? FoldChoice::Open
                  : choice == kFoldedWord ? FoldChoice::Folded
                                          : FoldChoice::None;
    side.dragged = std::max(one[kSizeKey].toInt(), 0);
    DockTabs& tabs = side.area->tabs();
    for (int tab = 0; tab < tabs.count(); ++tab)
      if (tabs.tabText(tab) == one[kFrontKey].toString()) tabs.setCurrentIndex(tab);
  }
  fit();
}

void Room::renewTheme() {
  for (const Side& side : m_sides) side.area->renewTheme();
}

}  // namespace fusescope
