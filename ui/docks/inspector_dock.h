#pragma once

#include <QTextBrowser>
#include <functional>
#include <vector>

#include "tuning/wide_fixes.h"
#include "ui/docks/dock.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/plan_snapshot.h"

namespace fusescope {

/// A text browser that paints its pictures when they are shown.
class PictureBrowser : public QTextBrowser {
  Q_OBJECT

 public:
  /// `paint` returns the picture of a link at `ratio` pixels per point; an invalid value means that there is none.
  explicit PictureBrowser(std::function<QVariant(const QUrl& link, double ratio)> paint) : m_paint(std::move(paint)) {}
  QVariant loadResource(int type, const QUrl& link) override {
    const QVariant picture = type == QTextDocument::ImageResource ? m_paint(link, devicePixelRatioF()) : QVariant();
    return picture.isValid() ? picture : QTextBrowser::loadResource(type, link);
  }

 private:
  std::function<QVariant(const QUrl& link, double ratio)> m_paint;
};

/// Shows the selected node, fused node or model: what it is, why it is planned in this way, what would change that.
class InspectorDock : public Dock {
  Q_OBJECT

 public:
  explicit InspectorDock(const DockContext& context);
  QString text() { return fresh(*m_text).toPlainText(); }

 protected:
  void renew(Parts parts) override;

 private:
  void show(const SelectionAnswers* answers);  ///< null while it is being computed
  QString runText(const std::vector<NodeId>& nodes, const SelectionAnswers* answers) const;
  QString knownText(const std::vector<NodeId>& nodes) const;
  /// What the displayed run says about errors in the results of `nodes`.
  struct Wrong {
    ValueId value;
    Harm harm = Harm::Inexact;
    std::optional<OfferedFix> tried{};  ///< the result of trying pins in the same run; nothing if none was tried
  };
  std::optional<Wrong> wrongOf(const std::vector<NodeId>& nodes) const;
  /// If `nodes` have no local error but get wrong inputs, returns the value that goes wrong first; otherwise an empty
  /// text.
  std::string wrongBefore(const std::vector<NodeId>& nodes) const;
  /// `path` is the path of the body of `snapshot`.
  QString textOf(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const BodyPath& path,
                 const SelectionAnswers* answers) const;
  /// Returns the share of the time of the kernel of `nodes` in the displayed run. It looks at every kernel.
  static std::optional<TimeShare> shareOf(const Cover& cover, const std::vector<NodeId>& nodes,
                                          const ShownTimes& times);
  ShownKernelTime timeOf(const FusedNode& fused, const BodyPath& path) const;
  /// Returns the sum of the times of the segment's kernels in the displayed run; without one, what the cover knows.
  SegmentTime timeOf(const Segment& segment) const;
  /// `path` is the path of the body of `plan`.
  void workOut(std::shared_ptr<const Plan> plan, const std::vector<NodeId>& nodes, const BodyPath& path);
  void follow(const QUrl& link);
  void act(const QString& what);  ///< follows the links "do:"
  void applyHelp(std::size_t index);

  QTextBrowser* m_text;
  SelectionAnswers m_answers;
  bool m_busy = false;  ///< whether the worker was busy at the last update, on which the next steps depend
};

}  // namespace fusescope
