#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/gui/gui_support.h"
#include "ui/docks/tensor_dock.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

const Theme& darkTheme() {
  return Theme::dark();
}

std::shared_ptr<const TensorSlice> sliceOfRow(const std::vector<float>& row) {
  const Tensor tensor = Tensor::copyOf<float>(DataType::F32, {1, static_cast<std::int64_t>(row.size())}, row);
  return std::make_shared<TensorSlice>(sliceOf(tensor, usualSlice(tensor.dims()), 64, 64).value());
}

}  // namespace

/// The dock of tensors: weights at once, what nodes make from a run, slices that mouse and keys point into.
class TensorTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900), .sessions = m_sessions.path()});
    m_window->showDock("Tensor");
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void aWeightIsShownWithoutARun() {
    QVERIFY(dock().hint().startsWith("Open a model"));
    openOverflow();
    QTRY_VERIFY2(dock().hint().startsWith("Select a node"), qPrintable(dock().hint()));
    select("node_linear_1");
    QTRY_VERIFY(dock().view(0).slice() != nullptr && dock().hint().isEmpty());
    QVERIFY2(dock().tensors().currentText().startsWith("weight"), qPrintable(dock().tensors().currentText()));
    QVERIFY(!dock().fetchButton().isVisible());
    QVERIFY2(dock().statistics().contains("rms"), qPrintable(dock().statistics()));
    QVERIFY2(dock().statistics().contains("infinite in f16"), qPrintable(dock().statistics()));
    QVERIFY(!dock().histogram().value().isEmpty());
    QVERIFY(!dock().view(1).isVisible());
    // The mouse points at an element, arrow keys go on from there.
    SliceView& view = dock().view(0);
    QMouseEvent moved(QEvent::MouseMove, view.placeOf({2, 1}).center(), Qt::NoButton, {}, {});
    QCoreApplication::sendEvent(&view, &moved);
    QVERIFY2(dock().element().startsWith("[1, 2]"), qPrintable(dock().element()));
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Right);
    QVERIFY2(dock().element().startsWith("[1, 3]"), qPrintable(dock().element()));
    QVERIFY2(view.accessibleDescription().contains("row 1, column 3"), qPrintable(view.accessibleDescription()));
  }

  void aValueIsShownAsBothRunsMakeIt() {
    openOverflow();
    lower();
    select("node_relu_1");
    choose("relu_1");
    QTRY_VERIFY2(dock().hint().contains("Run for its values"), qPrintable(dock().hint()));
    QVERIFY2(dock().fetchButton().isEnabled(), qPrintable(dock().fetchButton().toolTip()));
    QTest::mouseClick(&dock().fetchButton(), Qt::LeftButton);
    QTRY_VERIFY2(dock().hint().isEmpty() && dock().view(2).slice() != nullptr, qPrintable(dock().hint()));
    QVERIFY2(dock().statistics().contains("this plan, f16"), qPrintable(dock().statistics()));
    QVERIFY2(dock().statistics().contains("max|Δ| is"), qPrintable(dock().statistics()));
    QVERIFY2(dock().view(1).marked() > 0, "the plan has infinities");
    QVERIFY2(dock().view(0).marked() > 0, "they are numbers in float32 that f16 does not hold");
    const std::size_t overflowing = dock().view(0).marked();
    dock().mark().setCurrentIndex(0);
    emit dock().mark().activated(0);
    QVERIFY2(dock().view(0).marked() < overflowing, "nothing but what is no number is marked now");
    QTest::mouseClick(&dock().largestButton(), Qt::LeftButton);
    QTRY_VERIFY2(dock().element().contains("difference"), qPrintable(dock().element()));
    QVERIFY2(!QDir(m_window->controller().engineFolder()).exists("value.npz"), "what was read is deleted");
    QVERIFY2(m_window->runs().all().empty(), "no run comes of it");
    // Values of another plan are not shown as those of this one.
    m_window->document().pin({"node_linear_1"}, DataType::F32, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    QTRY_VERIFY2(dock().hint().contains("Run for its values"), qPrintable(dock().hint()));
  }

  void whatCannotBeFetchedSaysWhy() {
    openOverflow();
    lower();
    select("node_relu_1");
    choose("relu_1");
    dock().sample().setValue(7);
    QTest::mouseClick(&dock().fetchButton(), Qt::LeftButton);
    QTRY_VERIFY2(dock().hint().contains("there is no sample 7"), qPrintable(dock().hint()));
  }

  void valuesInBodiesAreSaidNotToBeKept() {
    const QString path = m_sessions.filePath("bodies.onnx");
    test::writeModel(path, test::kNestedBodies);
    m_window->document().open(path);
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    const auto snapshot = m_window->document().snapshot();
    const auto levels = snapshot->levels();
    QVERIFY(levels.size() > 1);
    const Graph& inner = levels[1].snapshot->graph();
    const std::string node = inner.node(inner.order().front()).name;
    m_window->selection().set({levels[1].holder}, nullptr, levels[1].path.of(node));
    QTRY_VERIFY(dock().tensors().count() > 0);
    const int made = dock().tensors().findText("output", Qt::MatchStartsWith);
    QVERIFY(made >= 0);
    dock().tensors().setCurrentIndex(made);
    emit dock().tensors().activated(made);
    QVERIFY2(dock().hint().contains("in a body"), qPrintable(dock().hint()));
    QVERIFY(!dock().fetchButton().isEnabled());
  }

  void twoAxesAreNeverTheSame() {
    SliceChooser chooser;
    chooser.setDims({2, 3, 4});
    QCOMPARE(chooser.choice().rows, 1);
    QCOMPARE(chooser.choice().columns, 2);
    QSignalSpy changed(&chooser, &SliceChooser::changed);
    chooser.rows().setCurrentIndex(2);
    emit chooser.rows().activated(2);
    QCOMPARE(chooser.choice().rows, 2);
    QCOMPARE(chooser.choice().columns, 1);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(chooser.index(0).maximum(), 1);
    chooser.index(0).setValue(1);
    QCOMPARE(changed.count(), 2);
    QCOMPARE(chooser.choice().at[0], std::int64_t{1});
    QVERIFY(chooser.index(1).isHidden() && !chooser.index(0).isHidden());
    chooser.setDims({5});
    QVERIFY(chooser.rows().isHidden());
  }

  void numbersHaveTheirColours() {
    SliceView view(darkTheme);
    view.resize(300, 200);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    view.setSlice("row", sliceOfRow({-1, 0, 1, nan, 70000}), 1, DataType::F16);
    QCOMPARE(view.marked(), std::size_t{2});
    QCOMPARE(view.colorOf(0), darkTheme().base);
    QVERIFY(view.colorOf(-1).blue() > view.colorOf(-1).red() && view.colorOf(1).red() > view.colorOf(1).blue());
    QCOMPARE(view.colorOf(nan), darkTheme().error);
    QCOMPARE(view.colorOf(70000), darkTheme().warning);
    const QImage drawn = view.grab().toImage();
    const QPoint left = view.placeOf({0, 0}).center().toPoint();
    QCOMPARE(drawn.pixelColor(left), view.colorOf(-1));
    view.setSlice("row", sliceOfRow({-1, 0, 1, nan, 70000}), 1, DataType::Undefined);
    QCOMPARE(view.marked(), std::size_t{1});
  }

 private:
  TensorDock& dock() { return m_window->dock<TensorDock>(); }
  void openOverflow() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->showDock("Tensor");
    m_window->setInputs({.paths = {FUSESCOPE_SOURCE_DIR "/resources/samples/fp16_overflow/io.npz"}});
  }
  void lower() {
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
  }
  void select(const char* node) {
    m_window->selection().set({*m_window->document().snapshot()->graph().findNode(node)});
    QTRY_VERIFY(dock().tensors().count() > 0);
  }
  /// As a user does in the list.
  void choose(const QString& value) {
    const int index = dock().tensors().findText(value + "  ·", Qt::MatchContains);
    QVERIFY2(index >= 0, qPrintable(value));
    dock().tensors().setCurrentIndex(index);
    emit dock().tensors().activated(index);
  }

  QTemporaryDir m_sessions;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(TensorTest, 6)
#include "tensor_test.moc"
