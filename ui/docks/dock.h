#pragma once

#include <QWidget>
#include <vector>

#include "ui/docks/dock_context.h"

namespace fusescope {

class Dock;

/// What the window must know of a dock before there is one.
struct DockForm {
  const char* name;  ///< "Layers": the title, and what --dock takes
  const char* key;   ///< shows it: "Ctrl+3"
  Qt::DockWidgetArea area;
  Dock* (*make)(const DockContext& context);
};
/// All docks, as docks.inc lists them. The first of an area is in front.
const std::vector<const DockForm*>& dockForms();

/// A page beside the canvas. Hidden, or behind another in a tab, it does no work: it notes what has changed, and makes
/// that anew when it comes on screen or is read. On screen it does so once per turn of the event loop, whatever
/// changed. GUI thread only.
class Dock : public QWidget {
  Q_OBJECT

 public:
  /// What can change of a dock, as bits of its own choice.
  using Parts = unsigned;
  static constexpr Parts kAll = ~0U, kTheme = 1U << 31U;

  /// `parts` have changed: made anew soon, or when the dock is on screen.
  void refresh(Parts parts);
  void refreshAll() { refresh(kAll); }
  /// Makes anew what is noted: for whoever reads a dock without looking at it.
  void catchUp();
  /// It may have come on screen: whoever moves it there says so.
  void look();

 protected:
  explicit Dock(const DockContext& context) : m_context(context) {}
  virtual void renew(Parts parts) = 0;
  /// A part of the dock, up to date.
  template <class T>
  T& fresh(T& part) {
    catchUp();
    return part;
  }
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  /// Not hidden, and not a tab behind another, which Qt keeps beside the window.
  bool onScreen() const { return isVisible() && !visibleRegion().isEmpty(); }
  /// The run whose numbers are on screen, if `id` is its; else null.
  const Run* shownRun(const QString& id) const;

  DockContext m_context;

 private:
  Parts m_stale = kAll;
  bool m_willLook = false;
};

}  // namespace fusescope
