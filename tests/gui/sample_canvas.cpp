#include "tests/gui/sample_canvas.h"

namespace fusescope::test {

void SampleCanvas::initTestCase() {
  m_plan = planSample(QStringLiteral("squeezenet1_1"))->plan;
}

void SampleCanvas::init() {
  m_view = shownCanvas(m_plan);
  QVERIFY(m_view);
  m_fused = firstOfTwoNodes(*m_plan);
}

}  // namespace fusescope::test
