#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>
#include <algorithm>

#include "base/files.h"
#include "interchange/npz.h"
#include "planning/plan_json.h"
#include "tests/gui/gui_support.h"
#include "ui/dialogs/diff_dialog.h"
#include "ui/docks/validation_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000;
constexpr int kSamplesTab = 6, kDifferencesTab = 7;

}  // namespace

/// What the Validation dock says besides decisions: pass or fail sample by sample, and what differs from a file.
class ValidationTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "digits"));
    m_window->showDock("Validation");
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void saysWhichSamplesFailAndByHowMuch() {
    RunSettings settings = runs().settings();
    settings.inputs = {.paths = {images(5).toStdString()}, .batchAxis = 0};
    runs().setSettings(settings);
    m_window->document().setPrecisions({DataType::BF16});
    QTRY_VERIFY(!m_window->document().planning());
    for (const char* action : {"build", "evaluate"}) {
      m_window->actions().find(action)->trigger();
      QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
      QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    }
    // A tolerance between the best and the worst of the samples.
    std::vector<double> errors;
    for (const SampleErrors& sample : runs().evaluation(*runs().shown())->samples)
      errors.push_back(sample.outputs.front().maxOverRms);
    QCOMPARE(errors.size(), std::size_t(5));
    std::ranges::sort(errors);
    QVERIFY2(errors[2] < errors[3], "the samples are too much alike");
    settings.tolerance = {.rms = (errors[2] + errors[3]) / 2};
    runs().setSettings(settings);
    QVERIFY2(dock().summary().contains("fails on 2 of 5 samples: scores is"), qPrintable(dock().summary()));
    QVERIFY2(dock().summary().contains("images.npz, cut along axis 0"), qPrintable(dock().summary()));
    chooseTab(kSamplesTab);
    QVERIFY(dock().tabs().tabText(kSamplesTab).endsWith("5"));
    TableModel& samples = dock().samplesModel();
    QCOMPARE(samples.rowCount(), 5);
    for (int row = 0; row < 5; ++row) {
      const QString words = row < 2 ? QStringLiteral("✗ fail") : QStringLiteral("✓ pass");
      QCOMPARE(samples.index(row, 1).data().toString(), words);
    }
    QCOMPARE(samples.index(0, 0).data().toString(), qs(runs().verdict(*runs().shown()).sample));
    QVERIFY(samples.index(0, 3).data(kSortRole).toDouble() > samples.index(4, 3).data(kSortRole).toDouble());
    // A click goes to what makes the output.
    clickRow(samples, 0);
    QCOMPARE(m_window->selection().nodes().size(), std::size_t(1));
    const NodeId node = m_window->selection().nodes().front();
    const Graph& graph = m_window->document().snapshot()->graph();
    QCOMPARE(graph.value(graph.node(node).outputs.front()).name, std::string("scores"));
    settings.tolerance = {.rms = 2 * errors.back()};
    runs().setSettings(settings);
    QVERIFY2(dock().summary().contains("passes on 5 samples"), qPrintable(dock().summary()));
    m_window->document().setPrecisions({});
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY2(dock().summary().contains("another plan than the one on screen"), qPrintable(dock().summary()));
  }

  void comparesThePlanWithAFileAndFollowsIt() {
    const QString file = m_folder->filePath("half.json");
    const auto half = test::planSample("digits", {.precisions = {DataType::F16}});
    QVERIFY(writeFileAtomically(file.toStdString(), toJson(*half->plan).dump()).ok());
    DiffDialog& dialog = open();
    QVERIFY(!dialog.okButton().isEnabled());
    dialog.file().setText(m_folder->filePath("nothing.json"));
    QVERIFY2(dialog.said().contains("no such file") && !dialog.okButton().isEnabled(), qPrintable(dialog.said()));
    dialog.file().clear();
    QTest::keyClicks(&dialog.file(), file);
    QVERIFY(dialog.okButton().isEnabled() && !dialog.usedOptions().isEnabled());  // it has its own
    QTest::mouseClick(&dialog.okButton(), Qt::LeftButton);
    QTRY_VERIFY2(m_window->fileDiff().compared() != nullptr, qPrintable(m_window->fileDiff().problem()));
    QCOMPARE(dock().tabs().currentIndex(), kDifferencesTab);
    QVERIFY2(dock().summary().contains("Against half.json") && dock().summary().contains("retyped"),
             qPrintable(dock().summary()));
    TableModel& differences = dock().differencesModel();
    int types = -1;
    for (int row = 0; row < differences.rowCount(); ++row)
      if (differences.index(row, 0).data().toString().startsWith("type of")) types = row;
    QVERIFY(types >= 0);
    QCOMPARE(differences.index(types, 2).data().toString(), QStringLiteral("f16"));
    QCOMPARE(differences.index(types, 3).data().toString(), QStringLiteral("f32"));
    QCOMPARE(differences.index(types, 4).data().toString(), QStringLiteral("precision f16 → f32"));
    for (int row = 0; row < differences.rowCount(); ++row)
      for (int column = 0; column < differences.columnCount(); ++column)
        QVERIFY2(!differences.index(row, column).data().toString().contains("--"),
                 qPrintable(differences.index(row, column).data().toString()));
    clickRow(differences, types);
    QVERIFY(!m_window->selection().nodes().empty());
    // The plan on screen becomes what is in the file, and another again.
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    QTRY_VERIFY(m_window->fileDiff().compared() != nullptr && !m_window->fileDiff().busy() &&
                m_window->fileDiff().compared()->screen == m_window->document().snapshot());
    QVERIFY2(dock().summary().contains("the plans are the same"), qPrintable(dock().summary()));
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    QTRY_VERIFY(m_window->fileDiff().compared() != nullptr && !m_window->fileDiff().compared()->diff.same());
    emit dock().findChild<QLabel*>()->linkActivated("do:close");
    QVERIFY(m_window->fileDiff().path().isEmpty() && !dock().summary().contains("Against"));
    QCOMPARE(differences.rowCount(), 0);
  }

  void aNetworkIsPlannedAsIsWished() {
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    DiffDialog& dialog = open();
    dialog.file().setText(test::samplePath("digits"));
    QVERIFY(dialog.okButton().isEnabled() && dialog.usedOptions().isEnabled());
    QTest::keyClick(&dialog.usedOptions(), Qt::Key_Down);
    QTest::keyClick(&dialog, Qt::Key_Return);
    QTRY_VERIFY(m_window->fileDiff().compared() != nullptr);
    QVERIFY2(dock().summary().contains("retyped"), qPrintable(dock().summary()));
    m_window->fileDiff().compare(test::samplePath("digits"), FileDiff::UsedOptions::OfScreen);
    QTRY_VERIFY(m_window->fileDiff().compared() != nullptr);
    QVERIFY2(dock().summary().contains("the plans are the same"), qPrintable(dock().summary()));
    m_window->fileDiff().compare(m_folder->filePath("gone.onnx"), FileDiff::UsedOptions::OfScreen);
    QTRY_VERIFY(!m_window->fileDiff().busy());
    QVERIFY2(dock().summary().contains("✗") && dock().summary().contains("gone.onnx"), qPrintable(dock().summary()));
    QVERIFY2(labelsSay("The file cannot be compared: ") && !labelsSay("Only times differ"), "the hint says why");
  }

  void whatIsReadHasRoom() {
    QTabBar& tabs = dock().tabs();
    QTRY_VERIFY(!tabs.visibleRegion().isEmpty());
    QVERIFY2(tabs.tabRect(tabs.count() - 1).right() < tabs.width(), "at 1440x900 no tab is cut");
    QTabBar narrow;
    for (int tab = 0; tab < tabs.count(); ++tab) narrow.addTab(tabs.tabText(tab));
    narrow.resize(300, tabs.height());
    narrow.show();
    for (const QToolButton* arrow : narrow.findChildren<QToolButton*>())
      QVERIFY2(arrow->isVisible() && arrow->width() >= 20, qPrintable(QString::number(arrow->width())));
    m_window->document().pin({nodeName()}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    const QTableView& answers = viewOf(dock().model());
    constexpr int kWhy = 2, kCode = 3;
    QVERIFY(answers.columnWidth(kWhy) > 2 * answers.columnWidth(kCode));
    QTRY_VERIFY2(answers.rowHeight(0) > answers.verticalHeader()->defaultSectionSize(), "a long answer goes on below");
    const QTableView& differences = viewOf(dock().differencesModel());
    QVERIFY(differences.columnWidth(0) >= differences.fontMetrics().horizontalAdvance("type of fused node") + 12);
  }

 private:
  Runs& runs() { return m_window->runs(); }
  ValidationDock& dock() { return m_window->dock<ValidationDock>(); }
  DiffDialog& open() {
    m_window->actions().find("compare_file")->trigger();
    auto* dialog = m_window->findChild<DiffDialog*>();
    if (dialog == nullptr) qFatal("the dialog does not open");
    return *dialog;
  }
  bool labelsSay(const QString& words) {
    const QList<QLabel*> labels = dock().findChildren<QLabel*>();
    return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text().contains(words); });
  }
  std::string nodeName() {
    const Graph& graph = m_window->document().snapshot()->graph();
    return graph.node(graph.order().front()).name;
  }
  const QTableView& viewOf(const QAbstractItemModel& model) {
    for (QTableView* view : dock().findChildren<QTableView*>())
      if (view->model() == &model) return *view;
    qFatal("there is no view of it");
  }
  void chooseTab(int tab) {
    m_window->showDock("Validation");
    QTRY_VERIFY(!dock().tabs().visibleRegion().isEmpty());
    dock().tabs().setCurrentIndex(tab);
  }
  void clickRow(TableModel& model, int row) {
    m_window->showDock("Validation");
    for (QTableView* view : dock().findChildren<QTableView*>()) {
      if (view->model() != &model) continue;
      QTRY_VERIFY(!view->viewport()->visibleRegion().isEmpty());
      view->scrollTo(model.index(row, 0));
      QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(model.index(row, 0)).center());
    }
  }
  /// So many pictures of the held-out ones, in one file.
  QString images(std::int64_t count) {
    const auto held = readNpz(FUSESCOPE_SOURCE_DIR "/resources/samples/digits/held_out.npz");
    if (!held.ok()) qFatal("%s", held.error().text().c_str());
    Tensor some = Tensor::zeros(DataType::F32, {count, 1, 8, 8});
    std::copy_n(held.value().at("image").data<float>().data(), count * 64, some.mutableData<float>().data());
    const QString path = m_folder->filePath("images.npz");
    if (!writeNpz(path.toStdString(), {{"image", some}}).ok()) qFatal("%s is not written", qPrintable(path));
    return path;
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(ValidationTest, 4)
#include "validation_test.moc"
