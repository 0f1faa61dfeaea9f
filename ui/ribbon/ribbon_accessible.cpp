#include "ui/ribbon/ribbon_accessible.h"

#include <QAccessibleWidget>
#include <algorithm>
#include <map>

#include "ui/ribbon/ribbon.h"

namespace fusescope {

namespace {

/// The bar of one kernel, for screen readers. It exists as long as a screen reader uses it, but is valid only as long
/// as the picture.
class BarAccessible : public QAccessibleInterface {
 public:
  BarAccessible(Ribbon& ribbon, RibbonSpot spot) : m_ribbon(ribbon), m_spot(spot), m_of(ribbon.sharedPicture()) {}
  bool isValid() const override { return m_of == m_ribbon.sharedPicture(); }
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(&m_ribbon); }
  QAccessibleInterface* child(int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QString text(QAccessible::Text which) const override {
    return isValid() && which == QAccessible::Name ? m_ribbon.describe(m_spot) : QString();
  }
  void setText(QAccessible::Text, const QString&) override {}
  QRect rect() const override {
    const QRect place = isValid() ? m_ribbon.rectOf(m_spot) : QRect();
    return place.isEmpty() ? QRect() : QRect(m_ribbon.mapToGlobal(place.topLeft()), place.size());
  }
  QAccessible::Role role() const override { return QAccessible::ListItem; }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = true;
    if (!isValid()) return state;
    const RibbonLook& look = m_ribbon.look();
    state.selected =
        m_spot.row < look.selected.size() && std::ranges::binary_search(look.selected[m_spot.row], m_spot.bar);
    state.focused = m_ribbon.hasFocus() && look.current == m_spot;
    state.offscreen = m_ribbon.rectOf(m_spot).isEmpty();
    return state;
  }

 private:
  Ribbon& m_ribbon;
  RibbonSpot m_spot;
  std::shared_ptr<const RibbonPicture> m_of;
};

/// The ribbon, for screen readers. Its children are the bars of its lanes, from top to bottom, followed by its widgets.
class RibbonAccessible : public QAccessibleWidget {
 public:
  explicit RibbonAccessible(Ribbon& ribbon) : QAccessibleWidget(&ribbon, QAccessible::List), m_ribbon(ribbon) {}
  ~RibbonAccessible() override { forget(); }

  int childCount() const override { return bars() + QAccessibleWidget::childCount(); }
  QAccessibleInterface* child(int index) const override {
    if (index >= bars()) return QAccessibleWidget::child(index - bars());
    if (index < 0) return nullptr;
    if (m_of != m_ribbon.sharedPicture()) forget();
    m_of = m_ribbon.sharedPicture();
    const auto known = m_known.find(index);
    if (known != m_known.end()) return QAccessible::accessibleInterface(known->second);
    auto* made = new BarAccessible(m_ribbon, spotOf(index));
    m_known[index] = QAccessible::registerAccessibleInterface(made);
    return made;
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    for (const auto& [index, id] : m_known)
      if (QAccessible::accessibleInterface(id) == child) return index;
    const int widget = QAccessibleWidget::indexOfChild(child);
    return widget < 0 ? widget : bars() + widget;
  }

 private:
  int bars() const {
    std::size_t count = 0;
    for (const RibbonRow& lane : m_ribbon.picture().layout.lanes) count += lane.bars().size();
    return static_cast<int>(count);
  }
  RibbonSpot spotOf(int index) const {
    auto left = static_cast<std::size_t>(index);
    std::size_t lane = 0;
    const auto& lanes = m_ribbon.picture().layout.lanes;
    while (left >= lanes[lane].bars().size()) left -= lanes[lane++].bars().size();
    return {false, lane, static_cast<std::uint32_t>(left)};
  }
  void forget() const {
    for (const auto& [index, id] : m_known) QAccessible::deleteAccessibleInterface(id);
    m_known.clear();
  }

  Ribbon& m_ribbon;
  mutable std::shared_ptr<const RibbonPicture> m_of;  ///< the picture to which m_known belongs
  mutable std::map<int, QAccessible::Id> m_known;
};

QAccessibleInterface* makeRibbonAccessible(const QString&, QObject* object) {
  auto* ribbon = qobject_cast<Ribbon*>(object);
  return ribbon == nullptr ? nullptr : new RibbonAccessible(*ribbon);
}

}  // namespace

void makeRibbonsAccessible() {
  QAccessible::installFactory(makeRibbonAccessible);  // installing the same factory again has no effect
}

}  // namespace fusescope
