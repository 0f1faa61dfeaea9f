#include <QAccessible>
#include <QFile>
#include <QImage>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "tests/gui/sample_canvas.h"
#include "ui/canvas/color_mode.h"

namespace fusescope {

/// The canvas as a person uses it, on squeezenet1_1.
class CanvasTest : public test::SampleCanvas {
  Q_OBJECT

 private slots:
  void showsEveryFusedNodeOnce() {
    const int pills = int(m_plan->graph().inputs().size() + m_plan->graph().outputs().size());
    QCOMPARE(m_view->boxCount(), int(m_plan->fusedNodes.size()) + pills);
    for (const FusedNode& fused : m_plan->fusedNodes) {
      QVERIFY2(!m_view->itemRect(QString::fromStdString(fused.name)).isEmpty(), fused.name.c_str());
    }
  }

  void doubleClickOpensAndClosesInPlace() {
    const int closed = m_view->boxCount();
    m_view->select({m_fused});
    const QPoint at = m_view->itemRect(m_fused).center();
    QCOMPARE(m_view->nameAt(at), m_fused);
    QSignalSpy finished(m_view.get(), &GraphView::layoutFinished);
    QTest::mouseDClick(m_view.get(), Qt::LeftButton, {}, at);
    QVERIFY(m_view->waitForLayout(20000));
    QCOMPARE(finished.count(), 1);
    QVERIFY(m_view->isOpen(m_fused));
    QCOMPARE(m_view->boxCount(), closed + 1);
    const QRect container = m_view->itemRect(m_fused);
    for (const NodeId node : m_plan->findFusedNode(m_fused.toStdString())->nodes) {
      const QString name = QString::fromStdString(m_plan->graph().node(node).name);
      QVERIFY2(container.contains(m_view->itemRect(name)), qPrintable(name));
    }
    m_view->collapse(m_fused);
    QVERIFY(m_view->waitForLayout(20000));
    QCOMPARE(m_view->boxCount(), closed);
  }

  void altDoubleClickOpensAndClosesAllInside() {
    const int closed = m_view->boxCount();
    const auto onTheSegment = [&](Qt::KeyboardModifiers with) {
      m_view->fit();
      const QRect segment = m_view->itemRect("segment_0");
      QTest::mouseDClick(m_view.get(), Qt::LeftButton, with, QPoint(segment.left() + 4, segment.bottom() - 4));
      if (!m_view->waitForLayout(20000)) qFatal("no layout");
    };
    onTheSegment(Qt::AltModifier);
    const int pills = int(m_plan->graph().inputs().size() + m_plan->graph().outputs().size());
    QCOMPARE(m_view->boxCount(), int(m_plan->graph().nodeCount()) + pills);
    onTheSegment(Qt::AltModifier);
    QCOMPARE(m_view->boxCount(), closed);
    onTheSegment({});
    QVERIFY(!m_view->isOpen("segment_0"));
    QVERIFY(!m_view->isOpen(m_fused));
    QVERIFY(m_view->boxCount() < closed);
    onTheSegment({});
    QVERIFY(m_view->isOpen("segment_0"));
    QCOMPARE(m_view->boxCount(), closed);
  }

  void whatIsOpenIsKnownByKind() {
    for (const ContainerKind* known : containerKinds()) {
      const ContainerKind& kind = *known;
      OpenState state;
      QCOMPARE(state.isOpen(kind, "x"), kind.openAtFirst);
      state.set(kind, "x", !kind.openAtFirst);
      QCOMPARE(state.isOpen(kind, "x"), !kind.openAtFirst);
      QCOMPARE(state.turned(kind), QSet<QString>{"x"});
      QCOMPARE(state.isOpen(kind, "y"), kind.openAtFirst);
      for (const ContainerKind* other : containerKinds())
        if (other != known) QCOMPARE(state.isOpen(*other, "x"), other->openAtFirst);
      state.set(kind, "x", kind.openAtFirst);
      QVERIFY(state == OpenState());
    }
  }

  void whatIsOpenedKeepsItsPlaceOnTheScreen() {
    m_view->select({m_fused});
    const QRect before = m_view->itemRect(m_fused);
    m_view->expand(m_fused);
    QVERIFY(m_view->waitForLayout(20000));
    const QRect after = m_view->itemRect(m_fused);
    QVERIFY(qAbs(after.top() - before.top()) <= 2);
    QVERIFY(qAbs(after.center().x() - before.center().x()) <= 2);
  }

  void clickSelectsAndShiftAdds() {
    QSignalSpy changed(m_view.get(), &GraphView::selectionChanged);
    const QString first = test::handle(m_plan->fusedNodes[0]), second = test::handle(m_plan->fusedNodes[1]);
    QTest::mouseClick(m_view.get(), Qt::LeftButton, {}, m_view->itemRect(first).center());
    QCOMPARE(m_view->selection(), QStringList{first});
    QTest::mouseClick(m_view.get(), Qt::LeftButton, Qt::ShiftModifier, m_view->itemRect(second).center());
    QCOMPARE(m_view->selection(), (QStringList{first, second}));
    QCOMPARE(changed.count(), 2);
    QTest::keyClick(m_view.get(), Qt::Key_Escape);
    QVERIFY(m_view->selection().isEmpty());
    QCOMPARE(changed.count(), 3);
  }

  void selectingANodeMarksTheBoxThatHoldsIt() {
    const NodeId inside = m_plan->findFusedNode(m_fused.toStdString())->nodes.back();
    const QString name = QString::fromStdString(m_plan->graph().node(inside).name);
    m_view->select({name});
    QCOMPARE(m_view->selection(), QStringList{name});
    QCOMPARE(m_view->itemRect(name), m_view->itemRect(m_fused));
  }

  void keysWalkOpenAndClose() {
    const QString first = test::handle(m_plan->fusedNodes[0]);
    m_view->select({first});
    m_view->setFocus();
    QTest::keyClick(m_view.get(), Qt::Key_Down);
    QCOMPARE(m_view->selection(), QStringList{test::handle(m_plan->fusedNodes[1])});
    QTest::keyClick(m_view.get(), Qt::Key_Up);
    QCOMPARE(m_view->selection(), QStringList{first});
    m_view->select({m_fused});
    QTest::keyClick(m_view.get(), Qt::Key_Right);
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->isOpen(m_fused));
    QTest::keyClick(m_view.get(), Qt::Key_Left);
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(!m_view->isOpen(m_fused));
  }

  void searchCountsAndSteps() {
    int pools = 0;
    for (const NodeId id : m_plan->graph().order()) pools += m_plan->graph().node(id).is("MaxPool");
    QCOMPARE(m_view->search("maxpool"), pools);
    QTest::keyClick(m_view.get(), Qt::Key_BracketRight);
    QCOMPARE(m_view->selection().size(), 1);
    const QString first = m_view->selection().first();
    QVERIFY(m_view->rect().contains(m_view->itemRect(first).center()));
    QTest::keyClick(m_view.get(), Qt::Key_BracketRight);
    QVERIFY(m_view->selection().first() != first);
    QTest::keyClick(m_view.get(), Qt::Key_BracketLeft);
    QCOMPARE(m_view->selection().first(), first);
    QCOMPARE(m_view->search("there is no such thing"), 0);
  }

  void zoomKeepsWhatIsUnderTheCursor() {
    const QPoint at(333, 222);
    const QString name = QString::fromStdString(m_plan->fusedNodes[0].name);
    const QPointF before = QPointF(m_view->itemRect(name).center() - at) / m_view->zoom();
    QWheelEvent wheel(at, m_view->mapToGlobal(at), {}, {0, 240}, Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase,
                      false);
    const double zoom = m_view->zoom();
    QCoreApplication::sendEvent(m_view.get(), &wheel);
    QVERIFY(m_view->zoom() > zoom * 1.1);
    const QPointF after = QPointF(m_view->itemRect(name).center() - at) / m_view->zoom();
    QVERIFY((after - before).manhattanLength() < 4);
    QTest::keyClick(m_view.get(), Qt::Key_Space);
    for (const FusedNode& fused : m_plan->fusedNodes) {
      QVERIFY(m_view->rect().contains(m_view->itemRect(QString::fromStdString(fused.name))));
    }
  }

  void aScreenReaderHearsTheSelection() {
    QVERIFY(!m_view->accessibleName().isEmpty());
    m_view->select({m_fused});
    QVERIFY2(m_view->accessibleDescription().contains("float32"), qPrintable(m_view->accessibleDescription()));
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(m_view.get());
    QVERIFY(interface != nullptr);
    QCOMPARE(interface->text(QAccessible::Description), m_view->accessibleDescription());
  }

  void coloursFollowTheMode() {
    m_view->fit();
    const QImage precision = m_view->grab().toImage();
    m_view->setColorMode(*findColorMode("kind"));
    const QImage kind = m_view->grab().toImage();
    QVERIFY(precision != kind);
    m_view->setTimes({{handleOf(m_plan->fusedNodes[0]), ShownTime{TimeKind::Measured, 2.0}},
                      {handleOf(m_plan->fusedNodes[1]), ShownTime{TimeKind::Measured, 0.1}}});
    m_view->setColorMode(*findColorMode("time"));
    QVERIFY(m_view->grab().toImage() != kind);
  }

  void exportsPictures() {
    QTemporaryDir folder;
    QVERIFY(m_view->exportSvg(folder.filePath("graph.svg")).ok());
    QFile svg(folder.filePath("graph.svg"));
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray drawing = svg.readAll();
    QVERIFY(drawing.contains("<svg"));
    QVERIFY(drawing.contains("segment_0"));
    QVERIFY(m_view->exportPng(folder.filePath("graph.png"), 2).ok());
    const QImage large(folder.filePath("graph.png"));
    QVERIFY(m_view->exportPng(folder.filePath("graph.png"), 1).ok());
    QVERIFY(qAbs(large.height() - 2 * QImage(folder.filePath("graph.png")).height()) <= 2);
    const Status refused = m_view->exportPng(folder.filePath("no/such/folder.png"), 1);
    QVERIFY(!refused.ok());
    QVERIFY(QString::fromStdString(refused.error().text()).contains("folder.png"));
  }

  void everythingCanBeOpened() {
    m_view->expandAll();
    QVERIFY(m_view->waitForLayout(20000));
    const int pills = int(m_plan->graph().inputs().size() + m_plan->graph().outputs().size());
    QCOMPARE(m_view->boxCount(), int(m_plan->graph().nodeCount()) + pills);
  }

  void whoAsksForALayoutDoesNotWaitForIt() {
    const int before = m_view->boxCount();
    m_view->expandAll();
    QCOMPARE(m_view->boxCount(), before);  // it is laid out elsewhere, and comes with an event
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->boxCount() > before);
  }

  void noPlanIsAnEmptyCanvas() {
    m_view->setCover(nullptr);
    QCOMPARE(m_view->boxCount(), 0);
    QVERIFY(m_view->nameAt({500, 300}).isEmpty());
    QVERIFY(!m_view->exportSvg("x.svg").ok());
  }

  void twoViewsShareACamera() {
    GraphView other;
    other.resize(m_view->size());
    other.setCover(m_view->cover());
    QVERIFY(other.waitForLayout(20'000));
    connect(m_view.get(), &GraphView::cameraChanged, &other, &GraphView::setCamera);
    connect(&other, &GraphView::cameraChanged, m_view.get(), &GraphView::setCamera);
    m_view->zoomIn();
    QVERIFY(other.camera() == m_view->camera());
    Camera camera = other.camera();
    camera.origin += QPointF(11, -7);
    other.setCamera(camera);
    QVERIFY(m_view->camera() == camera);
    other.disconnect();
    m_view->disconnect(&other);
  }
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::CanvasTest, 17)
#include "canvas_test.moc"
