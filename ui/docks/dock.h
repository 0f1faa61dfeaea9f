#pragma once

#include <QWidget>
#include <vector>

#include "ui/docks/dock_context.h"
#include "ui/jobs/job_runner.h"

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

/// A page beside the canvas. Folded away, or behind another in a tab, it is hidden and does no work: it notes what has
/// changed, and makes that anew when it comes on screen or is read. On screen it does so once per turn of the event
/// loop, whatever changed. GUI thread only.
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

 protected:
  explicit Dock(const DockContext& context) : m_context(context) {}
  virtual void renew(Parts parts) = 0;
  /// For renew(): hands show() what make() returns, a shared_ptr to something. On screen it is made off this thread,
  /// for a table of many rows takes long; a newer one replaces it. Whoever reads the dock before it is there has it
  /// made at once.
  template <class Make, class Show>
  void produce(Make make, Show show) {
    const QString tag = QString::fromLatin1(metaObject()->className());
    if (!m_looking) {
      m_context.jobs.cancel(tag);
      m_underWay = 0;
      return show(make());
    }
    m_underWay = kAll;
    m_context.jobs.run(
        tag, this, [make = std::move(make)](const StopToken&) { return make(); },
        [this, show = std::move(show)](const std::invoke_result_t<Make>& made) {
          m_underWay = 0;
          show(made);
        });
  }
  /// A part of the dock, up to date.
  template <class T>
  T& fresh(T& part) {
    catchUp();
    return part;
  }
  void showEvent(QShowEvent* event) override;
  /// The run whose numbers are on screen, if `id` is its; else null.
  const Run* shownRun(const QString& id) const;

  DockContext m_context;

 private:
  /// It may have something to make anew, and be on screen.
  void look();

  Parts m_stale = kAll, m_underWay = 0;
  bool m_willLook = false, m_looking = false;
};

}  // namespace fusescope
