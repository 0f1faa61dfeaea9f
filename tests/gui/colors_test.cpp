// What colours, stripes and badges say, and that everybody can see it.
#include <QRegularExpression>
#include <QtTest>
#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "planning/kinds.h"
#include "planning/prices/price_model.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/gui/color_distance.h"
#include "tests/gui/drawn_plan.h"
#include "tests/gui/sample_canvas.h"
#include "ui/canvas/canvas_badges.h"
#include "ui/canvas/edge_labels.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

using test::distance;
using test::drawn;
using test::Drawn;
using test::leastDistance;
using test::planOf;

/// Least ΔE between neighbouring steps of errors, and of amounts, and between any two precisions, for all eyes.
constexpr double kErrorStepsApart = 25, kAmountStepsApart = 18, kPrecisionsApart = 12;
/// Between the selection's colour and any that means something else.
constexpr double kFromSelection = 25, kFromSelectionForAllEyes = 14;

constexpr std::array kErrorLevels = {
    ErrorLevel::CannotBeDetermined, ErrorLevel::Exact,  ErrorLevel::FarWithin, ErrorLevel::Within,
    ErrorLevel::Harmless,           ErrorLevel::Beyond, ErrorLevel::FarBeyond, ErrorLevel::NotFinite};
constexpr std::array kThemes = {&Theme::dark, &Theme::light};

/// A product of codes between its quantisers, with a Relu, and a product of floats behind it.
const char* const kCodes = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[2, 4] x) => (float[2, 4] y, int8[2, 4] q, float[2, 4] e)
  <float s = {0.1}, int8 z = {0},
   int8[4, 4] w = {1,2,3,4, 5,6,7,8, 1,2,3,4, 5,6,7,8}, float[4, 4] v = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}> {
  [make] q = QuantizeLinear (x, s, z)
  [alone] e = DequantizeLinear (q, s, z)
  [read] d = DequantizeLinear (q, s, z)
  [weights] wd = DequantizeLinear (w, s, z)
  [product] m = MatMul (d, wd)
  [relu] r = Relu (m)
  [again] q2 = QuantizeLinear (r, s, z)
  [read2] d2 = DequantizeLinear (q2, s, z)
  [floats] f = MatMul (d2, v)
  [soft] y = Softmax (f)
})";

/// What is known of every conversion: a microsecond.
class ConversionPrices : public PriceModel {
 public:
  std::vector<Price> kernels(const Plan& plan) const override { return std::vector<Price>(plan.fusedNodes.size()); }
  Price conversion(DataType, DataType, std::int64_t) const override {
    return {.ms = 0.012, .how = PriceSource::Measured};
  }
};

/// `theme`'s colours that mean something, with what they mean; not the selection's.
QList<QPair<QString, QColor>> meanings(const Theme& theme) {
  QList<QPair<QString, QColor>> colors{{"link", theme.link},       {"chart", theme.chart}, {"success", theme.success},
                                       {"warning", theme.warning}, {"error", theme.error}, {"match", theme.match}};
  for (const Swatch& swatch : precisionLegend(theme)) colors.append({swatch.text, swatch.color});
  for (const Swatch& swatch : kindLegend(theme)) colors.append({swatch.label, swatch.color});
  for (const ErrorLevel level : kErrorLevels) colors.append({levelText(level), levelColor(level, theme)});
  for (const QColor& step : scaleColors(theme)) colors.append({"amount", step});
  for (int decided = 0; decided <= static_cast<int>(Decided::Refused); ++decided) {
    const Swatch swatch = decidedSwatch(static_cast<Decided>(decided), theme);
    colors.append({swatch.text, swatch.color});
  }
  for (int mark = 0; mark < kMarks; ++mark)
    colors.append({markWord(static_cast<Mark>(mark)), markColor(static_cast<Mark>(mark), theme)});
  for (int segment = 0; segment < 6; ++segment) colors.append({"segment", segmentColor(segment, false, theme)});
  return colors;
}

/// The rules of the application's style sheet whose declarations have the selection's colour and that are of nothing
/// selected or focused.
QStringList rulesWithAccent() {
  QStringList wrong;
  for (const QString& rule : qApp->styleSheet().split('}')) {
    const int brace = rule.indexOf('{');
    if (brace < 0) continue;
    const QString selector = rule.left(brace).simplified();
    QString declarations = rule.mid(brace + 1);
    declarations.remove(QRegularExpression("selection-(background-)?color:[^;]*;?"));
    if (!declarations.contains("palette(highlight)")) continue;
    if (!selector.contains(":focus") && !selector.contains(":selected")) wrong << selector;
  }
  return wrong;
}

}  // namespace

class ColorsTest : public test::SampleCanvas {
  Q_OBJECT

 private slots:
  void theSelectionsColourIsTheSelectionsAlone() {
    for (const auto& of : kThemes) {
      const Theme& theme = of();
      for (const auto& [what, color] : meanings(theme)) {
        QVERIFY2(distance(color, theme.accent) >= kFromSelection, qPrintable(what));
        QVERIFY2(leastDistance(color, theme.accent) >= kFromSelectionForAllEyes,
                 qPrintable(QString("%1 %2: %3").arg(what, color.name()).arg(leastDistance(color, theme.accent))));
      }
      applyTheme(*qApp, theme);
      QVERIFY2(rulesWithAccent().isEmpty(), qPrintable(rulesWithAccent().join('\n')));
    }
    QVERIFY(qApp->styleSheet().contains("palette(highlight)"));
  }

  // A colour that no kind has, or a kind whose colour is missing, is found here.
  void theColoursOfKindsAreThoseOfTheFamilies() {
    QStringList families{"other"}, colored;
    for (const std::string_view kind : allKinds())
      families.append(QString::fromStdString(std::string(kindFamily(kind))));
    families.removeDuplicates();
    for (const Swatch& swatch : kindLegend(Theme::dark())) colored.append(swatch.label);
    families.sort();
    colored.sort();
    QCOMPARE(colored, families);
    QCOMPARE(kindSwatch("gemm", Theme::dark()).text, QString("matrix product"));
    QCOMPARE(kindSwatch("triton_poi", Theme::dark()).text, QString("other"));
  }

  void stepsAreToldApartByAllEyes() {
    for (const auto& of : kThemes) {
      const Theme& theme = of();
      for (std::size_t step = 2; step < kErrorLevels.size(); ++step) {
        const QColor a = levelColor(kErrorLevels[step - 1], theme), b = levelColor(kErrorLevels[step], theme);
        QVERIFY2(leastDistance(a, b) >= kErrorStepsApart, qPrintable(a.name() + " " + b.name()));
      }
      const std::vector<QColor> amounts = scaleColors(theme);
      for (std::size_t step = 1; step < amounts.size(); ++step)
        QVERIFY2(leastDistance(amounts[step - 1], amounts[step]) >= kAmountStepsApart,
                 qPrintable(amounts[step].name()));
      const std::vector<Swatch> precisions = precisionLegend(theme);
      for (std::size_t a = 0; a < precisions.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
          QVERIFY2(leastDistance(precisions[a].color, precisions[b].color) >= kPrecisionsApart,
                   qPrintable(precisions[a].text + ", " + precisions[b].text));
    }
    QSet<QString> signs;
    for (const ErrorLevel level : kErrorLevels) signs.insert(levelSign(level));
    QCOMPARE(signs.size(), int(kErrorLevels.size()));
    QVERIFY(!signs.contains(QString()));
  }

  void aChainOfCodesReadsAsInt8() {
    const Drawn codes = drawn(planOf(modelOf(kCodes), {}));
    const FusedNode& product = codes.holding("product");
    for (const char* node : {"read", "weights", "product", "relu", "again"})
      QCOMPARE(&codes.holding(node), &product);  // dequantisers first
    const CanvasItem& box = codes.box(product);
    QCOMPARE(int(box.precision), int(DataType::I8));
    QCOMPARE(int(box.facts.second), int(DataType::F32));
    QCOMPARE(box.title, QStringLiteral("MatMul (int8) + Relu"));
    const CanvasItem& quantiser = codes.box(codes.holding("make"));
    QCOMPARE(int(quantiser.precision), int(DataType::I8));
    QCOMPARE(quantiser.title, QStringLiteral("QuantizeLinear"));
    QCOMPARE(int(codes.box(codes.holding("alone")).precision), int(DataType::I8));
    QCOMPARE(&codes.holding("read2"), &codes.holding("floats"));
    const CanvasItem& floats = codes.box(codes.holding("floats"));
    QCOMPARE(int(floats.precision), int(DataType::F32));
    QCOMPARE(floats.title, QStringLiteral("MatMul"));
    // The stripe has the second type's colour, and nothing is called a mixture.
    const CanvasColors colors(codes.scene, *findColorMode("precision"), {}, Theme::dark());
    const ItemColor& color = colors.of(std::size_t(codes.place(product)));
    QCOMPARE(color.badge, QStringLiteral("int8"));
    QCOMPARE(color.stripe, precisionSwatch(DataType::F32, Theme::dark()).color);
    QVERIFY(!colors.of(std::size_t(codes.place(codes.holding("floats")))).stripe.isValid());
  }

  void kernelsAreCalledByTheirMainOperator() {
    for (const char* sample : {"bert_tiny", "squeezenet1_1"}) {
      const Drawn all = drawn(test::planSample(sample)->plan);
      std::size_t several = 0;
      for (const FusedNode& fused : all.plan->fusedNodes) {
        const CanvasItem& box = all.box(fused);
        const QString root = qs(all.plan->graph().node(fused.root).op);
        const bool byKind = box.title.startsWith(qs(fused.kind).left(1).toUpper());
        QVERIFY2(box.title.startsWith(root) || byKind, qPrintable(box.title + " of " + root));
        several += fused.nodes.size() > 1;
      }
      QVERIFY(several > 5);
    }
    const Drawn bert = drawn(test::planSample("bert_tiny")->plan);
    const auto attention = std::ranges::find(bert.plan->fusedNodes, "attention", &FusedNode::kind);
    QVERIFY(attention != bert.plan->fusedNodes.end());
    QCOMPARE(bert.box(*attention).title, QStringLiteral("Attention"));
  }

  void amountsAreInSteps() {
    const Drawn all = drawn(m_plan);
    for (const char* name : {"bytes", "memory"}) {
      const ColorMode& mode = *findColorMode(name);
      const CanvasColors colors(all.scene, mode, {}, Theme::dark());
      double most = 0;
      for (const FusedNode& fused : m_plan->fusedNodes)
        most = std::max(most, mode.amountOf(all.box(fused), {}).value_or(0));
      QCOMPARE(colors.largest, most);
      std::map<QString, int> boxes;
      for (const FusedNode& fused : m_plan->fusedNodes) {
        const double amount = mode.amountOf(all.box(fused), {}).value();
        const QString& key = colors.of(std::size_t(all.place(fused))).key;
        const int step = key.right(1).toInt();
        QVERIFY2(step == 1 ? amount <= most / 16 : amount > most / std::pow(2, 6 - step) * 0.999, qPrintable(key));
        ++boxes[key];
      }
      QVERIFY(boxes.size() > 2 && boxes.contains("step 5"));
      for (const LegendLine& line : colors.legend())
        if (line.key.startsWith("step")) QCOMPARE(line.boxes, boxes[line.key]);
      QVERIFY(!colors.notes.isEmpty());
    }
    // What a convolution moves is more than what it leaves.
    const ItemFacts& facts = all.box(all.holding("node_Conv_7")).facts;
    QVERIFY(facts.results && facts.bytes && *facts.results < *facts.bytes);
  }

  void theDecisionThatWeighsMostIsSaid() {
    const auto& graph = m_plan->graph();
    std::vector<std::string> convolutions;
    for (const NodeId node : graph.order())
      if (graph.node(node).is("Conv")) convolutions.push_back(graph.node(node).name);
    PlanOptions options{.precisions = {DataType::F16}};
    options.directives = {parsePin(convolutions[0] + "=f32").value(), fallbackDirective(convolutions[4])};
    assignIds(options.directives);
    const Drawn all = drawn(planOf(m_plan->model, options));
    const auto decided = [&](const std::string& node) { return *all.box(all.holding(node)).facts.decided; };
    QVERIFY(decided(convolutions[0]) == Decided::Pin);
    QVERIFY(decided(convolutions[2]) == Decided::Precision);
    QVERIFY(decided(convolutions[4]) == Decided::Fallback);
    const ItemFacts& facts = all.box(all.holding(convolutions[0])).facts;
    QVERIFY(facts.pinned && !facts.refused && !facts.ignored);
    const CanvasColors colors(all.scene, *findColorMode("decision"), {}, Theme::dark());
    QStringList words;
    for (const LegendLine& line : colors.legend()) words << line.swatch.text;
    QVERIFY2(words.contains("a pin is satisfied") && words.contains("falls back to another engine"),
             qPrintable(words.join(", ")));
    const auto marks = colors.of(std::size_t(all.place(all.holding(convolutions[4])))).marks;
    QVERIFY(std::ranges::count(marks, Mark::Fallback) == 1);
    // A target without the type refuses it.
    options = {.target = "tensorrt-8", .directives = {parsePin(convolutions[6] + "=bf16").value()}};
    assignIds(options.directives);
    const Drawn other = drawn(planOf(m_plan->model, options));
    const ItemFacts& refused = other.box(other.holding(convolutions[6])).facts;
    QVERIFY(refused.refused && !refused.pinned && *refused.decided == Decided::Refused);
  }

  void onlyMeasuredTimesMakeABoxSlow() {
    const Drawn all = drawn(m_plan);
    ShownTimes::Map times;
    for (const FusedNode& fused : m_plan->fusedNodes) times[handleOf(fused)] = {TimeKind::Measured, 0.1};
    times[handleOf(m_plan->fusedNodes[0])].ms = 5;
    times[handleOf(m_plan->fusedNodes[1])] = {TimeKind::OfOtherPlan, 50};
    ShownTimes shown(times);
    shown.madeBriefly = "run 3";
    const CanvasColors colors(all.scene, *findColorMode("time"), {.times = shown}, Theme::dark());
    const auto marks = [&](std::size_t fused) {
      return colors.of(std::size_t(all.place(m_plan->fusedNodes[fused]))).marks;
    };
    QVERIFY(marks(0) == std::vector<Mark>{Mark::Slow});
    QVERIFY(marks(1).empty());
    QVERIFY(marks(2).empty());
    const QString words = colors.markWords(std::size_t(all.place(m_plan->fusedNodes[0])), Mark::Slow);
    QVERIFY2(words.contains("%") && words.contains("run 3"), qPrintable(words));
  }

  void badgesStandInOneRowAndNeverOnTheTitle() {
    std::vector<Mark> all;
    for (int mark = 0; mark < kMarks; ++mark) all.push_back(static_cast<Mark>(mark));
    bool anyCounted = false;
    for (const double width : {metrics::kLeastBox, 200.0, metrics::kWidestBox}) {
      for (int set = 1; set < 1 << kMarks; ++set) {
        std::vector<Mark> marks;
        for (int mark = 0; mark < kMarks; ++mark)
          if (set >> mark & 1) marks.push_back(static_cast<Mark>(mark));
        const QRectF box(100, 200, width, metrics::kBoxHeight);
        const auto placed = placeBadges(box, marks, 11, Theme::dark());
        QVERIFY(!placed.empty());
        QCOMPARE(placed.front().text, markWord(marks.front()));            // what weighs most is a word
        const QRectF title(box.left(), box.top() + 8.5, box.width(), 13);  // its letters
        std::size_t told = 0;
        for (std::size_t i = 0; i < placed.size(); ++i) {
          QVERIFY(placed[i].rect.left() >= box.left() && placed[i].rect.right() <= box.right());
          QVERIFY(!placed[i].rect.intersects(title));
          QCOMPARE(placed[i].rect.top(), placed[0].rect.top());
          for (std::size_t j = 0; j < i; ++j) QVERIFY(!placed[i].rect.intersects(placed[j].rect));
          const bool counts = placed[i].text.startsWith('+');
          anyCounted = anyCounted || counts;
          told += counts ? placed[i].text.mid(1).toULong() : 1;
        }
        QCOMPARE(told, marks.size());
      }
    }
    QVERIFY(anyCounted);
  }

  void conversionsCarryTheirCost() {
    PlanOptions options{.precisions = {DataType::F16}};
    options.directives = {parsePin("node_relu_1=f32").value()};
    assignIds(options.directives);
    const auto model = test::planSample("fp16_overflow")->plan->model;
    const auto costs = [](const Drawn& of) {
      QStringList found;
      for (const CanvasEdge& edge : of.scene->edges)
        if (!edge.cast.isEmpty()) found << edge.castCost;
      return found;
    };
    const QStringList unknown = costs(drawn(planOf(model, options)));
    QVERIFY(!unknown.isEmpty());
    for (const QString& cost : unknown) QVERIFY2(cost.endsWith("B"), qPrintable(cost));
    const ConversionPrices prices;
    const Drawn priced = drawn(planOf(model, options, &prices));
    for (const QString& cost : costs(priced)) QCOMPARE(cost, QStringLiteral("≈ ") + msText(0.012));
    const QSet<int> none;
    CanvasLook look;
    look.selected = &none;
    QStringList words;
    for (const EdgeLabel& label : placeEdgeLabels(*priced.scene, look, priced.scene->bounds, 1.0))
      if (label.cast) words << label.text;
    QVERIFY2(words.contains(QStringLiteral("f16→f32 · ≈ ") + msText(0.012)) ||
                 words.contains(QStringLiteral("f32→f16 · ≈ ") + msText(0.012)),
             qPrintable(words.join(", ")));
  }

 private:
  std::shared_ptr<const Model> modelOf(const char* text) {
    const QString path = m_folder.filePath("model.onnxtxt");
    test::writeModel(path, text);
    auto model = openModel(path.toStdString());
    if (!model.ok()) qFatal("%s", model.error().text().c_str());
    return model.value();
  }

  QTemporaryDir m_folder;
};

}  // namespace fusescope

using fusescope::ColorsTest;
FUSESCOPE_GUI_TEST(ColorsTest, 10)
#include "colors_test.moc"
