#include <QAbstractItemModelTester>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "session/artifact.h"
#include "session/compare.h"
#include "session/documents/compare_report.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/random_inputs.h"
#include "session/open_model.h"
#include "session/runs/run_comparison.h"
#include "tests/gui/gui_support.h"
#include "ui/document/layer_times.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"
#include "ui/models/decisions_model.h"
#include "ui/models/layers_model.h"
#include "ui/models/outline_model.h"
#include "ui/models/run_contents.h"

using namespace fusescope;

/// What the outline, the tables and the changes of a plan say of what is in bodies.
class BodyModelsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }
  void initTestCase() {
    const QString path = m_folder.filePath("nested.onnx");
    test::writeModel(path, test::kNestedBodies);
    auto model = openModel(path.toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    m_model = model.value();
    m_plain = planned({});
  }

  void levelsAreTheNetworkAndItsBodies() {
    QStringList levels;
    for (const PlanSnapshot::Level& level : m_plain->levels())
      levels << qs(level.path.text() + (level.holder.valid() ? " " : "-") +
                   (level.holder.valid() ? m_plain->graph().node(level.holder).name : ""));
    QCOMPARE(levels, QStringList({"-", "loop/body loop", "loop/body/choose/else_branch loop",
                                  "loop/body/choose/then_branch loop"}));
  }

  void theOutlineShowsBodiesBelowTheirHolders() {
    OutlineModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setSnapshot(m_plain);
    const QModelIndex loop = model.indexOf(*m_plain->graph().findNode("loop"));
    QCOMPARE(loop.data(kNameRole).toString(), QStringLiteral("loop"));
    QCOMPARE(model.rowCount(loop), 1);
    const QModelIndex body = model.index(0, 0, loop);
    QCOMPARE(body.data().toString(), QString::fromUtf8("body · carries u"));
    QCOMPARE(body.data(kNameRole).toString(), QStringLiteral("loop"));  // selecting it selects its holder
    QStringList inside;
    for (int i = 0; i < model.rowCount(body); ++i) inside << model.index(i, 0, body).data(kNameRole).toString();
    QCOMPARE(inside, QStringList({"loop/pass", "loop/choose", "loop/more"}));
    const QModelIndex relu = model.indexOfInside("loop/choose/relu");
    QCOMPARE(relu.data(kNameRole).toString(), QStringLiteral("loop/choose/relu"));
    const QModelIndex kernel = relu.parent(), branch = kernel.parent();
    QVERIFY(kernel.data(kNameRole).toString().startsWith("loop/body/choose/then_branch/fused:"));
    QCOMPARE(model.indexOfInside(kernel.data(kNameRole).toString().toStdString()), kernel);
    QCOMPARE(branch.data().toString(), QStringLiteral("then"));
    QCOMPARE(branch.parent().data(kNameRole).toString(), QStringLiteral("loop/choose"));
    QCOMPARE(branch.parent().parent(), body);
    QCOMPARE(model.indexOfInside("loop/choose/rows").parent().data().toString(), QStringLiteral("else"));
    const QModelIndex other = model.indexOfInside("loop/choose/rows").parent();
    QVERIFY(branch.data(OutlineModel::kKeyRole) !=
            other.data(OutlineModel::kKeyRole));  // what stays open when the plan changes is known by it
    QVERIFY(!model.indexOfInside("loop/nothing").isValid());
    model.setSnapshot(nullptr);
    QCOMPARE(model.rowCount(), 0);
  }

  void theTableHasRowsOfBodies() {
    LayersModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setSnapshot(m_plain);
    QCOMPARE(model.rowCount(), 2 + 3 + 1 + 2);
    const int row = model.rowOf(QStringLiteral("loop/choose/relu"));
    QVERIFY(row >= 0);
    const auto text = [&](int column) { return model.index(row, column).data().toString(); };
    QCOMPARE(text(LayersModel::kNode), QStringLiteral("loop/choose/relu"));
    QCOMPARE(text(LayersModel::kOp), QStringLiteral("Relu"));
    QCOMPARE(text(LayersModel::kFused), QStringLiteral("loop/choose/mm"));
    QCOMPARE(text(LayersModel::kCompute), QStringLiteral("f32"));
    QCOMPARE(text(LayersModel::kFlops), QStringLiteral("32"));
    QVERIFY(model.flags(model.index(row, LayersModel::kPin)) & Qt::ItemIsEditable);
    QVERIFY2(model.totalsText().contains("2 nodes") && model.totalsText().contains("not counted: in bodies 6 nodes"),
             qPrintable(model.totalsText()));
    model.setFilter(LayerFilter::parse("inside:loop/choose"));
    QCOMPARE(model.rowCount(), 3);
    QVERIFY(model.csv().contains("loop/choose/rows,Softmax"));
    model.setFilter(LayerFilter::parse("-inside:"));
    QCOMPARE(model.rowCount(), 2);
    QVERIFY2(model.totalsText().contains("bodies are not counted"), qPrintable(model.totalsText()));
  }

  void pinsInBodiesShowInTheTable() {
    LayersModel model;
    model.setSnapshot(m_plain);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    const auto pinned = planned({"loop/more=f16:obey"});
    model.setSnapshot(pinned);
    QCOMPARE(resets.count(), 0);  // the same rows
    const int row = model.rowOf(QStringLiteral("loop/more"));
    QCOMPARE(model.index(row, LayersModel::kPin).data().toString(), QStringLiteral("f16 (obey)"));
    QCOMPARE(model.index(row, LayersModel::kCompute).data().toString(), QStringLiteral("f16"));
    QCOMPARE(model.pinOf(QStringLiteral("loop/more"))->type, DataType::F16);
    model.setFilter(LayerFilter::parse("pinned"));
    QCOMPARE(model.rowCount(), 1);
  }

  void whatAPinChangesInsideIsTold() {
    const auto before = planned({}, "tensorrt-10");
    const auto after = planned({"loop/choose/relu=f16:obey"}, "tensorrt-10", before.get());
    const PlanDelta& delta = after->delta;
    QVERIFY(delta.comparable && !delta.nothing());
    QCOMPARE(delta.fusionsLost, std::vector<std::string>{"loop/choose/mm + relu"});
    QVERIFY(delta.fusionsGained.empty());
    QCOMPARE(delta.retyped, std::vector<std::string>{"loop/choose/relu: f32 to f16"});
    QVERIFY(!delta.castsAdded.empty());
    for (const std::string& cast : delta.castsAdded) QVERIFY2(cast.starts_with("loop/choose/"), cast.c_str());
    QCOMPARE(delta.fusedNodes, std::int64_t(1));
    QVERIFY(planDelta(*after->plan, *after->plan).nothing());
  }

  void castsAndDecisionsOfBodiesAreListed() {
    const auto pinned = planned({"loop/more=f16:obey"});
    const TableContent casts = castsContent(*pinned);
    QVERIFY(!casts.rows.empty());
    for (const TableRow& row : casts.rows) QVERIFY2(row.name.startsWith("loop/"), qPrintable(row.name));
    DecisionsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setSnapshot(pinned);
    int answers = 0;
    for (int row = 0; row < model.rowCount(); ++row)
      answers +=
          model.index(row, 0).data(kNameRole).toString() == "loop/more" && answersDirective(model.decisionAt(row));
    QCOMPARE(answers, 2);  // that it holds, and at which price; not again from the body
    model.setFilter(DecisionFilter::Verdicts);
    QCOMPARE(model.rowCount(), 2 + 3 + 1 + 2);
    QCOMPARE(model.rowCount(), DecisionsModel::countOf(*pinned, DecisionFilter::Verdicts));
    model.setFilter(DecisionFilter::All);
    QCOMPARE(model.rowCount(), DecisionsModel::countOf(*pinned, DecisionFilter::All));
    for (int row = 0; row < model.rowCount(); ++row) {
      const std::string name = model.index(row, 0).data(kNameRole).toString().toStdString();
      if (name.empty() || name.find('/') == std::string::npos) continue;
      QVERIFY2(pinned->inside(name).has_value(), name.c_str());  // a click goes there
    }
    model.setSubject("loop/choose/relu");
    QVERIFY(model.rowCount() > 0);
  }

  void measuredTimesGoToTheirRows() {
    const auto engine = buildEngine(m_plain->plan, {.backend = "native", .threads = 1, .measureTactics = false});
    QVERIFY2(engine.ok(), engine.ok() ? "" : engine.error().text().c_str());
    auto inputs = randomInputs(engine.value()->plan());
    inputs["flag"] = Tensor::ofInt64({1}).reshaped({}).converted(DataType::Bool);
    const auto report = engine.value()->time(inputs, {.seconds = 0.05, .warmupSeconds = 0, .perLayer = true});
    QVERIFY(report.ok());
    fusescope::Run run;
    const auto read = runTimeFromJson(toJson(report.value()));
    QVERIFY(read.ok());
    run.time = read.value();
    const auto times = layerTimesOf(*run.time, *m_plain, TimeKind::Measured);
    const FusedNode& kernel =
        *m_plain->inside("loop/choose/relu")->body->fusedOf(m_plain->inside("loop/choose/relu")->nodes.front());
    QVERIFY(times.find("loop/body/choose/then_branch/" + handleOf(kernel)) != times.end());
    LayersModel model;
    model.setSnapshot(m_plain);
    model.setTimes(times, QString());
    const auto timeOf = [&](const char* name) { return model.index(model.rowOf(QString(name)), LayersModel::kTime); };
    QVERIFY(timeOf("loop/choose/mm").data().toString().endsWith("s"));
    QVERIFY(timeOf("loop/choose/mm").data(Qt::ToolTipRole).toString().contains("all calls"));
    QCOMPARE(timeOf("loop/choose/rows").data().toString(), QString());
    QVERIFY(timeOf("loop/choose/rows").data(Qt::ToolTipRole).toString().contains("did not run"));
    // The branch that was not taken has no time: a part is not said as if it were the whole.
    QVERIFY2(model.totalsText().contains(QRegularExpression("for \\d+ of \\d+ kernels")),
             qPrintable(model.totalsText()));
    QVERIFY2(model.totalsText().contains("which its holder's includes"), qPrintable(model.totalsText()));
    const TableContent profile = profileContent(run, false);
    const auto row = std::find_if(profile.rows.begin(), profile.rows.end(), [](const TableRow& other) {
      return other.cells[0].text == QLatin1String("loop/choose/mm + relu");
    });
    QVERIFY(row != profile.rows.end());
    QCOMPARE(row->name.toStdString(), "loop/body/choose/then_branch/" + handleOf(kernel));
    QVERIFY(m_plain->inside(row->name.toStdString()).has_value());
  }

  void groupsOfAComparisonGoInside() {
    const auto split = planned({}, "cpu:avx2", nullptr, {"loop/choose/mm"});
    CompareReport report;
    report.valuesInBodies = 2;
    const RunComparison counted = runComparisonFromJson(toJson(report)).value();
    const TableContent values = errorsContent(&counted);
    QCOMPARE(values.rows.back().cells[0].text, QStringLiteral("2 values in bodies"));
    QCOMPARE(values.rows.back().cells[1].text, QStringLiteral("not compared"));
    report.groups = compareGroups(*m_plain->plan, *split->plan);
    const RunComparison compared = runComparisonFromJson(toJson(report)).value();
    const TableContent content = compareContent(&compared);
    const TableRow& torn = content.rows.front();  // what is fused otherwise comes first
    QCOMPARE(torn.cells[0].text, QString::fromUtf8("≠ loop/choose/mm + relu"));
    QCOMPARE(torn.cells[1].text, QString::fromUtf8("≠ loop/choose/mm  |  loop/choose/relu"));
    QVERIFY2(m_plain->inside(torn.name.toStdString()).has_value(), qPrintable(torn.name));
  }

 private:
  std::shared_ptr<const PlanSnapshot> planned(const std::vector<std::string>& pins,
                                              const std::string& target = "cpu:avx2",
                                              const PlanSnapshot* before = nullptr,
                                              const std::vector<std::string>& splits = {}) const {
    PlanOptions options{.target = target};
    for (const std::string& pin : pins) options.directives.push_back(parsePin(pin).value());
    for (const std::string& node : splits) options.directives.push_back(splitDirective(node));
    auto plan = makePlan(m_model, options);
    if (!plan.ok()) qFatal("%s", plan.error().text().c_str());
    return makeSnapshot(plan.value(), before);
  }

  QTemporaryDir m_folder;
  std::shared_ptr<const Model> m_model;
  std::shared_ptr<const PlanSnapshot> m_plain;
};

FUSESCOPE_GUI_TEST(BodyModelsTest, 8)
#include "body_models_test.moc"
