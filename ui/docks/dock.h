#pragma once

#include <QWidget>
#include <vector>

#include "ui/docks/dock_context.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

class Dock;

/// What the window must know about a dock before it is made.
struct DockForm {
  const char* name;  ///< "Layers": the title, and the name for --dock
  const char* key;   ///< the shortcut that shows it: "Ctrl+3"
  Qt::DockWidgetArea area;
  Dock* (*make)(const DockContext& context);
};
/// Returns all docks of docks.inc. The first one of an area is in front.
const std::vector<const DockForm*>& dockForms();

/// A page beside the canvas. While it is folded away or behind another tab, it is hidden and does no work: it records
/// what has changed, and updates that when it becomes visible or is read. While it is visible, it updates once per turn
/// of the event loop, whatever changed. It is used on the GUI thread only.
class Dock : public QWidget {
  Q_OBJECT

 public:
  /// The parts of a dock that can change, as bits that each dock defines.
  using Parts = unsigned;
  static constexpr Parts kAll = ~0U, kTheme = 1U << 31U;

  /// Records that `parts` have changed; they are updated soon, or when the dock becomes visible.
  void refresh(Parts parts);
  void refreshAll() { refresh(kAll); }
  /// Updates everything that has changed, for callers that read a hidden dock.
  void catchUp();

 protected:
  explicit Dock(const DockContext& context) : m_context(context) {}
  virtual void renew(Parts parts) = 0;
  /// Called by renew(): passes the result of make(), a shared_ptr, to show(). If the dock is visible, make() runs on
  /// another thread, because a table with many rows takes long; a newer call replaces it. A caller that reads the dock
  /// before that gets the result made at once.
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
  /// Returns a part of the dock after updating it.
  template <class T>
  T& fresh(T& part) {
    catchUp();
    return part;
  }
  void showEvent(QShowEvent* event) override;
  /// Returns the run whose numbers are displayed if `id` is its id; otherwise null.
  const Run* shownRun(const QString& id) const;

  DockContext m_context;

 private:
  /// Makes the contents if they are out of date and the dock is visible.
  void look();

  Parts m_stale = kAll, m_underWay = 0;
  bool m_willLook = false, m_looking = false;
};

}  // namespace fusescope
