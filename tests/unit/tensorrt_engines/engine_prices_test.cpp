// Times of engines are prices: a table by type, what is missing in it, and plans that have them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "planning/prices/predict_times.h"
#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/price_matrix.h"
#include "tests/support/paths.h"
#include "tests/unit/planning/plan_testing.h"
#include "tests/unit/tensorrt_engines/imported_engine.h"

namespace fusescope::test {
namespace {

using Engines = std::vector<std::pair<std::string, std::shared_ptr<const ReadBackPlan>>>;

Engines read(const std::vector<std::string>& names) {
  Engines engines;
  for (const std::string& name : names) engines.emplace_back(name, Imported(engineNamed(name)).read());
  return engines;
}

PriceMatrix matrixOf(const std::vector<std::string>& names, std::vector<DataType> types = {}) {
  auto matrix = priceMatrix(read(names), std::move(types));
  EXPECT_TRUE(matrix.ok()) << (matrix.ok() ? "" : matrix.error().text());
  return matrix.ok() ? std::move(matrix).value() : PriceMatrix();
}

std::string refusalOf(const std::vector<std::string>& names) {
  const auto matrix = priceMatrix(read(names));
  EXPECT_FALSE(matrix.ok());
  return matrix.ok() ? std::string() : matrix.error().text();
}

TEST(PriceMatrix, HasTheTimeOfEachLayerByType) {
  FUSESCOPE_REQUIRE_SHARED();
  const PriceMatrix matrix = matrixOf({"pytorch-resnet18-A100-fp32", "pytorch-resnet18-A100-fp16"});
  ASSERT_EQ(matrix.rows.size(), 23U);
  EXPECT_EQ(matrix.types, (std::vector{DataType::F32, DataType::F16}));
  double f32 = 0, f16 = 0;
  for (const PriceRow& row : matrix.rows) {
    EXPECT_TRUE(row.missing.empty()) << row.nodes.front();
    f32 += row.byType.at(DataType::F32).ms;
    f16 += row.byType.at(DataType::F16).ms;
    EXPECT_EQ(row.byType.at(DataType::F16).column, 1U);
  }
  EXPECT_NEAR(f32, *matrix.columns[0].kernelsMs, 1e-9);
  EXPECT_NEAR(f16, *matrix.columns[1].kernelsMs, 1e-9);
  EXPECT_TRUE(matrix.builds.empty());
  EXPECT_EQ(matrix.notes, std::vector<std::string>{"The files do not say on which device the engines were measured."});
}

TEST(PriceMatrix, NamesWhatIsMissingAndTheBuildsThatFillIt) {
  FUSESCOPE_REQUIRE_SHARED();
  const PriceMatrix matrix = matrixOf({"pytorch-resnet18-A100-fp16"}, {DataType::F32, DataType::F16, DataType::I8});
  ASSERT_EQ(matrix.builds.size(), 1U) << "no engine multiplies codes, so that no layer is known to";
  const EngineBuild& build = matrix.builds.front();
  EXPECT_EQ(build.type, DataType::F32);
  EXPECT_TRUE(build.nodes.empty()) << "all layers lack it";
  ASSERT_EQ(build.commands.size(), 3U);
  EXPECT_TRUE(build.commands[0].starts_with("trtexec --onnx=")) << build.commands[0];
  EXPECT_EQ(build.commands[0].find("--fp16"), std::string::npos);
  EXPECT_NE(build.commands[0].find("--profilingVerbosity=detailed"), std::string::npos);
  EXPECT_TRUE(build.commands[1].starts_with("trtexec --loadEngine=")) << build.commands[1];
  EXPECT_TRUE(build.commands[2].starts_with("fusescope import-engine ")) << build.commands[2];
}

TEST(PriceMatrix, CommandsAreThoseOfTheVersion) {
  const auto commandsFor = [](const std::string& target, DataType type, std::vector<std::string> nodes = {}) {
    return engineBuild({.path = "a model.onnx", .target = target}, type, std::move(nodes)).commands;
  };
  const auto has = [](const std::string& command, const char* part) { return command.find(part) != std::string::npos; };
  const auto ten = commandsFor("tensorrt-10", DataType::BF16);
  ASSERT_EQ(ten.size(), 3U);
  EXPECT_TRUE(has(ten[0], " --bf16 --precisionConstraints=obey '--layerPrecisions=*:bf16' ")) << ten[0];
  EXPECT_TRUE(has(ten[0], "--onnx='a model.onnx'")) << ten[0];
  const auto pinned = commandsFor("tensorrt-8", DataType::F32, {"a", "b"});
  ASSERT_EQ(pinned.size(), 3U);
  EXPECT_TRUE(has(pinned[0], " --fp16 --precisionConstraints=obey ")) << pinned[0];
  EXPECT_TRUE(has(pinned[0], "--layerPrecisions=a:fp32,b:fp32")) << pinned[0];
  EXPECT_TRUE(commandsFor("tensorrt-8", DataType::F32, {"a,b"}).empty()) << "a list of trtexec takes the name apart";
  const auto eleven = commandsFor("tensorrt-11", DataType::F32, {"a"});
  ASSERT_EQ(eleven.size(), 4U);
  EXPECT_TRUE(has(eleven[0], "--precision f16 --pin ")) << eleven[0];
  EXPECT_TRUE(has(eleven[0], "a=f32:obey")) << eleven[0];
  EXPECT_FALSE(has(eleven[1], "--layerPrecisions") || has(eleven[1], "--fp16")) << "they are gone in 11";
  const auto integers = commandsFor("tensorrt-10", DataType::I8);
  ASSERT_EQ(integers.size(), 5U);
  EXPECT_TRUE(has(integers[1], "--precision int8 --ranges ")) << integers[1];
  EXPECT_TRUE(has(integers[2], " --stronglyTyped ")) << integers[2];
}

TEST(PriceMatrix, RefusesWhatMakesNoTable) {
  FUSESCOPE_REQUIRE_SHARED();
  EXPECT_NE(refusalOf({"trt10.16-mnist"}).find("no times of kernels"), std::string::npos);
  EXPECT_NE(refusalOf({"pytorch-resnet18-A100-fp16", "trt10-onnx-resnet18-fp16"}).find("other extents"),
            std::string::npos);
  EXPECT_NE(refusalOf({"trt10-onnx-resnet18-fp16", "trt10-onnx-alexnet-fp16"}).find("another network"),
            std::string::npos);
  EngineImport request;
  request.files.layers = data(engineNamed("trt10-onnx-resnet18-fp16").layers);
  const auto alone = importEngine(request);
  ASSERT_TRUE(alone.ok());
  const auto matrix = priceMatrix({{"layers.json", alone.value().made}});
  ASSERT_FALSE(matrix.ok());
  EXPECT_NE(matrix.error().text().find("was only drawn from its layers"), std::string::npos) << matrix.error().text();
}

/// Prices that are kept are kept in a folder of the test's own: cases run beside each other.
class EnginePrices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* folder = std::getenv("FUSESCOPE_CACHE")) m_usual = folder;
    ::setenv("FUSESCOPE_CACHE", m_folder.path().c_str(), 1);
  }
  void TearDown() override {
    if (m_usual) {
      ::setenv("FUSESCOPE_CACHE", m_usual->c_str(), 1);
    } else {
      ::unsetenv("FUSESCOPE_CACHE");
    }
  }

  static std::shared_ptr<const Plan> planned(const ReadBackPlan& made, std::vector<DataType> precisions,
                                             const std::string& target = {}) {
    PlanOptions options{.target = target.empty() ? made.options.target : target, .precisions = std::move(precisions)};
    options.support = made.options.support;
    const auto prices = pricesFor("native", options.target, *made.model);
    auto plan = makePlan(made.model, options, prices.get());
    EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text());
    return plan.ok() ? std::move(plan).value() : nullptr;
  }

 private:
  TemporaryFolder m_folder;
  std::optional<std::string> m_usual;
};

TEST_F(EnginePrices, ArePricesOfPlansForThatTarget) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto f16 = Imported(engineNamed("pytorch-resnet18-A100-fp16")).read();
  ASSERT_NE(f16, nullptr);
  EXPECT_EQ(pricesFor("native", f16->options.target, *f16->model), nullptr) << "nothing is kept yet";
  ASSERT_TRUE(keepEnginePrices(enginePrices(*f16).value()).ok());
  const auto plan = planned(*f16, {DataType::F16});
  std::size_t measured = 0;
  for (const FusedNode& fused : plan->fusedNodes) {
    if (fused.predictedHow != PriceSource::Measured) continue;
    ++measured;
    const auto made = std::ranges::find(f16->fusedNodes, fused.identity, &FusedNode::identity);
    if (made == f16->fusedNodes.end()) continue;  // the engine has no kernel there, and needs none
    EXPECT_EQ(fused.predictedMs, f16->kernels[made->id.index].ms) << fused.name;
  }
  EXPECT_GE(measured, 20U);
  const auto prices = pricesOf(*plan, "native");
  ASSERT_NE(prices, nullptr);
  const std::vector<std::string> origins = priceOrigins(*plan, *prices);
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_NE(origins.front().find("tensorrt 8.4 or later"), std::string::npos) << origins.front();
  // A number of f16 is none of f32, and none of another target.
  for (const auto& other : {planned(*f16, {}), planned(*f16, {DataType::F16}, "tensorrt-10")})
    for (const FusedNode& fused : other->fusedNodes)
      EXPECT_TRUE(!fused.predictedMs || *fused.predictedMs == 0) << fused.name;
}

TEST_F(EnginePrices, AreNoPricesAtOtherExtents) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto f16 = Imported(engineNamed("pytorch-resnet18-A100-fp16")).read();
  ASSERT_NE(f16, nullptr);
  EnginePriceTable table = enginePrices(*f16).value();
  table.extents.begin()->second = {1, 3, 224, 224};
  ASSERT_TRUE(keepEnginePrices(std::move(table)).ok());
  const auto plan = planned(*f16, {DataType::F16});
  for (const FusedNode& fused : plan->fusedNodes) EXPECT_FALSE(fused.predictedMs) << fused.name;
}

TEST_F(EnginePrices, ChooseTypesWhereSeveralAreAllowed) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto f16 = Imported(engineNamed("pytorch-resnet18-A100-fp16")).read();
  ASSERT_NE(f16, nullptr);
  // The same engine, as if it had calculated in f32 and one kernel had been faster so.
  EnginePriceTable fast = enginePrices(*f16).value(), slow = fast;
  for (PricedKernel& kernel : slow.kernels) {
    kernel.compute = DataType::F32;
    kernel.ms *= kernel.name == "MaxPool_2" ? 0.01 : 3;
    kernel.moved.clear();
  }
  for (PricedKernel& kernel : fast.kernels) kernel.moved.clear();
  fast.conversions = {};
  for (const auto& [from, to] : {std::pair{DataType::F32, DataType::F16}, std::pair{DataType::F16, DataType::F32}})
    for (const ValueId value : f16->graph().allValues())
      if (const auto dims = f16->graph().value(value).type.shape.fixed())
        fast.conversions.push_back({.from = from, .to = to, .elements = *elementCount(*dims), .ms = 1e-6});
  ASSERT_TRUE(keepEnginePrices(fast).ok() && keepEnginePrices(slow).ok());
  const auto plan = planned(*f16, {DataType::F32, DataType::F16});
  const FusedNode& pool = *plan->fusedNodeOf(*plan->graph().findNode("MaxPool_2"));
  const FusedNode& conv = *plan->fusedNodeOf(*plan->graph().findNode("Conv_3"));
  EXPECT_EQ(pool.compute, DataType::F32);
  EXPECT_EQ(conv.compute, DataType::F16);
}

TEST_F(EnginePrices, OfTwoDevicesOneCounts) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto f16 = Imported(engineNamed("pytorch-resnet18-A100-fp16")).read();
  ASSERT_NE(f16, nullptr);
  EnginePriceTable one = enginePrices(*f16).value(), other = one;
  one.origin.device = "card one";
  other.origin.device = "card two";
  one.kernels.resize(one.kernels.size() / 2);  // each would have what the other lacks
  other.kernels.erase(other.kernels.begin(), other.kernels.begin() + static_cast<std::ptrdiff_t>(one.kernels.size()));
  ASSERT_TRUE(keepEnginePrices(one).ok() && keepEnginePrices(other).ok());
  const auto plan = planned(*f16, {DataType::F16});
  const auto prices = pricesOf(*plan, "native");
  ASSERT_NE(prices, nullptr);
  std::set<std::string> devices;
  for (const Price& price : prices->kernels(*plan))
    if (price.ms) devices.insert(price.from.substr(price.from.find("card"), 8));
  EXPECT_EQ(devices.size(), 1U) << "no plan has times of two devices";
}

TEST_F(EnginePrices, AreKeptListedAndForgotten) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto f16 = Imported(engineNamed("pytorch-resnet18-A100-fp16")).read();
  ASSERT_NE(f16, nullptr);
  EnginePriceTable table = enginePrices(*f16).value();
  const auto again = enginePricesFromJson(toJson(table));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(toJson(again.value()), toJson(table));
  ASSERT_TRUE(keepEnginePrices(table).ok());
  table.kernels.front().ms *= 2;  // the same engine, measured again
  ASSERT_TRUE(keepEnginePrices(table).ok());
  EXPECT_EQ(keptEnginePrices().size(), 1U) << "the same is kept once";
  EXPECT_FALSE(keptEnginePrices().front().origin.kept.empty());
  EXPECT_EQ(forgetEnginePrices("another.onnx").value(), 0U);
  EXPECT_EQ(forgetEnginePrices(table.model).value(), 1U);
  EXPECT_TRUE(keptEnginePrices().empty());
  for (const char* damaged : {"[]", "{}", R"({"format": "fusescope.engine_prices", "version": 2})",
                              R"({"format": "fusescope.engine_prices", "version": 1, "model_hash": "", "kernels": [],
                                  "origin": {"compiler": "c"}})",
                              R"({"format": "fusescope.engine_prices", "version": 1, "model_hash": "",
                                  "origin": {"compiler": "c", "target": "t"},
                                  "kernels": [{"identity": "i", "ms": -1}]})"})
    EXPECT_FALSE(enginePricesFromJson(Json::parse(damaged)).ok()) << damaged;
}

}  // namespace
}  // namespace fusescope::test
