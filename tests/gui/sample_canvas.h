#pragma once

#include <memory>

#include "tests/gui/gui_support.h"
#include "ui/canvas/graph_view.h"

namespace fusescope::test {

/// Tests of a canvas that shows squeezenet1_1, each of one of its own.
class SampleCanvas : public QObject {
  Q_OBJECT

 protected:
  std::shared_ptr<const Plan> m_plan;
  std::unique_ptr<GraphView> m_view;
  QString m_fused;  ///< a fused node of two nodes

 private slots:
  void initTestCase();
  void init();
};

}  // namespace fusescope::test
