// What the legend lets one choose, and what is dimmed then.
#include <QtTest>
#include <algorithm>

#include "tests/gui/drawn_plan.h"
#include "tests/gui/sample_canvas.h"
#include "ui/canvas/legend.h"

namespace fusescope {

class LegendTest : public test::SampleCanvas {
  Q_OBJECT

 private slots:
  void theLegendDimsWhatIsNotChosen() {
    m_view->setColorMode(*findColorMode("kind"));
    auto& legend = *m_view->findChild<LegendWidget*>();
    auto& chip = *m_view->findChild<FilterChip*>();
    QVERIFY(legend.isVisible() && legend.lines().size() >= 3 && !chip.isVisible());
    const QImage before = m_view->grab().toImage();
    const auto click = [&](int line, Qt::KeyboardModifiers keys) {
      QTest::mouseClick(&legend, Qt::LeftButton, keys, legend.lineRect(line).center());
    };
    const auto key = [&](int line) { return legend.lines()[std::size_t(line)].key; };
    click(1, Qt::NoModifier);
    QCOMPARE(m_view->shownOnly(), QStringList{key(1)});
    QVERIFY(chip.isVisible() && chip.text().startsWith("only "));
    QVERIFY(m_view->grab().toImage() != before);
    QVERIFY(legend.accessibleDescription().startsWith("chosen, "));
    click(0, Qt::ControlModifier);
    QCOMPARE(m_view->shownOnly(), (QStringList{key(1), key(0)}));
    click(1, Qt::ControlModifier);
    click(0, Qt::NoModifier);
    QVERIFY(m_view->shownOnly().isEmpty() && !chip.isVisible());
    // By keyboard.
    legend.setFocus();
    QTest::keyClick(&legend, Qt::Key_Home);
    QTest::keyClick(&legend, Qt::Key_Down);
    QTest::keyClick(&legend, Qt::Key_Space);
    QCOMPARE(m_view->shownOnly(), QStringList{key(1)});
    QTest::keyClick(&legend, Qt::Key_Down);
    QTest::keyClick(&legend, Qt::Key_Space, Qt::ControlModifier);
    QCOMPARE(m_view->shownOnly(), (QStringList{key(1), key(2)}));
    QTest::keyClick(&legend, Qt::Key_Escape);
    QVERIFY(m_view->shownOnly().isEmpty());
    click(1, Qt::NoModifier);
    QTest::keyClick(m_view.get(), Qt::Key_Escape);
    QVERIFY(m_view->shownOnly().isEmpty());
    click(2, Qt::NoModifier);
    QTest::mouseClick(&chip, Qt::LeftButton);
    QVERIFY(m_view->shownOnly().isEmpty());
  }

  void whatIsDimmedOutlivesAPlanAndEndsWithTheMode() {
    auto& legend = *m_view->findChild<LegendWidget*>();
    auto& chip = *m_view->findChild<FilterChip*>();
    m_view->showOnly({"float16"});
    QVERIFY2(chip.text().contains("none here"), qPrintable(chip.text()));
    m_view->setCover(test::planOf(m_plan->model, {.precisions = {DataType::F16}}));
    QVERIFY(m_view->waitForLayout(test::kPatienceMs));
    QCOMPARE(m_view->shownOnly(), QStringList{"float16"});
    QVERIFY2(chip.text().startsWith("only f16"), qPrintable(chip.text()));
    QVERIFY(std::ranges::count(legend.lines(), QString("float16"), &LegendLine::key) == 1);
    m_view->setColorMode(*findColorMode("segment"));
    QVERIFY(m_view->shownOnly().isEmpty() && !chip.isVisible());
    m_view->showOnly({"segment_0"});
    m_view->setCover(test::planSample("bert_tiny")->plan);  // another network
    QVERIFY(m_view->shownOnly().isEmpty());
    QVERIFY(m_view->waitForLayout(test::kPatienceMs));
  }

  void aScaleIsChosenByItsStep() {
    m_view->setColorMode(*findColorMode("bytes"));
    auto& legend = *m_view->findChild<LegendWidget*>();
    QTest::mouseClick(&legend, Qt::LeftButton, Qt::NoModifier, legend.lineRect(0).center());
    QCOMPARE(m_view->shownOnly(), QStringList{"step 5"});
  }
};

}  // namespace fusescope

using fusescope::LegendTest;
FUSESCOPE_GUI_TEST(LegendTest, 3)
#include "legend_test.moc"
