// planning/FORMAT.md names every key that plans print, and no other.
#include <cctype>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "calibration/ranges.h"
#include "passes/pipelines.h"
#include "planning/prices/price_model.h"
#include "planning/read_back/read_back_plan.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::ModelBuilder;
using testing::pin;
using testing::planned;

/// Reads the outline of a document, `{ key, list[], list_of_objects[{ key }], object{ key }, either[{ a }|{ b }] }`, as
/// paths: "list_of_objects.key".
class Outline {
 public:
  explicit Outline(std::string_view text) : m_text(text) { object(""); }
  const std::set<std::string>& paths() const { return m_paths; }
  const std::set<std::string>& open() const { return m_open; }  ///< objects of which nothing is said

 private:
  void skip() {
    while (m_at < m_text.size() && (std::isspace(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == ','))
      ++m_at;
  }
  bool take(char wanted) {
    skip();
    if (m_at == m_text.size() || m_text[m_at] != wanted) return false;
    ++m_at;
    return true;
  }
  void object(const std::string& path) {
    ASSERT_TRUE(take('{')) << "of " << path;
    bool empty = true;
    while (!take('}')) {
      ASSERT_LT(m_at, m_text.size()) << "the outline ends within " << path;
      empty = false;
      entry(path.empty() ? path : path + ".");
    }
    if (empty) m_open.insert(path);
  }
  void entry(const std::string& before) {
    std::string key = before;
    while (m_at < m_text.size() && (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '_'))
      key += m_text[m_at++];
    ASSERT_NE(key, before) << "no key at '" << m_text.substr(m_at, 20) << "'";
    EXPECT_TRUE(m_paths.insert(key).second) << key << " is there twice";
    if (m_at < m_text.size() && m_text[m_at] == '{') return object(key);
    if (!take('[')) return;
    while (!take(']')) {
      take('|');
      object(key);
    }
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::set<std::string> m_paths, m_open;
};

/// The paths of all keys in `json`, but below those that are open or documents of their own.
void collect(const Json& json, const std::string& path, const std::set<std::string>& opaque,
             std::set<std::string>& into) {
  if (opaque.contains(path)) return;
  if (json.is_array())
    for (const Json& entry : json) collect(entry, path, opaque, into);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    const std::string own = path.empty() ? key : path + "." + key;
    into.insert(own);
    collect(value, own, opaque, into);
  }
}

/// Of the section whose heading begins so.
std::string outlineOf(std::string_view heading) {
  const std::string text = readTextFile(FUSESCOPE_SOURCE_DIR "/core/planning/FORMAT.md").value();
  const std::size_t section = text.find(heading);
  const std::size_t begin = text.find("```\n{", section), end = text.find("```", begin + 4);
  if (section == std::string::npos || begin == std::string::npos || end == std::string::npos) return {};
  return text.substr(begin + 4, end - begin - 4);
}

/// Two products around an operator that falls back, one pinned.
std::shared_ptr<const Plan> mixedPlan() {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId first =
      b.node("Relu", "relu", {b.node("MatMul", "first", {x, b.weight("w1", {8, 8})}, {4, 8})}, {4, 8});
  const ValueId middle = b.node("Neg", "middle", {first}, {4, 8});
  b.output(b.node("MatMul", "last", {middle, b.weight("w2", {8, 8})}, {4, 8}));
  PlanOptions options{
      .compiler = "onnxruntime",
      .target = "cpu:avx2",
      .precisions = {DataType::F16},
      .directives = {testing::withId(pin("relu=f32"), "1"), testing::withId(fallbackDirective("middle"), "2")}};
  options.support = std::make_shared<const CompilerSupport>(CompilerSupport{{{.node = "relu", .isAccepted = true}}});
  return planned(b.build(), options);
}

/// A product of integers, and one whose weights alone are.
std::shared_ptr<const Plan> quantizedPlan() {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId first = b.node("MatMul", "first", {x, b.weight("w1", {8, 8})}, {4, 8});
  b.output(b.node("MatMul", "last", {b.node("Exp", "middle", {first}, {4, 8}), b.weight("w2", {8, 8})}, {4, 8}));
  Ranges ranges;
  ranges.edges["x"] = {{-1, 1}};
  PlanOptions options{.target = "cpu:avx2", .precisions = {DataType::I8}};
  options.ranges = std::make_shared<const Ranges>(ranges);
  options.weightOnly = {DataType::I8, 4};
  return planned(b.build(), options);
}

/// Inputs, constants and results of int64, one constant too large for int32.
std::shared_ptr<const Plan> truncatedPlan() {
  ModelBuilder b;
  const ValueId x = b.input("x", {2}, DataType::I64);
  const ValueId sum = b.node("Add", "small", {x, b.constant("two", Tensor::ofInt64({2, 2}))}, {2}, DataType::I64);
  const ValueId large = b.constant("large", Tensor::ofInt64({std::int64_t{1} << 40, 1}));
  b.output(b.node("Add", "sum", {sum, large}, {2}, DataType::I64));
  const ValueId f = b.input("f", {2});
  b.output(b.node("Cast", "made", {f}, {2}, DataType::I64, {{"to", std::int64_t{7}}}));
  auto model = std::make_shared<Model>(*b.build());
  model->inputSpecs.push_back({.name = "x", .dtype = DataType::I64, .min = {2}, .opt = {2}, .max = {2}});
  return planned(model, {.target = "tensorrt-8"});
}

/// A body that reads a constant of int64 from outside.
std::shared_ptr<const Plan> capturingPlan() {
  auto graph = parseGraph(R"(graph "g" {
    input %c: bool[]
    input %i: int64[4]
    const %one: int64[1] = [1]
    %y: int64[4] = If(%c) <else_branch=body (%i) graph "e" { input %i: int64[4]
        %e: int64[4] = Identity(%i) {name="same", origins=[0]}
        output %e }, then_branch=body (%i, %one) graph "t" {
        input %i: int64[4]
        input %one: int64[1]
        %s: int64[4] = Add(%i, %one) {name="more", origins=[0]}
        output %s }> {name="the_if", origins=[0]}
    output %y
  })");
  EXPECT_TRUE(graph.ok());
  Model model;
  model.graph = graph.value();
  model.origins.push_back({"the_if", "If", ""});
  return planned(std::make_shared<const Model>(std::move(model)), {.target = "tensorrt-8"});
}

/// One millisecond for everything.
class UnitPrices : public PriceModel {
 public:
  std::vector<Price> kernels(const Plan& plan) const override {
    return std::vector<Price>(plan.fusedNodes.size(), conversion(DataType::F32, DataType::F32, 1));
  }
  std::vector<Price> kernelsAt(const Plan& plan, const std::map<std::string, Dims>&) const override {
    return kernels(plan);
  }
  Price conversion(DataType, DataType, std::int64_t) const override {
    return {.ms = 1.0, .how = PriceSource::Measured};
  }
};

const UnitPrices kUnitPrices;

/// Priced: an If that is accelerated, with a node in each branch, and inputs that are taken to be of equal extents.
std::shared_ptr<const Plan> branchingPlan() {
  auto imported = test::importText(
      "g (bool c, float[2, 4] x, float[m, 4] p, float[n, 4] q) => (float[2, 4] y, float[k, 4] s) {"
      "  s = Add (p, q)"
      "  [choose] y = If (c) <then_branch = t () => (float[2, 4] t) { [calm] t = Relu (x) },"
      "    else_branch = e () => (float[2, 4] e) { e = Exp (x) }> }");
  EXPECT_TRUE(imported.ok()) << imported.error().text();
  auto model = prepareModel(std::move(imported).value());
  EXPECT_TRUE(model.ok()) << model.error().text();
  PlanOptions options = testing::cpuOptions();
  options.precisions = {DataType::F16};
  options.directives.push_back(parsePin("choose/calm=f32").value());  // answered by a decision about a node of a body
  const auto plan = makePlan(std::make_shared<const Model>(std::move(model).value()), options, &kUnitPrices);
  EXPECT_TRUE(plan.ok());
  return plan.value();
}

/// A kernel takes longer than its nodes would one by one.
class PricesOfCompany : public UnitPrices {
 public:
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices = UnitPrices::kernels(plan);
    for (const FusedNode& fused : plan.fusedNodes)
      prices[fused.id.index].ms = static_cast<double>(fused.nodes.size() * fused.nodes.size() * fused.nodes.size());
    return prices;
  }
};

/// Prices choose types, whether products of one input run together and, of `precisions` with int8, integers.
std::shared_ptr<const Plan> pricedPlan(std::vector<DataType> precisions) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  b.output(b.node("MatMul", "query", {x, b.weight("wq", {8, 8})}, {4, 8}));
  b.output(b.node("MatMul", "key", {x, b.weight("wk", {8, 8})}, {4, 8}));
  PlanOptions options{.target = "cpu:avx2", .precisions = std::move(precisions)};
  Ranges ranges;
  ranges.edges["x"] = {{-1, 1}};
  if (std::ranges::find(options.precisions, DataType::I8) != options.precisions.end())
    options.ranges = std::make_shared<const Ranges>(ranges);
  const PricesOfCompany prices;
  const auto plan = makePlan(b.build(), options, &prices);
  EXPECT_TRUE(plan.ok());
  return plan.value();
}

TEST(PlanFormat, NamesEveryKeyThatIsPrintedAndNoOther) {
  const std::string text = outlineOf("## Plans: ");
  ASSERT_FALSE(text.empty()) << "FORMAT.md has no outline of plans";
  const Outline outline(text);
  if (HasFatalFailure()) return;
  std::set<std::string> opaque = outline.open();
  opaque.insert({"options.directives", "fused_nodes.bodies.plan"});  // documents of their own
  std::set<std::string> printed;
  for (const auto& plan : {mixedPlan(), quantizedPlan(), truncatedPlan(), capturingPlan(), branchingPlan(),
                           pricedPlan({DataType::F32, DataType::F16}), pricedPlan({DataType::I8, DataType::F32})})
    collect(toJson(*plan), "", opaque, printed);
  for (const std::string& path : printed) EXPECT_TRUE(outline.paths().contains(path)) << path << " is not described";
  for (const std::string& path : outline.paths()) {
    if (path == "decisions.subjects.fused_node" || path == "decisions.subjects.identity") continue;  // of builds alone
    EXPECT_TRUE(printed.contains(path)) << path << " is described and never printed";
  }
}

/// Of a kernel in a region that reads a tensor and writes one in a format, and a conversion.
TEST(ReadBackPlanFormat, NamesEveryKeyThatPlansHaveNotAndNoOther) {
  const std::string text = outlineOf("## Plans that another compiler made");
  ASSERT_FALSE(text.empty()) << "FORMAT.md has no outline of plans that were read back";
  const Outline outline(text);
  if (HasFatalFailure()) return;
  const auto asked = mixedPlan();
  const Graph& graph = asked->graph();
  ReadBack told{.compiler = {.name = "onnxruntime", .version = "1", .environment = "python3"}};
  told.kernels.push_back(
      {.name = "both",
       .kind = "matmul",
       .nodes = {{*graph.findNode("first"), Certainty::Named}, {*graph.findNode("relu"), Certainty::Derived}},
       .inputs = {{.value = *graph.findValue("x"), .format = "nchw"}},
       .outputs = {{.value = *graph.findValue("relu_out"), .format = "nchw"}},
       .region = "myelin"});
  told.conversions.push_back({.value = *graph.findValue("x"), .from = "nchw", .to = "nhwc"});
  told.placement = Placement{.layers = 2, .placed = 1, .unplaced = {{.layer = "unknown", .why = "it names nothing"}}};
  const auto made = readBackPlan(asked, told);
  ASSERT_TRUE(made.ok()) << made.error().text();
  std::set<std::string> opaque = outline.open(), printed;
  opaque.insert("asked");
  const Json ofPlan = toJson(*asked), ofMade = toJson(*made.value());
  Json added = Json::object();
  for (const auto& [key, value] : ofMade.items())
    if (!ofPlan.contains(key)) added[key] = value;
  collect(added, "", opaque, printed);
  const Agreement otherwise{.edges = 1, .stored = 1, .otherTypes = {{DataType::F32, DataType::F16, 1}}};
  collect({{"agreement", toJson(otherwise)}}, "", opaque, printed);
  EXPECT_EQ(printed, outline.paths());
}

}  // namespace
}  // namespace fusescope
