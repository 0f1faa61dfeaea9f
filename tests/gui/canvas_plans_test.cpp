#include <QtTest>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "tests/gui/sample_canvas.h"
#include "tests/support/networks.h"

namespace fusescope {

/// What the canvas says of different plans, of one network or of two.
class CanvasPlansTest : public test::SampleCanvas {
  Q_OBJECT

 private slots:
  void fittedTimesLookOtherThanMeasuredOnes() {
    auto priced = std::make_shared<Plan>(*m_plan);
    for (FusedNode& fused : priced->fusedNodes) {
      fused.predictedMs = 0.5;
      fused.predictedHow = fused.name == m_fused.toStdString() ? PriceSource::Fitted : PriceSource::Measured;
    }
    m_view->setCover(priced);
    QVERIFY(m_view->waitForLayout(20000));
    const auto told = [&](const std::string& name) {
      m_view->select({QString::fromStdString(name)});
      return m_view->accessibleDescription();
    };
    QVERIFY2(told(m_fused.toStdString()).contains("~ 0.500 ms, fitted to other kernels"),
             qPrintable(m_view->accessibleDescription()));
    const std::string& measured = priced->fusedNodes.front().name == m_fused.toStdString()
                                      ? priced->fusedNodes.back().name
                                      : priced->fusedNodes.front().name;
    QVERIFY2(told(measured).contains("≈ 0.500 ms, predicted: such a kernel was measured before"),
             qPrintable(m_view->accessibleDescription()));
    QVERIFY(!m_view->accessibleDescription().contains('~'));
    m_view->setTimes({{handleOf(*m_plan->findFusedNode(m_fused.toStdString())), ShownTime{TimeKind::Measured, 0.5}}});
    QVERIFY(!told(m_fused.toStdString()).contains('~'));
  }

  void aPinElsewhereKeepsWhatIsOpenAndSelected() {
    const FusedNode& kept = *m_plan->findFusedNode(m_fused.toStdString());
    m_view->expand(m_fused);
    QVERIFY(m_view->waitForLayout(20000));
    m_view->select({test::handle(kept)});
    const QRect before = m_view->itemRect(test::handle(kept));
    const FusedNode& other =
        m_plan->fusedNodes.back().id == kept.id ? m_plan->fusedNodes.front() : m_plan->fusedNodes.back();
    PlanOptions options;
    options.directives.push_back(
        {.kind = DirectiveKind::Pin, .pattern = m_plan->graph().node(other.root).name, .type = DataType::F16});
    const auto pinned = makePlan(m_plan->model, options);
    QVERIFY(pinned.ok());
    m_view->setCover(pinned.value());
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->isOpen(test::handle(kept)));
    QCOMPARE(m_view->selection(), QStringList{test::handle(kept)});
    QCOMPARE(m_view->itemRect(test::handle(kept)).size(), before.size());
  }

  // "p2o.DynamicDimension.0" leaves the channels no room in a box.
  void longSymbolsOfExtentsAreCut() {
    GraphEditor editor;
    const TensorType type{
        DataType::F32,
        Shape{.ranked = true, .dims = {Dim::named("batch"), Dim(240), Dim::named("p2o.DynamicDimension.0"), Dim(8)}}};
    const ValueId y = editor.addValue("y", type);
    editor.addNode({.op = "Relu",
                    .name = "relu",
                    .inputs = {editor.addInput("x", type)},
                    .outputs = {y},
                    .attributes = {},
                    .origins = {OriginId(0)}});
    editor.addOutput(y);
    Model model;
    model.origins.push_back({"relu", "Relu", ""});
    model.graph = editor.publish().value();
    m_view->setCover(makePlan(std::make_shared<const Model>(std::move(model)), {}).value());
    QVERIFY(m_view->waitForLayout(20000));
    m_view->select({QStringLiteral("relu")});
    QVERIFY2(m_view->accessibleDescription().contains(QStringLiteral("f32[batch, 240, …, 8]")),
             qPrintable(m_view->accessibleDescription()));
  }

  void kernelsOfOneNameDoNotMix() {
    const auto plan = makePlan(test::networkOfOneNameTwice(), {}).value();
    QCOMPARE(plan->fusedNodes.size(), std::size_t(2));
    QCOMPARE(plan->fusedNodes[0].name, plan->fusedNodes[1].name);
    const bool firstIsFused = plan->fusedNodes[0].nodes.size() == 2;
    const FusedNode &fused = plan->fusedNodes[firstIsFused ? 0 : 1], &alone = plan->fusedNodes[firstIsFused ? 1 : 0];
    m_view->setCover(plan);
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->itemRect(test::handle(fused)) != m_view->itemRect(test::handle(alone)));
    m_view->expand(test::handle(alone));
    QVERIFY(!m_view->isOpen(test::handle(fused)));
    m_view->expand(test::handle(fused));
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->isOpen(test::handle(fused)));
    QVERIFY(!m_view->isOpen(test::handle(alone)));
    m_view->setTimes({{handleOf(alone), ShownTime{TimeKind::Measured, 2.0}}});
    m_view->select({test::handle(alone)});
    QVERIFY2(m_view->accessibleDescription().contains("2.00 ms"), qPrintable(m_view->accessibleDescription()));
    m_view->select({test::handle(fused)});
    QVERIFY2(!m_view->accessibleDescription().contains("ms"), qPrintable(m_view->accessibleDescription()));
  }

  void predictedFusionsAreMarked() {
    const auto predicted = makePlan(m_plan->model, {.target = "tensorrt-10"});
    QVERIFY(predicted.ok());
    m_view->setCover(predicted.value());
    QVERIFY(m_view->waitForLayout(20000));
    const auto told = [&](bool several) {
      for (const FusedNode& fused : predicted.value()->fusedNodes) {
        if ((fused.nodes.size() > 1) != several) continue;
        m_view->select({test::handle(fused)});
        return m_view->accessibleDescription();
      }
      return QString();
    };
    QVERIFY2(told(true).contains("predicted"), qPrintable(told(true)));
    QVERIFY2(!told(false).contains("predicted"), qPrintable(told(false)));
  }
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::CanvasPlansTest, 5)
#include "canvas_plans_test.moc"
