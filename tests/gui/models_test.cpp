#include <QAbstractItemModelTester>
#include <QtTest>
#include <cmath>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "session/runs/run_comparison.h"
#include "tests/gui/gui_support.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"
#include "ui/models/decisions_model.h"
#include "ui/models/layers_model.h"
#include "ui/models/outline_model.h"
#include "ui/models/run_contents.h"
#include "ui/models/validation_contents.h"

using namespace fusescope;

namespace {

PlanOptions pinned(const std::string& node, DataType type) {
  PlanOptions options;
  options.directives.push_back({.id = "1", .kind = DirectiveKind::Pin, .pattern = node, .type = type});
  return options;
}

LayerView layer(const char* node, const char* op, bool pinned) {
  LayerView view;
  view.node = node;
  view.op = op;
  view.dtype = "f16";
  view.pinned = pinned;
  view.ms = 0.75;
  return view;
}

}  // namespace

class ModelsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void outlineHoldsEveryNodeOnce() {
    OutlineModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto snapshot = test::planSample("squeezenet1_1");
    model.setSnapshot(snapshot);
    const std::function<std::size_t(const QModelIndex&)> leavesOf = [&](const QModelIndex& row) {
      std::size_t leaves = row.isValid() && model.rowCount(row) == 0 ? 1 : 0;
      for (int i = 0; i < model.rowCount(row); ++i) leaves += leavesOf(model.index(i, 0, row));
      return leaves;
    };
    QCOMPARE(leavesOf({}), snapshot->graph().nodeCount());
    for (const NodeId node : snapshot->graph().order()) {
      const QModelIndex index = model.indexOf(node);
      QCOMPARE(index.data(kNameRole).toString().toStdString(), snapshot->graph().node(node).name);
      QVERIFY(index.parent().isValid());
    }
    model.setSnapshot(nullptr);
    QCOMPARE(model.rowCount(), 0);
  }

  void layersSortFilterAndExport() {
    LayersModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto snapshot = test::planSample("squeezenet1_1");
    model.setSnapshot(snapshot);
    QCOMPARE(model.rowCount(), static_cast<int>(snapshot->graph().nodeCount()));
    model.setFilter(LayerFilter::parse("op:Conv"));
    QCOMPARE(model.rowCount(), 26);  // the convolutions of SqueezeNet
    model.sort(LayersModel::kFlops, Qt::DescendingOrder);
    std::optional<std::int64_t> before;
    for (int row = 0; row < model.rowCount(); ++row) {
      const auto flops = snapshot->facts(model.nodeAt(row)).flops;
      QVERIFY(flops.has_value());
      if (before) QVERIFY(*flops <= *before);
      before = flops;
    }
    const QString csv = model.csv();
    QCOMPARE(csv.count('\n'), 27);
    QVERIFY(csv.startsWith(
        "node,op,fused_node,segment,compute,stored,pin,flops,bytes,time_ms,local_max_over_rms,local_rel_l2,"
        "carried_max_over_rms,carried_rel_l2\n"));
    model.setFilter(LayerFilter::parse("no_such_node"));
    QCOMPARE(model.rowCount(), 0);
  }

  void layersShowPinsAndKeepRows() {
    LayersModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto before = test::planSample("fp16_overflow");
    model.setSnapshot(before);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    const auto after = test::planSample("fp16_overflow", pinned("node_linear_1", DataType::F16), before.get());
    model.setSnapshot(after);
    QCOMPARE(resets.count(), 0);
    const int row = model.rowOf(QStringLiteral("node_linear_1"));
    QCOMPARE(model.index(row, LayersModel::kPin).data().toString(), QStringLiteral("f16"));
    QCOMPARE(model.index(row, LayersModel::kCompute).data().toString(), QStringLiteral("f16"));
    QVERIFY(model.flags(model.index(row, LayersModel::kPin)) & Qt::ItemIsEditable);
    QVERIFY(!(model.flags(model.index(row, LayersModel::kOp)) & Qt::ItemIsEditable));
    model.setFilter(LayerFilter::parse("pinned"));
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.pinOf(QStringLiteral("node_linear_1"))->type, DataType::F16);
  }

  void layersAndOutlineSayWhatIsStoredHeldAndMixed() {
    PlanOptions options = pinned("node_linear", DataType::F32);
    options.precisions = {DataType::F16};
    const auto snapshot = test::planSample("fp16_overflow", options);
    LayersModel layers;
    layers.setSnapshot(snapshot);
    int inner = 0;
    for (const NodeId node : snapshot->graph().order()) {
      const FusedNode& fused = *snapshot->fusedOf(node);
      const ValueId result = snapshot->graph().node(node).outputs.front();
      const auto edge = std::find_if(fused.innerEdges.begin(), fused.innerEdges.end(),
                                     [&](const InnerEdge& other) { return other.value == result && !other.real; });
      const QString stored =
          layers.index(layers.rowOf(qs(snapshot->graph().node(node).name)), LayersModel::kStored).data().toString();
      const bool held = edge != fused.innerEdges.end();
      inner += held;
      const DataType type = held ? edge->type : snapshot->plan->storedType(result);
      QVERIFY2(stored.startsWith(qs(type)), qPrintable(stored));
      QCOMPARE(stored.contains(' '), held);
    }
    QVERIFY(inner > 0);
    OutlineModel outline;
    outline.setSnapshot(snapshot);
    for (const FusedNode& fused : snapshot->plan->fusedNodes) {
      if (fused.nodes.size() == 1) continue;
      const QModelIndex index = outline.indexOfFused(fused.id.index);
      QCOMPARE(index.data(kNameRole).toString().toStdString(), handleOf(fused));
      const bool mixed = calculatedTypes(*snapshot->plan, fused).size() > 1;
      QCOMPARE(index.sibling(index.row(), OutlineModel::kType).data().toString().contains('+'), mixed);
    }
  }

  void outlineMarksPredictedFusions() {
    PlanOptions options;
    for (const bool predicted : {false, true}) {
      options.target = predicted ? "tensorrt-10" : "cpu:avx2";
      OutlineModel outline;
      const auto snapshot = test::planSample("squeezenet1_1", options);
      outline.setSnapshot(snapshot);
      const QModelIndex segment = outline.index(0, 0);
      QCOMPARE(segment.sibling(0, OutlineModel::kType).data().toString() == QStringLiteral("predicted"), predicted);
      for (const FusedNode& fused : snapshot->plan->fusedNodes) {
        if (fused.nodes.size() == 1) continue;
        const QModelIndex index = outline.indexOfFused(fused.id.index);
        QCOMPARE(index.data(Qt::FontRole).value<QFont>().italic(), predicted);
        QCOMPARE(index.data(Qt::ToolTipRole).toString().contains("predicted"), predicted);
      }
    }
  }

  void decisionsPutAnswersFirst() {
    DecisionsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto before = test::planSample("fp16_overflow");
    const auto after = test::planSample("fp16_overflow", pinned("node_linear_1", DataType::F16), before.get());
    model.setSnapshot(after);
    QVERIFY(model.rowCount() > 0);
    QVERIFY(answersDirective(model.decisionAt(0)));
    QVERIFY(!model.index(0, DecisionsModel::kWhat).data().toString().isEmpty());
    model.setFilter(DecisionFilter::All);
    QCOMPARE(model.rowCount(), static_cast<int>(after->plan->decisions.size()));
    model.setFilter(DecisionFilter::Verdicts);
    QCOMPARE(model.rowCount(), static_cast<int>(after->graph().nodeCount()));
    model.setFilter(DecisionFilter::New);
    QCOMPARE(model.rowCount(), static_cast<int>(after->delta.newAnswers.size()));
    QVERIFY(model.rowCount() > 0);
  }

  void castsOfAPin() {
    TableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto before = test::planSample("fp16_overflow");
    // Its neighbour writes f16 straight from its f32 sums, and the Relu of its kernel reads them: nothing is converted.
    const auto inside = test::planSample("fp16_overflow", pinned("node_linear_1", DataType::F16), before.get());
    model.setContent(castsContent(*inside));
    QCOMPARE(model.rowCount(), 0);
    QVERIFY(!inside->delta.retyped.empty());
    // It reads an input of the network, which is f32.
    const auto after = test::planSample("fp16_overflow", pinned("node_linear", DataType::F16), before.get());
    model.setContent(castsContent(*after));
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.rowCount(), static_cast<int>(after->plan->casts.size()));
    QVERIFY(!after->delta.castsAdded.empty());
    QVERIFY(!after->delta.retyped.empty());
    QCOMPARE(planDelta(*after->plan, *after->plan).nothing(), true);
  }

  void profileAndComparisonSayUnknown() {
    Run run;
    run.time = RunTime{.unavailableReason = "no f16 here"};
    run.time->layers = {
        {.name = "a", .identity = "0123", .tactic = "t", .medianMs = 1.0, .rooflineMs = 0.8, .flops = 10},
        {.name = "b", .tactic = "t", .emulated = true},
        {.name = "c", .medianMs = 3.0}};
    const TableContent profile = profileContent(run, false);
    QCOMPARE(profile.rows.size(), std::size_t(3));
    QCOMPARE(profile.rows[0].name, QStringLiteral("c"));
    QCOMPARE(profile.rows[0].cells[1].text, QStringLiteral("3.00 ms"));
    QCOMPARE(profile.rows[0].cells[2].text, QStringLiteral("unknown"));  // of a whole that nobody measured
    QCOMPARE(profile.rows[1].name, QStringLiteral("fused:0123"));        // where a click goes; its name is for people
    QCOMPARE(profile.rows[1].cells[0].text, QStringLiteral("a"));
    QCOMPARE(profile.rows[0].cells[3].text, QStringLiteral("unknown"));  // its work is not known
    QCOMPARE(profile.rows[1].cells[3].text, QStringLiteral("80 %"));     // of what the machine reaches
    QCOMPARE(profile.rows[2].cells[1].text, QStringLiteral("emulated"));
    QCOMPARE(profileContent(run, true).rows[0].cells[1].text, QStringLiteral("[3.00 ms]"));
    run.time->layers.erase(run.time->layers.begin() + 1);
    QCOMPARE(profileContent(run, false).rows[0].cells[2].text, QStringLiteral("75.0 %"));
    QCOMPARE(predictedText(1.25, PriceSource::Measured, 0.031), QString::fromUtf8("1.25 ms, measured before (± 3 %)"));
    QCOMPARE(predictedText(1.25, PriceSource::Fitted, 0.2),
             QString::fromUtf8("about 1.25 ms, fitted to measurements of other kernels (± 20 %)"));
    const RunComparison comparison =
        runComparisonFromJson(
            Json::parse(
                R"({"groups":[{"origins":["x"],"a":["x"],"b":["x"],"same":true,"a_identities":["12"],"a_ms":1.0,"b_ms":1.5,"delta_ms":0.5,
       "delta_range_ms":{"least":0.4,"most":0.6}},
      {"origins":["w"],"a":["w"],"b":["w"],"same":true,"a_ms":9.0,"b_ms":8.0,"delta_ms":-1.0,
       "delta_range_ms":{"least":-1.5,"most":0.1}},
      {"origins":["y","z"],"a":["y + z"],"b":["y","z"],"a_ms":1.0,"b_ms":null,"delta_ms":null}],
      "outputs":[{"name":"o","max_abs":"inf","max_over_rms":"inf","cosine":"nan"}],"values":[]})"))
            .value();
    const TableContent groups = compareContent(&comparison);
    QCOMPARE(groups.rows[0].cells[0].text, QStringLiteral("≠ y + z"));
    QCOMPARE(groups.rows[0].cells[4].text, QStringLiteral("unknown"));
    QCOMPARE(groups.rows[1].cells[4].text, QStringLiteral("+0.500 ms"));
    QCOMPARE(groups.rows[1].name, QStringLiteral("fused:12"));
    QCOMPARE(groups.rows[1].cells[4].tone, Tone::Bad);
    QCOMPARE(groups.rows[2].cells[4].tone, Tone::Dim);  // the larger difference, but its turns do not agree
    QVERIFY(!groups.rows[2].cells[4].bar);
    QCOMPARE(*groups.rows[1].cells[4].bar, 0.5 / 1.6);  // turns are 1.6 ms apart: 0.5 ms fills no bar
    const RunComparison small = runComparisonFromJson(Json::parse(R"({"groups":[{"origins":["x"],"a":["x"],"b":["x"],
      "same":true,"a_ms":0.00062,"b_ms":0.00066,"delta_ms":0.00004,"delta_range_ms":{"least":0.00001,"most":0.00017}},
      {"origins":["y"],"a":["y"],"b":["y"],"same":true,"a_ms":0.0003,"b_ms":0.0002,"delta_ms":-0.0001}]})"))
                                    .value();
    const TableContent tiny = compareContent(&small);
    QCOMPARE(tiny.rows[0].cells[2].text, QStringLiteral("0.620 µs"));
    QCOMPARE(tiny.rows[0].cells[4].text, QStringLiteral("+40.0 ns"));
    QVERIFY(*tiny.rows[0].cells[4].bar < 0.5);
    QCOMPARE(tiny.rows[1].cells[4].text, QStringLiteral("−0.100 µs"));
    QCOMPARE(errorsContent(&comparison).rows[0].cells[2].text, QStringLiteral("inf"));
  }

  void optionsOfTheCommandLineAreSaidInTheWindowsWords_data() {
    QTest::addColumn<QString>("said");
    QTest::addColumn<QString>("inTheWindow");
    const auto row = [](const char* said, const char* words) {
      QTest::newRow(said) << QString(said) << QString(words);
    };
    row("--precision f32 → f16", "precision f32 → f16");
    row("--target tensorrt-11 (only in B)", "target tensorrt-11 (only in B)");
    row("--pin conv=f32:obey (only in A)", "pin conv=f32:obey (only in A)");
    row("Leave it in floats: --pin 'conv 1=f32'.", "Leave it in floats: pin 'conv 1=f32'.");
    row("--output-type conv=f16 (only in A)", "output type conv=f16 (only in A)");
    row("--no-fuse residual@add (only in A)", "no fusion by residual@add (only in A)");
    row("without --ranges", "without ranges");
    row("tensorrt-10 lacks int64 (value v); --truncate long would make Add supported",
        "tensorrt-10 lacks int64 (value v); truncating int64 to int32 would make Add supported");
    row("was not chosen (--truncate-constants double narrows it)",
        "was not chosen (truncating constants from float64 to float32 narrows it)");
    row("give them with --input state=2,batch,128. With 1:",
        "give them with state=2,batch,128 as --input on the command line. With 1:");
    row("with trtexec --verbose while it parses", "with trtexec --verbose while it parses");  // another tool's
  }
  void optionsOfTheCommandLineAreSaidInTheWindowsWords() {
    QFETCH(QString, said);
    QFETCH(QString, inTheWindow);
    QCOMPARE(withoutOptions(said), inTheWindow);
  }

  void whatTheWindowSaysOfPlansNamesNoOptions_data() {
    QTest::addColumn<QString>("sample");
    QTest::addColumn<QString>("target");
    for (const char* sample : {"fp16_overflow", "long_double", "tiny_resnet_dynbatch"})
      for (const char* target : {"cpu", "tensorrt-10", "tensorrt-11"})
        QTest::addRow("%s for %s", sample, target) << QString(sample) << QString(target);
  }
  void whatTheWindowSaysOfPlansNamesNoOptions() {
    QFETCH(QString, sample);
    QFETCH(QString, target);
    PlanOptions options{.target = target.toStdString(), .precisions = {DataType::F16}};
    const auto plain = test::planSample(sample, options);
    const auto& order = plain->graph().order();
    for (const NodeId node : {order.front(), order.back()})
      options.directives.push_back(
          {.kind = DirectiveKind::Pin, .pattern = plain->graph().node(node).name, .type = DataType::F32});
    assignIds(options.directives);
    const auto pinned = test::planSample(sample, options);
    int said = 0;
    for (const auto& snapshot : {plain, pinned}) {
      for (const NodeId node : order) {
        const SelectionAnswers answers{.help = wouldHelp(*snapshot->plan, node)};
        const QString text = nodeText(*snapshot, node, {}, &answers, Theme::dark());
        said += answers.help.empty() ? 0 : 1;
        QVERIFY2(!text.contains("--"), qPrintable(text.mid(std::max(0, text.indexOf("--") - 200), 400)));
      }
      DecisionsModel decisions;
      decisions.setSnapshot(snapshot);
      decisions.setFilter(DecisionFilter::All);
      QVERIFY(decisions.rowCount() > 0);
      for (int i = 0; i < decisions.rowCount(); ++i)
        for (const int role : {Qt::DisplayRole, Qt::ToolTipRole})
          for (int column = 0; column < decisions.columnCount(); ++column) {
            const QString text = decisions.index(i, column).data(role).toString();
            QVERIFY2(!text.contains("--"), qPrintable(text));
          }
    }
    QVERIFY2(said > 0, "there is nothing that would help");
  }

  void whatCannotBeToldIsNoErrorAndStandsLast() {
    const TensorComparison exact{.name = "exact", .ok = true};
    const TensorComparison lost{.name = "lost", .ok = true, .problem = "neither side contains a finite number"};
    const TensorComparison missing{.name = "missing", .problem = "is missing"};
    const TableContent errors = errorsContent({exact, lost, missing}, {});
    const TableRow &exactRow = errors.rows[0], &lostRow = errors.rows[1], &missingRow = errors.rows[2];
    QCOMPARE(exactRow.cells[2].text, QStringLiteral("0"));
    QCOMPARE(lostRow.cells[1].text, QStringLiteral("cannot be determined: neither side contains a finite number"));
    QCOMPARE(missingRow.cells[1].text, QStringLiteral("is missing"));
    for (const int number : {2, 3, 4}) {
      const auto at = static_cast<std::size_t>(number);
      QCOMPARE(lostRow.cells[at].text, QStringLiteral("–"));
      QCOMPARE(missingRow.cells[at].text, QStringLiteral("–"));
      QVERIFY(lostRow.cells[at].sort.toDouble() < exactRow.cells[at].sort.toDouble());
    }
    QCOMPARE(lostRow.cells[3].tone, Tone::Dim);
    QCOMPARE(missingRow.cells[3].tone, Tone::Bad);
    QVERIFY(missingRow.cells[3].sort.toDouble() > exactRow.cells[3].sort.toDouble());
    // A cosine that is not a number would leave the order of all rows open.
    const TensorComparison infinite{
        .name = "infinite", .maxAbs = INFINITY, .maxOverRms = INFINITY, .cosine = NAN, .ofBound = INFINITY};
    QVERIFY(!std::isnan(errorsContent({infinite}, {}).rows[0].cells[4].sort.toDouble()));
    // Samples likewise: the one that is exact comes before the one that nothing can be told of.
    Evaluation evaluation{.outputs = {exact}};
    evaluation.samples = {{"first", {lost}}, {"second", {exact}}};
    const TableContent samples = verdictsContent(&evaluation, Tolerance::standard());
    QCOMPARE(samples.rows[0].cells[0].text, QStringLiteral("second"));
    QCOMPARE(samples.rows[1].cells[3].text, QStringLiteral("–"));
    QVERIFY(samples.rows[1].cells[2].text.contains("neither side contains a finite number"));
  }

  void filterLanguage() {
    const LayerView conv = layer("features_0_conv", "Conv", true), relu = layer("relu_1", "Relu", false);
    const auto matches = [](const char* text, const LayerView& view) { return LayerFilter::parse(text).matches(view); };
    QVERIFY(matches("", relu));
    QVERIFY(matches("op:conv pinned", conv));
    QVERIFY(!matches("op:conv pinned", relu));
    QVERIFY(matches("-pinned", relu));
    QVERIFY(!matches("-pinned", conv));
    QVERIFY(matches("dtype:f16 time>0.5ms", conv));
    QVERIFY(!matches("time<0.5", conv));
    QVERIFY(matches("/^feat.*conv$/", conv));
    QVERIFY(!matches("features relu", conv));
    QVERIFY(!LayerFilter::parse("/(/").understood());
    LayerView inner = layer("outer/in/relu", "Relu", false);
    inner.inside = "outer/in";
    QVERIFY(matches("inside:", inner) && !matches("inside:", relu));
    QVERIFY(matches("inside:outer", inner) && matches("inside:outer/in", inner) && !matches("inside:out", inner));
    QVERIFY(matches("-inside:", relu) && !matches("-inside:", inner));
    QCOMPARE(LayerFilter::parse("inside:outer").explanation(), QStringLiteral("in a body of outer"));
    QCOMPARE(LayerFilter::parse("op:Conv -pinned").explanation(), QStringLiteral("operator is Conv… and not pinned"));
  }
};

FUSESCOPE_GUI_TEST(ModelsTest, 14)
#include "models_test.moc"
