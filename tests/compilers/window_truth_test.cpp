// What another compiler makes of the plan, while the user edits: predicted at once, then built in the background.
#include <QFile>
#include <QMessageBox>

#include "tests/compilers/window_fixture.h"
#include "ui/compare/two_views.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/validation_dock.h"
#include "ui/window/fact_line.h"

using namespace fusescope;
using State = BackgroundBuilds::State;

class WindowTruthTest : public test::AbacusWindow {
  Q_OBJECT

 private slots:
  void initTestCase() { begin(); }
  void cleanupTestCase() { end(); }
  void init() { test::catchWarnings(); }
  void cleanup() { endTest(); }

  void whatItMakesReplacesThePrediction() {
    openWindow(true);
    QVERIFY(line().isHidden());
    QVERIFY(!builds().isOn());  // our own compiler uses the machine
    QCOMPARE(builds().state(), State::Off);
    chooseAbacus();
    QVERIFY(line().isVisibleTo(&window()));
    QVERIFY2(line().words().startsWith("predicted "), qPrintable(line().words()));
    QVERIFY2(window().windowTitle().contains("prediction of the kernels of abacus") ||
                 document().snapshot()->made() != nullptr,
             qPrintable(window().windowTitle()));
    waitUntilMade();
    const ReadBackPlan& made = *document().snapshot()->made();
    QCOMPARE(made.compiler.name, std::string("abacus"));
    QVERIFY2(window().windowTitle().contains("(built in the background)"), qPrintable(window().windowTitle()));
    const PredictionCheck check = checkPrediction(*document().snapshot()->plan, made);
    QVERIFY(check.predicted > 0 && check.made > 0 && check.differing > 0);
    QVERIFY(check.agreement.f1());
    const QString words =
        QStringLiteral("predicted %1 kernels · abacus 1.0 made %2 with nodes, %3 differ (F1 of edges %4)")
            .arg(check.predicted)
            .arg(check.made)
            .arg(check.differing)
            .arg(*check.agreement.f1(), 0, 'f', 2);
    QCOMPARE(line().words(), words);
    QCOMPARE(line().accessibleName(), words);
    QVERIFY(window().runs().all().empty());  // nothing was asked for that would be a run
  }

  void anEditIsPredictedAtOnceAndThenBuilt() {
    openWindow(true);
    chooseAbacus();
    waitUntilMade();
    const std::string before = document().snapshot()->plan->hash.hex();
    bool wasPredicted = false;
    connect(&document(), &PlanDocument::planChanged, this, [&] {
      const auto snapshot = document().snapshot();
      wasPredicted = wasPredicted || (snapshot->made() == nullptr && snapshot->plan->hash.hex() != before);
    });
    document().pin({"product"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(wasPredicted);
    waitUntilMade();
    QVERIFY(document().snapshot()->plan->hash.hex() != before);
    // What is known already is not built again.
    const auto took = builds().lastBuildMs();
    document().undoStack().undo();
    QTRY_VERIFY(!document().planning());
    waitUntilMade();
    QCOMPARE(document().snapshot()->plan->hash.hex(), before);
    QCOMPARE(builds().lastBuildMs(), took);
    document().disconnect(this);
  }

  void anEditEndsTheBuildBefore() {
    qputenv(test::kAbacusFault, "hangs_in_compile");
    openWindow(true);
    chooseAbacus();
    QTRY_VERIFY(builds().state() == State::Building);
    QVERIFY2(line().words().contains("abacus is building"), qPrintable(line().words()));
    QVERIFY(!line().isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(!test::abacusProcesses(temporary()).empty(), test::kPatienceMs);
    document().undoStack().undo();  // our own compiler
    QTRY_VERIFY(builds().state() == State::Off);
    QTRY_VERIFY_WITH_TIMEOUT(test::abacusProcesses(temporary()).empty(), test::kPatienceMs);
    QTRY_VERIFY(line().isHidden());
  }

  void whatTheUserBuildsComesFirst() {
    openWindow(false);
    chooseAbacus();
    builds().choose(true);
    QCOMPARE(builds().state(), State::Waiting);
    build();
    QTRY_VERIFY(document().snapshot()->made() != nullptr);
    QVERIFY2(window().windowTitle().contains("(run 1)"), qPrintable(window().windowTitle()));
    QCOMPARE(builds().state(), State::Made);
    QVERIFY(!builds().made());
  }

  void itIsChosenAndRemembered() {
    openWindow(true);
    QAction* toggle = window().actions().find(QStringLiteral("build_while_editing"));
    QVERIFY(toggle->isEnabled() && !toggle->isChecked());
    chooseAbacus();
    waitUntilMade();
    QVERIFY(toggle->isEnabled() && toggle->isChecked());
    toggle->trigger();
    QVERIFY(!toggle->isChecked());
    QVERIFY(window().session().session().view["build_while_editing"] == Json(false));
    document().pin({"product"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!document().planning());
    QTRY_VERIFY(builds().state() == State::Off);
    QVERIFY2(line().words().contains("abacus is not asked"), qPrintable(line().words()));
    QTest::mouseClick(&line(), Qt::LeftButton);
    QVERIFY(toggle->isChecked());
    waitUntilMade();
    QVERIFY(window().session().session().view["build_while_editing"] == Json(true));
    const QString saved = file(QStringLiteral("kept.fsession"));
    builds().choose(false);
    QVERIFY(window().session().save(saved).ok());
    builds().choose(std::nullopt);
    bool wasRestored = false;
    connect(&window().session(), &SessionKeeper::restored, this, [&] { wasRestored = true; });
    QVERIFY(window().openFile(saved));
    QTRY_VERIFY(wasRestored);
    window().session().disconnect(this);
    QTRY_VERIFY(builds().chosen() == std::optional(false));
  }

  void itIsOffAfterALongBuild() {
    openWindow(true);
    Run run{.name = "long", .state = RunState::Failed, .model = document().modelFile().identity()};
    run.options.compiler = "abacus";
    run.build = RunBuild{.phases = {{"compile", BackgroundBuilds::kLongBuildMs + 1}}};
    window().runs().add(run);
    chooseAbacus();
    QTRY_VERIFY(builds().state() == State::Off);
    QVERIFY2(line().toolTip().contains("took 30"), qPrintable(line().toolTip()));
    builds().choose(true);
    waitUntilMade();
    builds().choose(std::nullopt);
    QVERIFY(builds().isOn());  // the newest build was short
  }

  void aModelThatChangedIsNotBuilt() {
    const QString path = file(QStringLiteral("changing.onnx"));
    QVERIFY(QFile::copy(model(), path));
    openWindow(false, 0.1, path);
    chooseAbacus();
    QFile changing(path);
    QVERIFY(changing.open(QFile::Append));
    changing.write("more");
    changing.close();
    builds().choose(true);
    QTRY_VERIFY(builds().state() == State::Failed);
    QVERIFY2(line().words().contains("✗ abacus: "), qPrintable(line().words()));
    line().click();
    auto* box = window().findChild<QMessageBox*>();
    QVERIFY(box != nullptr);
    QCOMPARE(box->informativeText().isEmpty(), false);
    box->accept();
  }

  void aClickShowsPredictionAndFactSideBySide() {
    openWindow(true);
    QVERIFY(!window().actions().find(QStringLiteral("compare_prediction"))->isEnabled());
    chooseAbacus();
    waitUntilMade();
    QTest::mouseClick(&line(), Qt::LeftButton);
    QVERIFY(window().showsTwoViews());
    PlanComparison& comparison = window().twoViews().comparison();
    QTRY_VERIFY(comparison.pair() != nullptr);
    QCOMPARE(comparison.pair()->a->id, sides::kPrediction);
    QCOMPARE(comparison.pair()->b->id, sides::kScreen);
    QVERIFY(asReadBack(*comparison.pair()->a->cover) == nullptr);
    QVERIFY(asReadBack(*comparison.pair()->b->cover) != nullptr);
    QVERIFY(!comparison.pair()->diff.fusions.empty());
    QVERIFY(!comparison.pair()->diff.causesKnown);  // it does not say why
  }

  void theInspectorSaysWhatEachMade() {
    openWindow(true);
    chooseAbacus();
    build();
    QTRY_VERIFY(document().snapshot()->made() != nullptr);
    window().showDock(QStringLiteral("Inspector"));
    QTRY_VERIFY(inspected().contains("Prediction and fact"));
    for (const char* words : {"precision", "recall", "F1", "Our plan predicts", "abacus 1.0 made"})
      QVERIFY2(inspected().contains(words), words);
    document().pin({"product"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!document().planning());
    waitUntilMade();
    window().selection().set({node("product")});
    QTRY_VERIFY(inspected().contains("What each compiler made of it"));
    for (const char* words :
         {"our plan", "predicts", "abacus 1.0 · built in the background", "abacus 1.0 · run 1",
          "of a plan with other options or directives", "named: the compiler names the node", "obeyed"})
      QTRY_VERIFY2(inspected().contains(words), qPrintable(words + inspected()));
  }

  void validationSaysWhatBecameOfAPin() {
    openWindow(true);
    chooseAbacus();
    document().pin({"product"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!document().planning());
    QVERIFY(!validated().contains("abacus 1.0:"));
    waitUntilMade();
    QVERIFY2(validated().contains("abacus 1.0: obeyed, it calculates in f16."), qPrintable(validated()));
    document().pin({"product"}, DataType::BF16, Strictness::Prefer);  // which it calculates in f32
    QTRY_VERIFY(!document().planning());
    waitUntilMade();
    QVERIFY2(validated().contains("abacus 1.0: ") && !validated().contains("abacus 1.0: obeyed"),
             qPrintable(validated()));
  }

 private:
  BackgroundBuilds& builds() { return window().builds(); }
  FactLine& line() { return *window().findChild<FactLine*>(QStringLiteral("factLine")); }
  QString inspected() { return window().dock<InspectorDock>().text(); }
  /// What the Validation dock says in answer to pins.
  QString validated() {
    DecisionsModel& model = window().dock<ValidationDock>().model();
    QStringList said;
    for (int row = 0; row < model.rowCount(); ++row) said << model.index(row, DecisionsModel::kWhat).data().toString();
    return said.join('\n');
  }
  void waitUntilMade() {
    QTRY_VERIFY2(builds().state() == State::Made, qPrintable(line().words()));
    QVERIFY(document().snapshot()->made() != nullptr);
  }
};

FUSESCOPE_GUI_TEST(WindowTruthTest, 10)
#include "window_truth_test.moc"
