#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLockFile>
#include <QPainter>
#include <QPushButton>
#include <QTableView>
#include <QtTest>

#include "base/files.h"
#include "interchange/npz.h"
#include "tests/gui/gui_support.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/names_apart.h"
#include "ui/document/qt_text.h"
#include "ui/models/table_model.h"
#include "ui/theme/theme.h"
#include "ui/widgets/common_widgets.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000;

}  // namespace

/// Runs are kept, whatever they are; what belongs to them goes with them, and nothing else does.
class RunsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<test::SessionFolder>();
    m_model = m_folder->model();
    m_window = makeWindow();
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void evaluatingAgainKeepsWhatWasThere() {
    open({.precisions = {DataType::F16}});
    build();
    evaluate();
    const std::string id = runs().shown()->id;
    const SharedOptional<Evaluation> first = runs().shown()->evaluations.front();
    QVERIFY(first->inputs.empty());
    const auto& spec = m_window->document().snapshot()->plan->inputSpecs.front();
    const QString file = m_folder->filePath("zeros.npz");
    QVERIFY(writeNpz(file.toStdString(), {{spec.name, Tensor::zeros(spec.dtype, spec.opt)}}).ok());
    RunSettings settings = runs().settings();
    settings.inputs = {.paths = {file.toStdString()}};
    settings.tolerance = {.rms = 0.25};
    runs().setSettings(settings);
    QVERIFY2(details().contains("not on the inputs that are chosen now"), qPrintable(details()));
    evaluate();
    const Run run = *runs().find(id);
    QCOMPARE(run.evaluations.size(), std::size_t(2));
    QVERIFY(run.evaluations[0].isSameObject(first));  // equal it need not be: there are NaN in it
    QVERIFY(run.evaluations[1]->inputs == settings.inputs);
    QVERIFY(run.evaluations[1]->tolerance == (Tolerance{.rms = 0.25}));
    QVERIFY2(details().contains("2 evaluations"), qPrintable(details()));
    QVERIFY(details().contains("zeros.npz"));
    // The verdict is of the inputs that are chosen, whichever was evaluated last.
    QVERIFY(runs().evaluation(run)->inputs == settings.inputs);
    settings.inputs = {};
    runs().setSettings(settings);
    QCOMPARE(runs().evaluation(*runs().find(id))->when, first->when);
    QVERIFY(runs().evaluation(*runs().find(id))->inputs.empty());
  }

  void aComparisonIsARunLikeTheOthers() {
    open({.precisions = {DataType::F16}});
    m_window->controller().buildBoth();
    waitForWork();
    QCOMPARE(runs().all().size(), std::size_t(3));
    const Run first = runs().all()[2];
    QCOMPARE(first.kind, RunKind::Comparison);
    QCOMPARE(first.state, RunState::Ready);
    QCOMPARE(first.comparison->a, runs().all()[0].id);
    QCOMPARE(first.comparison->b, runs().all()[1].id);
    QVERIFY(!first.comparison->groups.empty() && !first.comparison->outputs.empty());
    QVERIFY(!first.machine.empty() && !first.started.empty());
    m_window->controller().compare();
    waitForWork();
    QCOMPARE(runs().all().size(), std::size_t(4));  // compared again, the one before is kept
    QVERIFY(runs().all()[2] == first);
    QCOMPARE(runs().comparison()->id, std::string("4"));
    // In the list it is chosen like any other.
    m_window->showDock("Runs");
    QTableView& table = m_window->dock<RunsDock>().table();
    QCOMPARE(table.model()->rowCount(), 4);
    runs().show("1");
    QVERIFY(runs().comparison() == nullptr);
    const QModelIndex row = table.model()->index(1, 1);  // the newest is first
    QCOMPARE(row.data(kNameRole).toString(), QStringLiteral("3"));
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(row).center());
    QVERIFY2(details().contains("A run 1") && details().contains("B run 2"), qPrintable(details()));
    emit table.doubleClicked(table.currentIndex());
    QVERIFY(runs().comparison() != nullptr);
    QCOMPARE(runs().comparison()->id, std::string("3"));
    QCOMPARE(runs().shown()->id, std::string("2"));
    QVERIFY(!m_window->dock<CompareDock>().groups().content().rows.empty());
    QCOMPARE(m_window->dock<CompareDock>().chooserA().count(), 2);  // of what has an engine
    // Without one of its runs there is nothing that it compares.
    runs().remove("1");
    QCOMPARE(runs().all().size(), std::size_t(1));
  }

  void aCancelledBuildTakesNothingsPlaceAndIsNotEvaluated() {
    open({});
    build();
    build();
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    m_window->showDock("Runs");
    RunsDock& dock = m_window->dock<RunsDock>();
    QTest::mouseClick(&dock.buildButton(), Qt::LeftButton);
    QVERIFY(m_window->controller().busy());
    QTest::mouseClick(&dock.cancelButton(), Qt::LeftButton);
    waitForWork();
    QCOMPARE(runs().all().size(), std::size_t(3));  // it is kept, with what its log says
    QCOMPARE(runs().all().back().state, RunState::Cancelled);
    QVERIFY(runs().shown() != nullptr);
    QCOMPARE(runs().shown()->id, std::string("2"));
    QCOMPARE(runs().comparedWith()->id, std::string("1"));
    // Who looks at it finds nothing that can be evaluated.
    runs().show("3");
    QVERIFY(!dock.evaluateButton().isEnabled());
    QVERIFY2(m_window->controller().evaluateRefusal().contains("cancelled"),
             qPrintable(m_window->controller().evaluateRefusal()));
    QCOMPARE(dock.evaluateButton().toolTip(), m_window->controller().evaluateRefusal());
    m_window->controller().evaluate();
    QVERIFY(!m_window->controller().busy());
    // Errors of layers are of a run of their own, not of one that was given up.
    QTest::mouseClick(&dock.errorsButton(), Qt::LeftButton);
    waitForWork();
    QCOMPARE(runs().find("3")->state, RunState::Cancelled);
    QVERIFY(runs().find("3")->errors.empty());
    QCOMPARE(runs().shown()->id, std::string("4"));
    // What has numbers stays as it is when more of them are given up.
    QTest::mouseClick(&dock.evaluateButton(), Qt::LeftButton);
    QTest::mouseClick(&dock.cancelButton(), Qt::LeftButton);
    waitForWork();
    QCOMPARE(runs().find("4")->state, RunState::Ready);
    QCOMPARE(runs().shown()->id, std::string("4"));
  }

  void aNoteIsNoOtherPlan() {
    open({.precisions = {DataType::F16}});
    m_window->document().pin({"node_linear"}, DataType::F32, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    build();
    PlanOptions noted = m_window->document().options();
    noted.directives.front().note = "because I say so";
    noted.directives.front().id = "mine";
    m_window->document().edit("Note", noted);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().front().note, std::string("because I say so"));
    QVERIFY(runs().ofThisPlan(*runs().shown()));
    QVERIFY2(!details().contains("another"), qPrintable(details()));
    QVERIFY(!m_window->dock<RunsDock>().restoreButton().isEnabled());
    m_window->document().pin({"node_linear"}, DataType::F32, Strictness::Obey);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(!runs().ofThisPlan(*runs().shown()));
  }

  void aRunWhoseAnswerCameBeforeItsCancellationIsCancelled() {
    open({});
    m_window->controller().build();
    QThread::sleep(2);  // the worker answers, but the window has no time to read it
    m_window->controller().cancel();
    QTRY_VERIFY(!m_window->controller().busy());
    QVERIFY(runs().all().back().state == RunState::Cancelled);
  }

  void aPlanThatIsTheBaselineIsBuiltOnce() {
    open({});
    m_window->showDock("Runs");
    QTRY_VERIFY(m_window->dock<RunsDock>().isVisible());
    QTest::mouseClick(&m_window->dock<RunsDock>().bothButton(), Qt::LeftButton);
    waitForWork();
    QCOMPARE(runs().all().size(), std::size_t(1));
    QCOMPARE(runs().shown()->evaluations.size(), std::size_t(1));
    QVERIFY(says("This plan is the baseline itself"));
    m_window->controller().buildBoth();  // it is there
    waitForWork();
    QCOMPARE(runs().all().size(), std::size_t(1));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    m_window->controller().buildBoth();
    QVERIFY(!says("This plan is the baseline itself"));
    waitForWork();
    QCOMPARE(runs().all().size(), std::size_t(3));
  }

  void changedExternalDataIsAChangedModel() {
    writeWeights(1);
    test::writeModel(m_model, R"(<ir_version: 8, opset_import: ["" : 18]>
        g (float[4] x) => (float[4] y) <float[4] w = ["location": "w.bin"]> { [add] y = Add (x, w) })");
    open({});
    build();
    const std::string id = runs().shown()->id;
    QVERIFY(runs().ofThisPlan(*runs().shown()));
    QTest::qWait(25);  // the clock of files advances in steps of some milliseconds
    writeWeights(2);
    // What would be built is not what is shown.
    m_window->controller().build();
    waitForWork();
    const Run failed = runs().all().back();
    QCOMPARE(failed.state, RunState::Failed);
    QVERIFY2(failed.problem.find("w.bin") != std::string::npos, failed.problem.c_str());
    QVERIFY2(failed.problem.find("Read the model again") != std::string::npos, failed.problem.c_str());
    QCOMPARE(runs().shown()->id, id);
    QTRY_VERIFY(m_window->messages().button("changed", "Reload") != nullptr);
    QVERIFY2(m_window->messages().textOf("changed").contains("w.bin"),
             qPrintable(m_window->messages().textOf("changed")));
    QTest::mouseClick(m_window->messages().button("changed", "Reload"), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().opening());
    QVERIFY(!runs().ofThisPlan(*runs().find(id)));  // it is of the weights that were
    build();
    QVERIFY(runs().ofThisPlan(*runs().shown()));
    // A session that is opened again knows it too.
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    const std::string identity = m_window->document().modelFile().identity();
    m_window = makeWindow();
    m_window->session().open(file);
    QTRY_VERIFY(!runs().all().empty());
    QCOMPARE(m_window->document().modelFile().identity(), identity);
    QVERIFY(runs().ofThisPlan(*runs().shown()));
    QVERIFY(!runs().ofThisPlan(*runs().find(id)));
  }

  void anEngineGoesWithItsRunOnceThatIsSaved() {
    open({});
    build();
    build();
    const QString first = engineOf("1"), second = engineOf("2"), own = m_folder->filePath("own.fse");
    QVERIFY(QFile::copy(first, own));
    m_window->controller().addEngines({own});
    QTRY_COMPARE(runs().all().size(), std::size_t(3));
    waitForWork();
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    QTRY_VERIFY(m_window->jobs().idle());
    runs().remove("1");
    runs().remove("3");
    QTRY_VERIFY(QFile::exists(keptFile()));
    QTRY_VERIFY(m_window->jobs().idle());
    QVERIFY(QFile::exists(first));  // the file of the user's still has the run
    QVERIFY(m_window->session().save(file).ok());
    QTRY_VERIFY(!QFile::exists(first));
    QTRY_VERIFY(m_window->jobs().idle());
    QVERIFY(QFile::exists(second));
    QVERIFY(QFile::exists(own));
  }

  void whatNoSessionRefersToIsCollectedAtTheStart() {
    open({});
    build();
    const QString wanted = engineOf("1"), file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    QVERIFY(m_window->close());
    m_window.reset();
    // What others left: one that is gone, one that a window has, and what is nobody's business.
    const QString gone = makeEngine("gone", "run-1.fse"), half = makeEngine("gone", "run-2.fse.a1B2c3");
    const QString held = makeEngine("held", "run-1.fse"), mine = makeEngine("other", "mine.fse");
    const QString next = makeEngine("other", "run-1.fse"), writing = keptFolder() + "/gone.fsession.a1B2c3";
    const QString orphan = makeEngine(QFileInfo(wanted).dir().dirName(), "run-9.fse");
    QVERIFY(writeFileAtomically(writing.toStdString(), "{").ok());
    QLockFile lock(keptFolder() + "/held.lock");
    QVERIFY(lock.tryLock(0));
    m_window = makeWindow();
    QTRY_VERIFY(!QFile::exists(gone) && !QFile::exists(half) && !QFile::exists(next) && !QFile::exists(orphan));
    QTRY_VERIFY(m_window->jobs().idle());
    QVERIFY(!QFileInfo::exists(QFileInfo(gone).path()));
    QVERIFY(!QFile::exists(writing));
    for (const QString& kept : {wanted, held, mine, file}) QVERIFY2(QFile::exists(kept), qPrintable(kept));
    // When the user's file goes, the engine does.
    QVERIFY(QFile::remove(file));
    m_window = makeWindow();
    QTRY_VERIFY(!QFile::exists(wanted));
  }

  void aSessionThatIsOpenElsewhereIsACopy() {
    open({});
    build();
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    const auto second = makeWindow();
    second->session().open(file);
    QTRY_VERIFY(!second->runs().all().empty());
    QVERIFY2(second->messages().textOf("elsewhere").contains("another window"),
             qPrintable(second->messages().textOf("elsewhere")));
    QVERIFY(second->session().session().id != m_window->session().session().id);
    QCOMPARE(second->session().path(), QString());
    second->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!second->controller().busy(), kBuildMs);
    build();
    const QString here = engineOf("2"), there = qs(second->runs().shown()->enginePath);
    QVERIFY(here != there && QFile::exists(here) && QFile::exists(there));
  }

  void aBarHasTheColourOfWhatItSays() {
    TableModel model;
    model.setContent({{"Difference"},
                      {},
                      {{QString(), {{.bar = 1.0, .tone = Tone::Good}}},
                       {QString(), {{.bar = 1.0, .tone = Tone::Bad}}},
                       {QString(), {{.bar = 1.0, .tone = Tone::Plain}}}}});
    const Theme& theme = Theme::dark();
    QTableView view;
    const CellDelegate delegate([&theme]() -> const Theme& { return theme; }, {}, nullptr);
    const auto colorOf = [&](int row) {
      QImage image(100, 24, QImage::Format_RGB32);
      image.fill(theme.base);
      QPainter painter(&image);
      QStyleOptionViewItem option;
      option.initFrom(&view);
      option.widget = &view;
      option.rect = image.rect();
      delegate.paint(&painter, option, model.index(row, 0));
      return image.pixelColor(50, 21);
    };
    QCOMPARE(colorOf(0), theme.success);
    QCOMPARE(colorOf(1), theme.error);
    QCOMPARE(colorOf(2), heatColor(1, theme));
  }

  void namesAreToldApartWhereTheyAreCut() {
    open({});
    for (const char* layer : {"layer.3", "layer.12", "layer.4"}) {
      Run run;
      run.name = std::string("everything before the attention of ") + layer + " in f16, and what is behind it in f32";
      run.state = RunState::Ready;
      runs().add(run);
    }
    m_window->showDock("Runs");
    QTableView& table = m_window->dock<RunsDock>().table();
    auto* delegate = static_cast<CellDelegate*>(table.itemDelegate());
    QCOMPARE(table.model()->rowCount(), 3);
    for (const int width : {150, 190, 260, 400, 2000}) {
      QStringList shown;
      for (int row = 0; row < 3; ++row) {
        const QModelIndex index = table.model()->index(row, 1);
        QStyleOptionViewItem option;
        option.initFrom(&table);
        option.widget = &table;
        option.rect = QRect(0, 0, width, 24);
        shown << delegate->shownText(option, index);
        const QString whole = index.data().toString(), layer = whole.section(' ', 7, 7);
        QVERIFY2(layer.startsWith("layer."), qPrintable(whole));
        QVERIFY2(shown.last().contains(layer), qPrintable(QString("%1: %2").arg(width).arg(shown.last())));
        QVERIFY(option.fontMetrics.horizontalAdvance(shown.last()) <= width);
        QCOMPARE(index.data(Qt::ToolTipRole).toString(), whole);
        QCOMPARE(shown.last() == whole, width == 2000);
        QVERIFY2(width < 190 || shown.last().startsWith("run"), qPrintable(shown.last()));
      }
      QCOMPARE(QSet<QString>(shown.begin(), shown.end()).size(), 3);
    }
  }

  void whatTellsNamesApartStays() {
    const QFontMetrics font(QApplication::font());
    const auto shown = [&](const QString& name, const QString& twin, int letters) {
      return elidedApart(name, twin, font, font.averageCharWidth() * letters);
    };
    const QString name = "the first of many words, then 17, then all the others";
    QCOMPARE(shown(name, "anything", 200), name);
    QCOMPARE(shown(name, QString(), 20), font.elidedText(name, Qt::ElideMiddle, font.averageCharWidth() * 20));
    QVERIFY(!font.elidedText(name, Qt::ElideMiddle, font.averageCharWidth() * 20).contains("17"));
    QVERIFY(shown(name, QString(name).replace("17", "18"), 20).contains("17"));
    QVERIFY(shown(name, QString(name).replace("then 17, ", ""), 20).contains("17"));
    const auto twins = twinsOf({"a/conv_1/x", "b", "a/conv_2/x", "a/conv_1/x"});
    QVERIFY(twins[0] == "a/conv_2/x" && twins[2] == "a/conv_1/x" && twins[3] == "a/conv_2/x");
    QVERIFY(twins[1].starts_with("a/conv_"));
    QVERIFY(twinsOf({"x/a_1/last", "y", "x/a_1/first", "z/a_1/last"})[0] == "z/a_1/last");  // they end alike
    QVERIFY(twinsOf({"a"})[0].empty() && twinsOf({}).empty());
    for (int letters = 1; letters < 60; ++letters)
      QVERIFY(font.horizontalAdvance(shown(name, QString(name).replace("17", "18"), letters)) <=
              std::max(font.averageCharWidth() * letters, 2 * font.horizontalAdvance(QChar(0x2026))));
  }

 private:
  QString keptFolder() const { return m_folder->kept(); }
  QString keptFile() { return keptFolder() + "/" + qs(m_window->session().session().id) + ".fsession"; }
  std::unique_ptr<MainWindow> makeWindow() const { return m_folder->makeWindow(); }
  Runs& runs() { return m_window->runs(); }
  QString details() { return m_window->dock<RunsDock>().details(); }
  /// In the dock's line about what is under way.
  bool says(const QString& words) {
    m_window->dock<RunsDock>().buildButton();  // as fresh as what is on screen
    for (const QLabel* label : m_window->dock<RunsDock>().findChildren<QLabel*>())
      if (label->text().contains(words)) return true;
    return false;
  }
  QString engineOf(const std::string& id) { return qs(runs().find(id)->enginePath); }
  QString makeEngine(const QString& id, const QString& name) {
    QDir().mkpath(keptFolder() + "/" + id);
    const QString path = keptFolder() + "/" + id + "/" + name;
    if (!writeFileAtomically(path.toStdString(), "not read").ok()) qFatal("%s cannot be written", qPrintable(path));
    return path;
  }
  void writeWeights(float value) {
    const std::vector<float> weights(4, value);
    const auto path = m_folder->filePath("w.bin").toStdString();
    QVERIFY(writeFileAtomically(path, std::as_bytes(std::span(weights))).ok());
  }
  void open(const PlanOptions& options) {
    m_window->session().open(m_model, options);
    QTRY_VERIFY(m_window->document().snapshot());
  }
  void waitForWork() { QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs); }
  void build() {
    m_window->controller().build();
    waitForWork();
    QVERIFY2(runs().shown()->state == RunState::Ready, runs().shown()->problem.c_str());
  }
  void evaluate() {
    m_window->controller().evaluate();
    waitForWork();
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
  }

  std::unique_ptr<test::SessionFolder> m_folder;
  QString m_model;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(RunsTest, 13)
#include "runs_test.moc"
