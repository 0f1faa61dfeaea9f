#pragma once

#include <QFrame>
#include <QStringList>

#include "ui/docks/dock_context.h"

class QHBoxLayout;

namespace fusescope {

/// Where the selection is: segment, blocks, kernel and node, from the outside to the inside, each to be clicked: then
/// all of it is selected. Empty where nothing is selected. GUI thread only.
class Breadcrumb : public QFrame {
  Q_OBJECT

 public:
  explicit Breadcrumb(const DockContext& context, QWidget* parent = nullptr);
  /// As the selection and the plan on screen are now.
  void refresh();
  QStringList steps() const;

 private:
  /// One step of the way in.
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
