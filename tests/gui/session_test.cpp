#include <QAction>
#include <QFile>
#include <QPushButton>
#include <QTimer>
#include <QtTest>

#include "interchange/npz.h"
#include "session/inputs/sample_source.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/canvas/color_mode.h"
#include "ui/dialogs/run_settings_dialog.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000, kOpenMs = 60'000, kKeptMs = 10'000;

PlanOptions halfPrecision() {
  return {.precisions = {DataType::F16}};
}

}  // namespace

/// Sessions: nothing that a person did is lost, and what is on screen says whether it is good enough.
class SessionTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_asked = 0;
    m_folder = std::make_unique<test::SessionFolder>();
    m_model = m_folder->model();
    m_window = makeWindow();
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void closingAsksAboutWhatIsNotSaved() {
    openWithAPin();
    QVERIFY(m_window->isWindowModified());
    answer(QMessageBox::Cancel);
    QVERIFY(!m_window->close());
    QVERIFY(m_window->isVisible());
    QCOMPARE(m_asked, 1);
    answer(QMessageBox::Discard);
    QVERIFY(m_window->close());
    QCOMPARE(m_asked, 2);
    QVERIFY(makeWindow()->session().left().empty());
  }

  void savingAndOpeningAgainGivesTheSameSession() {
    openWithAPin();
    const PlanOptions options = m_window->document().options();
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    m_window->canvas().setColorMode(*findColorMode("time"));
    m_window->canvas().showOnly({"step 5"});
    const Session saved = m_window->session().session();
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    QVERIFY(!m_window->isWindowModified());
    QVERIFY(m_window->close());  // asks nothing
    m_window = makeWindow();
    m_window->session().open(file);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->runs().all().empty(), kOpenMs);
    QVERIFY(m_window->document().options() == options);
    QVERIFY(m_window->runs().all() == saved.runs);
    QCOMPARE(&m_window->canvas().colorMode(), findColorMode("time"));
    QTRY_COMPARE(m_window->canvas().shownOnly(), QStringList{"step 5"});
    QVERIFY(m_window->runs().ofThisPlan(*m_window->runs().shown()));
    QVERIFY(!m_window->isWindowModified());
    QVERIFY(QFile::exists(qs(m_window->runs().shown()->enginePath)));  // it can be compared without building
  }

  void openingTheSameFileAgainKeepsPinsAndUndo() {
    openWithAPin();
    const PlanOptions options = m_window->document().options();
    QSignalSpy opened(&m_window->document(), &PlanDocument::modelChanged);
    m_window->openFile(m_model);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kOpenMs);
    QVERIFY(m_window->document().options() == options);
    QVERIFY(m_window->document().undoStack().canUndo());
  }

  void openingAnotherNetworkAsksFirst() {
    openWithAPin();
    answer(QMessageBox::Cancel);
    m_window->openFile(test::samplePath("squeezenet1_1"));
    QCOMPARE(m_asked, 1);
    QCOMPARE(m_window->document().path(), m_model);
    answer(QMessageBox::Discard);
    m_window->openFile(test::samplePath("squeezenet1_1"));
    QTRY_COMPARE_WITH_TIMEOUT(m_window->document().path(), test::samplePath("squeezenet1_1"), kOpenMs);
    QVERIFY(m_window->runs().all().empty());
  }

  void aBuildOfTheSessionBeforeLeavesTheRunsOfTheNextAlone() {
    openWithAPin();
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    const std::string saved = toJson(m_window->runs().all().front()).dump();
    m_window.reset();
    m_window = makeWindow();
    m_window->session().open(test::samplePath("squeezenet1_1"));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot(), kOpenMs);
    m_window->controller().build();
    QVERIFY(m_window->controller().busy());
    m_window->session().open(file);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->document().path(), m_model, kOpenMs);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QCOMPARE(m_window->runs().all().size(), std::size_t(1));
    QCOMPARE(toJson(m_window->runs().all().front()).dump(), saved);
  }

  void aModelThatChangedOnDiskIsNoticedAndReloaded() {
    openWithAPin();
    QFile::remove(m_model);
    QVERIFY(QFile::copy(test::samplePath("squeezenet1_1"), m_model));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messages().button("changed", "Reload") != nullptr, kKeptMs);
    QTest::mouseClick(m_window->messages().button("changed", "Reload"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().model()->fileNodes > 20, kOpenMs);
    QVERIFY2(m_window->messages().textOf("dropped").contains("pin"),
             qPrintable(m_window->messages().textOf("dropped")));
    QVERIFY(m_window->document().directives().empty());
  }

  void aModelWithOtherWeightsAloneOffersARefit() {
    const auto write = [&](int weight) {
      test::writeModel(m_model + ".new", QStringLiteral(R"(<ir_version: 8, opset_import: ["" : 18]>
          g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, %1}> { [mm] y = MatMul (x, w) })")
                                             .arg(weight)
                                             .toUtf8()
                                             .constData());
      QFile::remove(m_model);
      QVERIFY(QFile::rename(m_model + ".new", m_model));
    };
    write(4);
    open({});
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    const Run former = *m_window->runs().shown();
    QTest::qWait(25);  // the clock of files advances in steps of some milliseconds
    write(5);
    const QString action = QStringLiteral("Reload and refit %1").arg(Runs::title(former));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messages().button("changed", action) != nullptr, kKeptMs);
    QTest::mouseClick(m_window->messages().button("changed", action), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->runs().all().size(), std::size_t(2), kOpenMs);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    const Run& refitted = m_window->runs().all().back();
    QVERIFY2(refitted.state == RunState::Ready, refitted.problem.c_str());
    QVERIFY(m_window->runs().ofThisPlan(refitted));
    QVERIFY(!m_window->runs().ofThisPlan(*m_window->runs().find(former.id)));
    const auto before = openEngineFile(former.enginePath), after = openEngineFile(refitted.enginePath);
    QVERIFY2(after.ok(), "the refitted engine is written");
    QCOMPARE(after.value().timesWithWeightsOf, m_model.toStdString());
    const auto weights = [](const EngineFile& file) {
      const Graph& graph = file.plan->graph();
      return graph.constantData(*graph.findValue("w"))->asDouble(3);
    };
    QCOMPARE(weights(before.value()), 4.0);
    QCOMPARE(weights(after.value()), 5.0);
  }

  void aRunOfAModelThatHasChangedIsNotMadeAgain() {
    open({});
    for (int build = 0; build < 2; ++build) {
      m_window->controller().build();
      QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    }
    const std::string before = toJson(*m_window->runs().comparedWith()).dump();
    QVERIFY(QFile::remove(qs(m_window->runs().comparedWith()->enginePath)));
    m_window->controller().compare();  // builds the engine that is gone
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->runs().comparison() != nullptr, qPrintable(m_window->controller().problem()));
    const Json after = toJson(*m_window->runs().comparedWith());
    QCOMPARE(after["build"].dump(), Json::parse(before)["build"].dump());  // and what was measured stands
    QFile::remove(m_model);
    QVERIFY(QFile::copy(test::samplePath("squeezenet1_1"), m_model));
    m_window->document().reload();
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().model()->fileNodes > 20, kOpenMs);
    QVERIFY2(m_window->controller().evaluateRefusal().contains("has changed since"),
             qPrintable(m_window->controller().evaluateRefusal()));
    QVERIFY(QFile::remove(qs(m_window->runs().shown()->enginePath)));
    QVERIFY2(m_window->controller().compareRefusal().contains("does not exist any more"),
             qPrintable(m_window->controller().compareRefusal()));
  }

  void aMissingModelCanBeLocated() {
    openWithAPin();
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    QVERIFY(QFile::rename(m_model, m_folder->filePath("moved.onnx")));
    m_window = makeWindow();
    m_window->session().open(file);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messages().button("missing", "Locate…") != nullptr, kOpenMs);
    m_window->session().locate(m_folder->filePath("moved.onnx"));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().model() != nullptr, kOpenMs);
    QCOMPARE(m_window->document().directives().size(), std::size_t(1));
  }

  void aSessionWithoutItsModelIsNoSessionOfAnother() {
    openWithAPin();
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    QVERIFY(QFile::remove(m_model));
    m_window = makeWindow();
    m_window->session().open(file);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messages().button("missing", "Locate…") != nullptr, kOpenMs);
    m_window->session().open(test::samplePath("squeezenet1_1"), {}, {});
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().model() != nullptr, kOpenMs);
    QVERIFY(m_window->session().path().isEmpty());  // saving would write over the other's file
    QVERIFY(m_window->document().directives().empty());
    QVERIFY(m_window->messages().button("missing", "Locate…") == nullptr);
  }

  void whatAKilledWindowLeftIsOffered() {
    // What a window that was killed leaves is the file alone: its lock is of a process that is no more.
    openWithAPin();
    const Session session = m_window->session().session();
    const QString kept = keptFolder() + "/" + qs(session.id) + ".fsession";
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(kept), kKeptMs);
    QVERIFY(QFile::copy(kept, m_folder->filePath("copy")));
    answer(QMessageBox::Discard);
    QVERIFY(m_window->close());
    QVERIFY(!QFile::exists(kept));
    m_window.reset();
    QVERIFY(QFile::copy(m_folder->filePath("copy"), kept));
    m_window = makeWindow();
    QPushButton* recover = m_window->messages().button(kept, "Recover");
    QVERIFY(recover != nullptr);
    QTest::mouseClick(recover, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().model() != nullptr, kOpenMs);
    QVERIFY(m_window->document().options() == session.options);
    QVERIFY(m_window->isWindowModified());  // it is in no file of the user's yet
  }

  void whatIsSavedIsAmongTheRecent() {
    openWithAPin();
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    QCOMPARE(PlanDocument::recentFiles().first(), file);
    QVERIFY(m_window->close());
    m_window = makeWindow();
    m_window->openFile(m_model);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot(), kOpenMs);
    QCOMPARE(PlanDocument::recentFiles().first(), m_model);
    m_window->openFile(file);
    QTRY_COMPARE_WITH_TIMEOUT(PlanDocument::recentFiles().first(), file, kOpenMs);
  }

  void whatWasOnlyGivenIsNotAskedAbout() {
    openWithAPin();
    QVERIFY(m_window->isWindowModified());
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    RunSettings settings = m_window->runs().settings();
    settings.inputs = {.paths = {m_folder->filePath("io.npz").toStdString()}};
    m_window->runs().setSettings(settings);
    QVERIFY2(!m_window->isWindowModified(), "the star says that closing will ask");
    // How the runs of a session that has a file are made is part of it; what a search was to reach is not.
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    settings.tune.goal.maxError = 0.5;
    m_window->runs().setSettings(settings);
    QVERIFY(!m_window->isWindowModified());
    settings.tolerance = {.rms = 0.5};
    m_window->runs().setSettings(settings);
    QVERIFY(m_window->isWindowModified());
    QVERIFY(m_window->session().save(file).ok() && !m_window->isWindowModified());
    QVERIFY(m_window->close());
    QCOMPARE(m_asked, 0);
  }

  void anOverflowFailsAndSaysWhereAndAPinMakesItPass() {
    open(halfPrecision());
    m_window->controller().buildBoth();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    const Run failed = *m_window->runs().shown();
    const Verdict verdict = m_window->runs().verdict(failed);
    QCOMPARE(verdict.kind, Verdict::Kind::Fail);
    QVERIFY(!verdict.firstWrong.empty());
    QVERIFY(verdict.firstNotFinite);
    QVERIFY2(m_window->dock<RunsDock>().details().contains("fails"), qPrintable(m_window->dock<RunsDock>().details()));
    QVERIFY(m_window->dock<RunsDock>().details().contains("The inputs were random"));
    QCOMPARE(m_window->runs().all().size(), std::size_t(3));  // the baseline, this, and both compared
    // It is red on the canvas, in the table, and first in the inspector.
    GraphView& canvas = m_window->canvas();
    QVERIFY(canvas.waitForLayout(kOpenMs));
    canvas.select({"node_relu_1"});
    QVERIFY2(canvas.accessibleDescription().contains("goes wrong here"), qPrintable(canvas.accessibleDescription()));
    const LayersModel& layers = m_window->dock<LayersDock>().model();
    const QModelIndex row = layers.index(layers.rowOf(QStringLiteral("node_relu_1")), LayersModel::kNode);
    QCOMPARE(row.data(kToneRole).toInt(), static_cast<int>(Tone::Bad));
    QVERIFY(m_window->dock<InspectorDock>().text().contains("First not finite at relu_1"));  // nothing is selected
    m_window->selection().set(m_window->document().snapshot()->nodesNamed("node_relu_1"));
    QVERIFY2(m_window->dock<InspectorDock>().text().startsWith(QString::fromUtf8("✗ run 2")),
             qPrintable(m_window->dock<InspectorDock>().text()));
    // The culprit is in the kernel that overflows; what reads its result must take it as float32 too.
    const auto culprit = m_window->document().snapshot()->nodesNamed(verdict.firstWrong);
    QCOMPARE(m_window->document().namesOf(culprit), std::vector<std::string>{"node_relu_1"});
    m_window->document().pin({"node_linear_1", "node_relu_1", "node_layer_norm"}, DataType::F32, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    m_window->controller().buildBoth();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QCOMPARE(m_window->runs().all().size(), std::size_t(5));                            // the baseline was there
    QCOMPARE(toJson(*m_window->runs().find(failed.id)).dump(), toJson(failed).dump());  // what failed is as it was
    const Verdict pinned = m_window->runs().verdict(*m_window->runs().shown());
    QVERIFY2(pinned.kind == Verdict::Kind::Pass, inWords(pinned).c_str());
  }

  void inputsAndToleranceAreTheSessions() {
    open(halfPrecision());
    const auto& spec = m_window->document().snapshot()->plan->inputSpecs.front();
    const QString file = m_folder->filePath("inputs.npz");
    QVERIFY(writeNpz(file.toStdString(), {{spec.name, Tensor::zeros(spec.dtype, spec.opt)}}).ok());
    m_window->openFile(file);  // as if it was dropped
    const SampleSource inputs{.paths = {file.toStdString()}};
    QVERIFY(m_window->runs().settings().inputs == inputs);
    RunSettingsDialog dialog(test::contextOf(*m_window));
    dialog.tolerance().setText("0.5");
    dialog.accept();
    QTRY_VERIFY(m_window->runs().settings().tolerance == (Tolerance{.rms = 0.5}));
    QVERIFY(m_window->runs().settings().inputs == inputs);  // as they were
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    m_window->controller().evaluate();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY(m_window->runs().evaluation(*m_window->runs().shown())->inputs == inputs);
    QVERIFY(!m_window->dock<RunsDock>().details().contains("random"));
  }

  void anEngineFileIsComparedBesideARun() {
    open({});
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    const QString engine = m_folder->filePath("other.fse");
    QVERIFY(QFile::copy(qs(m_window->runs().shown()->enginePath), engine));
    m_window->controller().addEngines({engine});
    QTRY_COMPARE(m_window->runs().all().size(), std::size_t(2));
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QCOMPARE(m_window->runs().shown()->name, std::string("other.fse"));
    QVERIFY(m_window->runs().shown()->time->medianMs.has_value());
    m_window->controller().compare();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->runs().comparison() != nullptr, qPrintable(m_window->controller().problem()));
    // It is evaluated as what the file holds, not as the model that is open with its options.
    m_window->controller().evaluate();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(!m_window->runs().shown()->evaluations.empty(), qPrintable(m_window->controller().problem()));
    QCOMPARE(m_window->runs().verdict(*m_window->runs().shown()).kind, Verdict::Kind::Pass);
  }

 private:
  QString keptFolder() const { return m_folder->kept(); }
  std::unique_ptr<MainWindow> makeWindow() const { return m_folder->makeWindow(); }
  void open(const PlanOptions& options) {
    m_window->session().open(m_model, options);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot(), kOpenMs);
  }
  void openWithAPin() {
    open(halfPrecision());
    const NodeId first = m_window->document().snapshot()->graph().order().front();
    m_window->document().pin(m_window->document().namesOf({first}), DataType::F32, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
  }
  /// Presses a button of the question that comes next.
  void answer(QMessageBox::StandardButton button) {
    QTimer::singleShot(0, this, [this, button] { press(button); });
  }
  void press(QMessageBox::StandardButton button) {
    auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (box == nullptr) return QTimer::singleShot(20, this, [this, button] { press(button); });
    ++m_asked;
    QTest::mouseClick(box->button(button), Qt::LeftButton);
  }
  std::unique_ptr<test::SessionFolder> m_folder;
  QString m_model;
  std::unique_ptr<MainWindow> m_window;
  int m_asked = 0;
};

FUSESCOPE_GUI_TEST(SessionTest, 16)
#include "session_test.moc"
