#include "ui/window/dock_area.h"

namespace fusescope {

namespace {

const QSize kLeastPage(150, 90), kButton(24, 24);
constexpr int kArrow = 12, kAroundButton = 2;

QString nameOfSide(Qt::DockWidgetArea side) {
  return side == Qt::LeftDockWidgetArea    ? QStringLiteral("Docks on the left")
         : side == Qt::RightDockWidgetArea ? QStringLiteral("Docks on the right")
                                           : QStringLiteral("Docks below the graph");
}

}  // namespace

DockArea::DockArea(Qt::DockWidgetArea side, std::function<const Theme&()> theme)
    : m_side(side),
      m_theme(std::move(theme)),
      m_tabs(new DockTabs(m_theme)),
      m_fold(new QToolButton),
      m_pages(new QStackedWidget),
      m_layout(new QBoxLayout(isBelow() ? QBoxLayout::BottomToTop : QBoxLayout::TopToBottom, this)),
      m_bar(new QBoxLayout(QBoxLayout::LeftToRight)) {
  m_tabs->setAccessibleName(nameOfSide(side));
  m_tabs->setAbove(isBelow());
  m_fold->setAutoRaise(true);
  m_fold->setFixedSize(kButton);
  m_fold->setIconSize(QSize(kArrow, kArrow));
  m_fold->setFocusPolicy(Qt::NoFocus);  // the tabs can be used with the keyboard instead
  m_layout->setContentsMargins(0, 0, 0, 0);
  m_layout->setSpacing(0);
  m_layout->addLayout(m_bar);
  m_layout->addWidget(m_pages, 1);
  m_bar->setSpacing(0);
  placeBar();
  connect(m_tabs, &QTabBar::currentChanged, this, [this](int tab) {
    m_pages->setCurrentIndex(tab);
    emit frontChanged();
  });
  connect(m_tabs, &DockTabs::chosen, this, [this](int tab) {
    if (!m_folded && tab == m_tabs->currentIndex()) return emit foldWanted();
    m_tabs->setCurrentIndex(tab);
    emit openWanted();
  });
  connect(m_fold, &QToolButton::clicked, this, [this] { m_folded ? emit openWanted() : emit foldWanted(); });
}

void DockArea::setKeys(const QString& keys) {
  m_keys = keys;
  renewButton();
}

void DockArea::add(Dock* dock, const DockForm& form) {
  // Without this, the longest text of the dock would determine the least width of the window.
  dock->setMinimumSize(kLeastPage);
  m_pages->addWidget(dock);
  const QString name = QString::fromLatin1(form.name);
  const int tab = m_tabs->addTab(name);
  m_tabs->setTabToolTip(tab, QStringLiteral("%1 (%2)").arg(name, QString::fromLatin1(form.key)));
}

void DockArea::setFolded(bool folded, int least) {
  const bool changed = m_folded != folded;
  m_folded = folded;
  m_tabs->setOpen(!folded);
  m_pages->setVisible(!folded);
  const int from = folded ? DockTabs::kThickness : least, to = folded ? DockTabs::kThickness : QWIDGETSIZE_MAX;
  if (isBelow()) {
    setMinimumHeight(from);
    setMaximumHeight(to);
  } else {
    setMinimumWidth(from);
    setMaximumWidth(to);
  }
  if (!changed) return;
  placeBar();
  renewButton();
  emit frontChanged();
}

/// The bar is above the docks. If the docks at a side are folded, it is at the edge, with the button above the titles.
void DockArea::placeBar() {
  const bool down = m_folded && !isBelow();
  while (m_bar->takeAt(0) != nullptr) {
  }
  m_bar->setDirection(down ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  m_bar->setContentsMargins(down ? 0 : kAroundButton, kAroundButton * (down ? 1 : 0), down ? 0 : kAroundButton, 0);
  m_tabs->setShape(!down                              ? QTabBar::RoundedNorth
                   : m_side == Qt::LeftDockWidgetArea ? QTabBar::RoundedWest
                                                      : QTabBar::RoundedEast);
  if (down) {
    m_bar->addWidget(m_fold, 0, Qt::AlignHCenter);
    m_bar->addWidget(m_tabs, 0, Qt::AlignHCenter);
    m_bar->addStretch(1);
  } else {
    m_bar->addWidget(m_tabs, 1);
    m_bar->addWidget(m_fold, 0, Qt::AlignVCenter);
  }
  m_layout->setStretch(0, down ? 1 : 0);
}

void DockArea::renewButton() {
  const bool left = m_side == Qt::LeftDockWidgetArea;
  const char* icon = isBelow()            ? (m_folded ? "chevron-up" : "chevron")
                     : (m_folded == left) ? "chevron-right"
                                          : "chevron-left";
  m_fold->setIcon(themedIcon(QString::fromLatin1(icon), m_theme()));
  const QString word = m_folded    ? (isBelow() ? QStringLiteral("Open") : QStringLiteral("Unfold"))
                       : isBelow() ? QStringLiteral("Close")
                                   : QStringLiteral("Fold");
  m_fold->setToolTip(m_keys.isEmpty() ? word : QStringLiteral("%1 (%2)").arg(word, m_keys));
  m_fold->setAccessibleName(word + QLatin1Char(' ') + nameOfSide(m_side).toLower());
}

void DockArea::setMark(const Dock* dock, const DockMark& mark) {
  m_tabs->setMark(m_pages->indexOf(const_cast<Dock*>(dock)), mark);
}

void DockArea::renewTheme() {
  renewButton();
  m_tabs->update();
}

}  // namespace fusescope
