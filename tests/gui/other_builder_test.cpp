// A plan for a target that another compiler builds for: the window says which one it is, and offers to build with it.
#include <QTextBrowser>
#include <QtTest>

#include "probe/environments.h"
#include "tests/gui/gui_support.h"
#include "ui/docks/copy_command.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/build_step.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"
#include "ui/window/main_window.h"

namespace fusescope {

class OtherBuilderTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void theCompilerOfTheTargetIsOffered_data() {
    QTest::addColumn<QString>("compiler");
    QTest::addColumn<QString>("python");
    QTest::newRow("onnxruntime") << "onnxruntime"
                                 << "FUSESCOPE_COMPILERS_PYTHON";
    QTest::newRow("tensorrt-rtx") << "tensorrt-rtx"
                                  << "FUSESCOPE_TENSORRT_RTX_PYTHON";
  }
  void theCompilerOfTheTargetIsOffered() {
    QFETCH(QString, compiler);
    QFETCH(QString, python);
    const QByteArray command = qgetenv(python.toLatin1());
    if (command.isEmpty()) QSKIP(qPrintable("no Python with " + compiler + ": " + python + " is not set"));
    const Status added = addEnvironment({.name = "with_" + compiler.toStdString(), .command = command.toStdString()});
    QVERIFY2(added.ok(), added.ok() ? "" : added.error().text().c_str());
    plan(compiler.toStdString());
    QTRY_VERIFY2(build().isEnabled(), qPrintable(build().toolTip()));
    QCOMPARE(build().text(), "&Build with " + compiler);
    // What only our own compiler can do says which compiler to choose.
    const QString refusal = m_window->actions().find("build_both")->data().toString();
    QVERIFY2(refusal.contains("the compiler " + compiler + " ") && refusal.contains("Choose that compiler under"),
             qPrintable(refusal));
    const QString text = m_window->dock<InspectorDock>().text();
    QVERIFY2(text.contains("Our own compiler only plans for the target " + compiler), qPrintable(text));
    // Only a compiler that can be timed here promises a time.
    const bool isTimed = m_window->controller().compilers().whyNot(compiler.toStdString(), Ability::Time).isEmpty();
    QVERIFY2(text.contains("Build with " + compiler), qPrintable(text));
    QCOMPARE(text.contains("and time it"), isTimed);
    const auto copied = buildCommandOf(m_window->context())();
    QVERIFY(copied.ok());
    const std::vector<std::string>& words = copied.value().commands.front();
    const auto option = std::ranges::find(words, "--compiler");
    QVERIFY(words.end() - option > 1);
    QCOMPARE(option[1], compiler.toStdString());
    emit m_window->dock<InspectorDock>().findChild<QTextBrowser*>()->anchorClicked(QUrl("do:build"));
    QTRY_VERIFY(m_window->runs().shown() != nullptr && !m_window->runs().shown()->working());
    QCOMPARE(m_window->runs().shown()->options.compiler, compiler.toStdString());
    QVERIFY2(m_window->runs().shown()->made, m_window->runs().shown()->problem.c_str());
    QCOMPARE(build().text(), QStringLiteral("&Build this plan"));
    QVERIFY(buildStep(m_window->document(), m_window->controller()).other == nullptr);
  }

  void aTargetThatNoCompilerBuildsForOffersNone() {
    plan("tensorrt-10");
    QVERIFY(!build().isEnabled());
    QCOMPARE(build().text(), QStringLiteral("&Build this plan"));
    QVERIFY2(build().toolTip().contains("engines are built for the target cpu"), qPrintable(build().toolTip()));
  }

  void aPredictedSegmentHasTheNameOfItsTarget() {
    for (const char* target : {"tensorrt-rtx", "openvino", "tensorrt-10", "cpu"}) {
      const auto snapshot = test::planSample("fp16_overflow", {.target = target});
      for (const Segment& segment : snapshot->plan->segments) {
        if (segment.kind != SegmentKind::Accelerated) continue;
        const QString expected = target == std::string("cpu") ? "native" : target;
        QCOMPARE(runsOn(*snapshot->plan, segment), expected);
        const QString text = segmentText(*snapshot, segment, {}, Theme::dark());
        QVERIFY2(text.contains("on " + expected), qPrintable(text));
      }
    }
  }

 private:
  QAction& build() { return *m_window->actions().find("build"); }
  /// Plans a network for the target in a new window.
  void plan(const std::string& target) {
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setTarget(target);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().planProblem().isEmpty());
  }

  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::OtherBuilderTest, 4)
#include "other_builder_test.moc"
