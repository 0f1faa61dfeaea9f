#pragma once

#include <QFrame>
#include <QStringList>

#include "ui/docks/dock_context.h"

class QHBoxLayout;

namespace fusescope {

/// Shows the path to the selection: segment, blocks, kernel and node, from the outermost to the innermost. A click on
/// one of them selects all of it. It is empty if nothing is selected. GUI thread only.
class Breadcrumb : public QFrame {
  Q_OBJECT

 public:
  explicit Breadcrumb(const DockContext& context, QWidget* parent = nullptr);
  /// Updates it for the present selection and displayed plan.
  void refresh();
  QStringList steps() const;

 private:
  /// A step of the path to the selection.
  struct Step {
    QString text, tip;
    std::vector<NodeId> nodes;
  };
  std::vector<Step> stepsTo(const PlanSnapshot& snapshot) const;
  void add(const Step& step, bool last);

  DockContext m_context;
  QHBoxLayout* m_row;
};

}  // namespace fusescope
