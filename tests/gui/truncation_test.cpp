// The dialog for types that a target lacks, and what a compiler of engines does beside it.
#include <QtTest>

#include "planning/read_back/compiled_engines.h"
#include "tests/gui/gui_support.h"
#include "ui/dialogs/truncation_dialog.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope {
namespace {

const QString kSample = QStringLiteral("long_double");

/// Nodes of floats and integers in no engine; those of doubles behind the first in one for TensorRT for RTX.
std::shared_ptr<const ReadBackPlan> engineOfDoubles(const std::shared_ptr<const Plan>& plan) {
  const Graph& graph = plan->graph();
  ReadBack told{.compiler = {.name = "divider", .version = "1.2", .environment = "python3"}};
  told.compiler.options[kEnginesFor] = "tensorrt-rtx";
  ReadBackKernel engine{.name = "engine_1", .kind = "engine", .region = "engine_1"};
  for (const NodeId node : graph.order()) {
    const std::string& name = graph.node(node).name;
    const bool isInEngine = name == "node_mul" || name == "node_add_1" || name == "node_sum_1" || name == "node_gt";
    if (isInEngine)
      engine.nodes.emplace_back(node, Certainty::Named);
    else
      told.kernels.push_back({.name = name, .kind = "operator", .nodes = {{node, Certainty::Named}}});
  }
  told.kernels.push_back(std::move(engine));
  auto made = readBackPlan(plan, told);
  if (!made.ok()) qFatal("%s", made.error().text().c_str());
  return made.value();
}

/// What the row of a value says of one side; empty: there is no such row.
QString saidOf(const TruncationDialog& dialog, const QString& value, int column) {
  for (const TableRow& row : dialog.beside().content().rows)
    if (row.name == value) return row.cells[std::size_t(column)].text;
  return {};
}

constexpr int kTheirs = 3, kOurs = 4;

}  // namespace

class TruncationTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = {1200, 900}});
    QVERIFY(test::openSample(*m_window, kSample));
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void itAsksForModesAloneWhereNoEnginesAreOnScreen() {
    setTarget("tensorrt-10");
    TruncationDialog* dialog = opened();
    QVERIFY(dialog != nullptr);
    QVERIFY(!dialog->besideView().isVisible());
    dialog->constants().setCurrentIndex(static_cast<int>(TruncateMode::All));
    dialog->accept();
    const TruncateModes modes = truncationOf(m_window->document().directives());
    QVERIFY((modes == TruncateModes{TruncateMode::Long, TruncateMode::All}));
  }

  void aCompilerOfEnginesStandsBesideOurs() {
    setTarget("torch");
    QVERIFY2(!m_window->truncationRefusal().isEmpty(), "torch has all types");
    m_window->document().showMade(engineOfDoubles(m_window->document().snapshot()->plan));
    QTRY_VERIFY(m_window->document().snapshot()->made() != nullptr);
    QCOMPARE(m_window->truncationRefusal(), QString());
    TruncationDialog* dialog = opened();
    QVERIFY(dialog != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(dialog->beside().rowCount() > 0, test::kPatienceMs);
    QVERIFY(dialog->besideView().isVisible());
    QCOMPARE(dialog->beside().content().headers[kTheirs], QStringLiteral("divider 1.2"));
    QCOMPARE(dialog->beside().content().headers[kOurs], QStringLiteral("fusescope for tensorrt-rtx"));
    QCOMPARE(saidOf(*dialog, "d", kTheirs), QStringLiteral("f64 in engine_1, which its target lacks"));
    QVERIFY2(saidOf(*dialog, "d", kOurs).contains("(fallback)"), qPrintable(saidOf(*dialog, "d", kOurs)));
    QVERIFY2(saidOf(*dialog, "scale", kOurs).contains("stays f64"), qPrintable(saidOf(*dialog, "scale", kOurs)));
    dialog->inputs().setCurrentIndex(static_cast<int>(TruncateMode::Double));
    dialog->constants().setCurrentIndex(static_cast<int>(TruncateMode::Double));
    QTRY_COMPARE_WITH_TIMEOUT(saidOf(*dialog, "d", kOurs), QStringLiteral("cast to f32 before segment_0"),
                              test::kPatienceMs);
    QVERIFY2(saidOf(*dialog, "scale", kOurs).startsWith("stored as f32"), qPrintable(saidOf(*dialog, "scale", kOurs)));
    dialog->reject();
    QVERIFY2(m_window->document().directives().empty(), "modes are only looked at until they are accepted");
  }

  void itFitsASmallScreen() {
    setTarget("torch");
    m_window->document().showMade(engineOfDoubles(m_window->document().snapshot()->plan));
    QTRY_VERIFY(m_window->document().snapshot()->made() != nullptr);
    TruncationDialog* dialog = opened();
    QVERIFY(dialog != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(dialog->beside().rowCount() > 0, test::kPatienceMs);
    QVERIFY2(dialog->width() <= 960 && dialog->height() <= 500,
             qPrintable(QString("%1x%2").arg(dialog->width()).arg(dialog->height())));
  }

 private:
  void setTarget(const char* target) {
    m_window->document().setTarget(target);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().planning(), test::kPatienceMs);
  }
  TruncationDialog* opened() {
    m_window->openTruncationDialog();
    return m_window->findChild<TruncationDialog*>();
  }

  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::TruncationTest, 3)
#include "truncation_test.moc"
