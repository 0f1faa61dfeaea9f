#include <algorithm>
#include <chrono>

#include "backends/threads.h"
#include "base/json.h"
#include "engine/kernels/host_machine.h"
#include "engine/kernels/region_key.h"
#include "engine/tactics/timing_price_model.h"
#include "planning/plan_json.h"
#include "planning/prices/predict_times.h"
#include "planning/prices/price_model.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

class PriceModelTest : public ::testing::Test {
 protected:
  /// Builds the network and so fills the cache.
  void build(const PlanOptions& options = {}) {
    m_engine = engineOf(planOf(m_model, options), {.threads = 1, .timingCache = m_cache});
  }
  std::shared_ptr<const Plan> predicted(const PlanOptions& options = {}, int threads = 1) {
    const auto prices = openPriceModel(m_cache, "native", threads);
    EXPECT_NE(prices, nullptr);
    auto plan = makePlan(m_model, options, prices.get());
    EXPECT_TRUE(plan.ok());
    return plan.value();
  }
  /// Other work may disturb what a build measures; each build measures again what was not measured with confidence.
  template <class Condition>
  void buildUntil(const Condition& known, const PlanOptions& options = {}) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);  // of patience: it takes milliseconds
    do build(options);
    while (!known() && std::chrono::steady_clock::now() < end);
  }
  std::shared_ptr<TimingCache> cache() { return TimingCache::open(m_cache).value(); }

  TemporaryFolder m_folder;
  std::filesystem::path m_cache = m_folder / "timings.sqlite";
  std::shared_ptr<const Model> m_model = smallNetwork();
  std::unique_ptr<Engine> m_engine;
};

KernelRequest requestOf(const Plan& plan, const FusedNode& fused) {
  const auto extents = std::map<std::string, Dims>{{"x", {2, 4}}};
  return KernelRequests::create(plan, extents, 1).value().of(fused).value();
}

TEST_F(PriceModelTest, PredictsWhatABuildMeasured) {
  EXPECT_EQ(openPriceModel(m_cache, "native"), nullptr) << "nothing was built yet";
  buildUntil([&] { return predicted()->predictedMs.has_value(); });
  const auto plan = predicted();
  double sum = 0;
  for (const FusedNode& fused : plan->fusedNodes) {
    ASSERT_TRUE(fused.predictedMs.has_value()) << fused.name;
    EXPECT_GT(*fused.predictedMs, 0);
    EXPECT_EQ(fused.predictedHow, PriceSource::Measured);
    EXPECT_LE(fused.predictedSpread, kConfidentSpread);
    sum += *fused.predictedMs;
  }
  EXPECT_EQ(plan->predictedMs, std::optional(sum));
  EXPECT_EQ(toJson(*plan).dump(), toJson(*predicted()).dump()) << "equal measurements, equal bytes";
  const auto prices = openPriceModel(m_cache, "native", 1)->kernels(*plan);
  EXPECT_EQ(prices[0].from, "this machine, 1 thread, " + measurementDay());
}

TEST_F(PriceModelTest, OtherCircumstancesAreNotPredicted) {
  build();
  EXPECT_EQ(predicted({}, 7)->predictedMs, std::nullopt) << "measured with one thread";
  const auto split = predicted({.directives = {splitDirective("add_bias")}});
  EXPECT_EQ(split->predictedMs, std::nullopt) << "other kernels than were built";
  const auto planned = predicted({.target = "tensorrt-10"});
  EXPECT_EQ(planned->predictedMs, std::nullopt) << "this machine is not its target";
}

TEST_F(PriceModelTest, NothingEmulatedIsKeptOrPredicted) {
  for (const char* target : {"cpu", "cpu:avx512+avx512_fp16+avx512_bf16"}) {
    for (const DataType type : {DataType::F16, DataType::BF16}) {
      const PlanOptions options{.target = target, .precisions = {type}};
      m_engine = engineOf(planOf(m_model, options), {.backend = "reference", .threads = 1, .timingCache = m_cache});
      const auto prices = openPriceModel(m_cache, "reference", 1);
      const auto plan = makePlan(m_model, options, prices.get()).value();
      EXPECT_EQ(plan->predictedMs, std::nullopt);
      for (const FusedNode& fused : plan->fusedNodes) EXPECT_EQ(fused.predictedMs, std::nullopt) << fused.name;
      const Json json = toJson(*plan);
      EXPECT_TRUE(json["fused_nodes"][0]["predicted_how"].is_null());
      EXPECT_EQ(json["predicted"]["unknown"], plan->fusedNodes.size() + plan->casts.size()) << "nor a conversion";
    }
  }
}

TEST_F(PriceModelTest, NarrowFloatsArePricedOnEveryCpu) {
  for (const DataType type : {DataType::F16, DataType::BF16}) {
    const PlanOptions options{.target = "cpu:none", .precisions = {type}};
    const auto known = [&] {  // what was disturbed is measured again by the next build
      const auto plan = predicted(options);
      return plan->predictedMs && std::ranges::all_of(plan->fusedNodes, [](const FusedNode& fused) {
               return fused.predictedHow == PriceSource::Measured;
             });
    };
    buildUntil(known, options);
    const auto plan = predicted(options);
    for (const FusedNode& fused : plan->fusedNodes) EXPECT_EQ(fused.predictedHow, PriceSource::Measured) << fused.name;
  }
}

TEST_F(PriceModelTest, ConversionsThatNativeRunsAreMeasuredAndPriced) {
  const PlanOptions options{.precisions = {DataType::F16}};
  const auto unpriced = [&] {
    return std::ranges::any_of(predicted(options)->casts, [](const PlannedCast& cast) { return !cast.predictedMs; });
  };
  buildUntil([&] { return !unpriced(); }, options);
  const auto plan = predicted(options);
  ASSERT_FALSE(plan->casts.empty());
  for (const PlannedCast& cast : plan->casts) {
    ASSERT_TRUE(cast.predictedMs.has_value()) << name(cast.from) << " to " << name(cast.to);
    EXPECT_GT(*cast.predictedMs, 0);
    EXPECT_EQ(cast.predictedHow, PriceSource::Measured);
  }
  const auto prices = openPriceModel(m_cache, "native", 1);
  EXPECT_EQ(prices->conversion(DataType::F32, DataType::BF16, 8).ms, std::nullopt) << "nothing converted to bf16";
  for (const auto& [from, to] : {std::pair(DataType::F32, DataType::F16), std::pair(DataType::F16, DataType::F32)})
    EXPECT_TRUE(
        cache()->find(conversionTimeKey({from, {1 << 13}}, {to, {1 << 13}}, timingContext(*findBackend("native"), 1))))
        << "as a plan under pins may need it";
  EXPECT_EQ(prices->conversion(DataType::F32, DataType::F8E4M3, 8).ms, std::nullopt) << "the reference imitates it";
}

TEST_F(PriceModelTest, ConversionsAreFittedOverTheirElements) {
  const Backend& native = *findBackend("native");
  const TimingContext context = timingContext(native, 1);
  const auto store = [&](DataType to, std::int64_t elements) {
    const TensorDesc from{DataType::F32, {elements}}, desc{to, {elements}};
    cache()->store(conversionTimeKey(from, desc, context), {.ms = 0.001 + 1e-6 * static_cast<double>(elements)},
                   conversionWorkload(DataType::F32, to, elements, context));
  };
  for (std::int64_t i = 1; i <= 6; ++i) store(DataType::F16, 1000 * i);
  const auto prices = openPriceModel(m_cache, "native", 1);
  const Price between = prices->conversion(DataType::F32, DataType::F16, 2500);
  EXPECT_EQ(between.how, PriceSource::Fitted);
  EXPECT_NEAR(between.ms.value(), 0.0035, 1e-8);
  EXPECT_LT(between.spread, 0.01);
  EXPECT_EQ(between.from, "this machine, 1 thread, fitted to 6 measurements");
  EXPECT_EQ(prices->conversion(DataType::F32, DataType::F16, 2000).how, PriceSource::Measured);
  EXPECT_EQ(prices->conversion(DataType::F32, DataType::BF16, 2500).how, PriceSource::Unknown) << "another series";
}

TEST_F(PriceModelTest, AKernelIsFittedToOthersOfItsKindAndType) {
  const auto plan = planOf(m_model);
  const FusedNode& fused = plan->fusedNodes.front();
  const KernelRequest request = requestOf(*plan, fused);
  const TimingContext context = timingContext(*plan, *findBackend("native"), 1);
  const auto own = regionWorkload(request, context);
  ASSERT_TRUE(own.has_value());
  ASSERT_GT(own->work, 0);
  for (int i = 1; i <= 6; ++i) {
    Workload other = *own;
    other.work *= i;
    cache()->store("another region " + std::to_string(i), {.ms = 0.25 * i}, other);
  }
  const auto fitted = predicted();
  EXPECT_EQ(fitted->fusedNodes.front().predictedHow, PriceSource::Fitted);
  EXPECT_NEAR(fitted->fusedNodes.front().predictedMs.value(), 0.25, 1e-6);
  EXPECT_EQ(toJson(*fitted)["fused_nodes"][0]["predicted_how"], "fitted");
  const auto lowered = predicted({.precisions = {DataType::F16}});
  for (const FusedNode& other : lowered->fusedNodes) EXPECT_EQ(other.predictedMs, std::nullopt) << "another type";

  // Measured itself, but the samples did not agree: the fit holds. Where they agree, they do.
  const std::string key = regionTimeKey(regionKey(request), context);
  cache()->store(key, {.ms = 7, .spread = 3 * kConfidentSpread});
  EXPECT_EQ(predicted()->fusedNodes.front().predictedHow, PriceSource::Fitted);
  cache()->store(key, {.ms = 7, .spread = 0.1});
  EXPECT_EQ(predicted()->fusedNodes.front().predictedMs, std::optional(7.0));
  EXPECT_EQ(predicted()->fusedNodes.front().predictedHow, PriceSource::Measured);
}

TEST_F(PriceModelTest, AConvolutionOfCodesIsPricedLikeOneOfDequantisedOperands) {
  const std::string constants = R"(
    input %x: uint8[1, 4, 6, 6]
    const %s: f32[] = [0.1]
    const %z: uint8[] = [0]
    const %w: int8[2, 4, 1, 1] = [1, 2, 3, 4, 5, 6, 7, 8]
    const %wz: int8[] = [0]
)";
  const auto seriesOf = [](const std::shared_ptr<const Model>& model) {
    const auto plan = planOf(model);
    EXPECT_EQ(plan->fusedNodes.size(), 1U);
    const auto requests = KernelRequests::create(*plan, {{"x", {1, 4, 6, 6}}}, 1);
    const KernelRequest request = requests.value().of(plan->fusedNodes.front()).value();
    return regionWorkload(request, timingContext(*plan, *findBackend("native"), 1))->series;
  };
  const std::string written = seriesOf(modelOfText(constants + R"(
    %y: uint8[1, 2, 6, 6] = QLinearConv(%x, %s, %z, %w, %s, %wz, %s, %z) {name="product"}
    output %y
)"));
  EXPECT_EQ(written, seriesOf(modelOfText(constants + R"(
    %xf: f32[1, 4, 6, 6] = DequantizeLinear(%x, %s, %z) {name="dx"}
    %wf: f32[2, 4, 1, 1] = DequantizeLinear(%w, %s, %wz) {name="dw"}
    %c: f32[1, 2, 6, 6] = Conv(%xf, %wf) {name="product"}
    %y: uint8[1, 2, 6, 6] = QuantizeLinear(%c, %s, %z) {name="q"}
    output %y
)")));
  EXPECT_NE(written.find("int8"), std::string::npos) << written;
}

TEST_F(PriceModelTest, AKernelOfMixedFloatsIsFittedToTheSameInOneType) {
  const PlanOptions narrow{.precisions = {DataType::F16}};
  PlanOptions pinned = narrow;
  pinned.directives = {parsePin("matmul=f32").value()};
  const auto pure = planOf(m_model), mixed = planOf(m_model, pinned);
  const FusedNode* kernel = nullptr;  // calculates in f32 and leaves f16
  for (const FusedNode& fused : mixed->fusedNodes)
    if (fused.compute == DataType::F32 && fused.outputs.front().type == DataType::F16) kernel = &fused;
  ASSERT_NE(kernel, nullptr);
  const KernelRequest request = requestOf(*mixed, *kernel);
  const TimingContext context = timingContext(*mixed, *findBackend("native"), 1);
  const auto same = pureKernelOf(request, regionKey(request));
  ASSERT_TRUE(same.has_value());
  EXPECT_TRUE(runsAsOne(*findBackend("native"), request));
  const FusedNode& whole = *pure->fusedNodeOf(kernel->root);
  EXPECT_EQ(same->region, regionKey(requestOf(*pure, whole))) << "the kernel of the plan in f32";
  EXPECT_EQ(same->foreignBytes, request.values.at(kernel->outputs.front().value).bytes());
  for (const auto& plan : {pure, planOf(m_model, narrow)})
    for (const FusedNode& fused : plan->fusedNodes) {
      const KernelRequest own = requestOf(*plan, fused);
      EXPECT_FALSE(pureKernelOf(own, regionKey(own)).has_value()) << fused.name << " is of one type";
    }

  const auto price = [&] { return openPriceModel(m_cache, "native", 1)->kernels(*mixed)[kernel->id.index]; };
  cache()->store(regionTimeKey(same->region, context), {.ms = 3, .spread = 0.1});
  EXPECT_EQ(price().how, PriceSource::Fitted);
  EXPECT_EQ(price().ms, 3.0) << "as the pure kernel, where no mixed one was measured";
  EXPECT_EQ(price().spread, kMostFitError);
  for (int i = 1; i <= 6; ++i)
    cache()->store("mixed " + std::to_string(i), {.ms = 1.25 * i + 0.001 * (7 - i)},
                   mixedWorkload(request, i, 32.0 * (7 - i), true, context));
  EXPECT_EQ(price().how, PriceSource::Fitted);
  EXPECT_NEAR(price().ms.value(), 3.75 + 0.001 / 32 * same->foreignBytes, 0.01)
      << "a quarter more, and what is foreign";
  EXPECT_LT(price().spread, 0.1);
  cache()->store(regionTimeKey(regionKey(request), context), {.ms = 5, .spread = 0.1});
  EXPECT_EQ(price().how, PriceSource::Measured);
}

TEST_F(PriceModelTest, BuildsTeachWhatMixedKernelsTake) {
  PlanOptions pinned{.precisions = {DataType::F16}};
  pinned.directives = {parsePin("matmul=f32").value()};
  const auto mixed = planOf(m_model, pinned);
  const TimingContext context = timingContext(*mixed, *findBackend("native"), 1);
  const auto learnt = [&] {
    std::size_t samples = 0;
    for (const FusedNode& fused : mixed->fusedNodes) {
      const KernelRequest request = requestOf(*mixed, fused);
      samples += cache()->find(mixedTimeKey(regionKey(request), context)).has_value() ? 1 : 0;
    }
    return samples;
  };
  build(pinned);
  EXPECT_EQ(learnt(), 0U) << "the same kernels in one type were not measured";
  m_cache = m_folder / "other.sqlite";
  for (int i = 0; i < 5 && learnt() == 0; ++i)
    for (const PlanOptions& options : {PlanOptions{}, PlanOptions{.precisions = {DataType::F16}}, pinned})
      build(options);
  EXPECT_GT(learnt(), 0U);
}

TEST_F(PriceModelTest, AnEmulatedKernelIsNotFittedToRealOnes) {
  // Computes in float32 and leaves one byte floats: the series is that of real kernels, the reference runs it.
  auto broken = *planOf(m_model);
  broken.fusedNodes.front().outputs.front().type = DataType::F8E4M3;
  broken.index();
  const FusedNode& fused = broken.fusedNodes.front();
  const TimingContext context = timingContext(broken, *findBackend("native"), 1);
  const auto own = regionWorkload(requestOf(broken, fused), context);
  for (int i = 1; i <= 6; ++i) {
    Workload other = *own;
    other.work *= i;
    cache()->store("another region " + std::to_string(i), {.ms = 0.25 * i}, other);
  }
  EXPECT_EQ(openPriceModel(m_cache, "native", 1)->kernels(broken).front().how, PriceSource::Unknown);
}

/// The key of a region's time before it named the machine; what it held may be the emulator's.
std::string firstRegionTimeKey(const KernelRequest& request, const Backend& backend) {
  std::string capabilities;
  for (const std::string& capability : request.plan->target.capabilities)
    capabilities += (capabilities.empty() ? "" : "+") + capability;
  KeyBuilder key;
  key.text("fusescope.region_time.1").text(regionKey(request)).text(capabilities);
  key.text(std::string(backend.name()) + " " + "4 onednn 3.2.0").number(1);
  return key.canonical();
}

TEST_F(PriceModelTest, TimesUnderKeysOfEarlierVersionsAreNotBelieved) {
  for (const PlanOptions& options : {PlanOptions{}, PlanOptions{.precisions = {DataType::F16}}}) {
    const auto plan = planOf(m_model, options);
    for (const FusedNode& fused : plan->fusedNodes)
      cache()->store(firstRegionTimeKey(requestOf(*plan, fused), *findBackend("native")), {.ms = 0.001});
    const auto again = predicted(options);
    for (const FusedNode& fused : again->fusedNodes) EXPECT_EQ(fused.predictedMs, std::nullopt);
  }
}

TEST_F(PriceModelTest, KeysNameTheMachineThatRuns) {
  const Backend& native = *findBackend("native");
  const auto here = planOf(m_model), elsewhere = planOf(m_model, {.target = "cpu:avx2+avx512+amx_bf16"});
  const TimingContext context = timingContext(*here, native, 1);
  EXPECT_EQ(context.fingerprint, timingContext(*elsewhere, native, 1).fingerprint) << "whatever a plan is for";
  TimingContext other = context;
  other.fingerprint = "another CPU";
  EXPECT_NE(regionTimeKey("region", context), regionTimeKey("region", other));
  EXPECT_NE(timingKey("region", {.name = "t"}, context), timingKey("region", {.name = "t"}, other));
}

TEST_F(PriceModelTest, TheFingerprintHoldsAllThatATimeDependsOn) {
  std::map<std::string, std::string> parts;
  for (const auto& [name, text] : findBackend("native")->fingerprint().parts) parts[name] = text;
  for (const char* part :
       {"cpu", "caches", "cores", "capabilities", "compiler", "build", "threads", "kernels", "oneDNN"})
    EXPECT_FALSE(parts[part].empty()) << part;
  EXPECT_NE(parts["oneDNN"].find("isa "), std::string::npos) << "what it really uses: " << parts["oneDNN"];
  EXPECT_NE(parts["kernels"].find("Highway "), std::string::npos) << parts["kernels"];
  EXPECT_EQ(parts["cores"], std::to_string(hardwareThreads()));
  EXPECT_NE(timingContext(*findBackend("native"), 1).fingerprint.find(parts["cpu"]), std::string::npos);
}

TEST_F(PriceModelTest, SeveralTypesStayUndecidedWhereOneAloneIsMeasured) {
  build();
  const auto plan = predicted({.precisions = {DataType::F16, DataType::BF16}});
  for (const PrecisionGrant& grant : plan->precisionMap) {
    EXPECT_EQ(grant.granted, DataType::F32);
    EXPECT_EQ(codeOf(grant.reason), "precision.not_measured");
  }
}

/// bf16 is said to be fast everywhere.
class FastBrain : public PriceModel {
 public:
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes)
      prices.push_back({.ms = fused.compute == DataType::BF16 ? 1.0 : 2.0, .how = PriceSource::Measured});
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t) const override {
    return {.ms = 0.125, .how = PriceSource::Fitted, .spread = 0.25};
  }
};

TEST_F(PriceModelTest, WhatWasChosenByMeasurementsIsReadBack) {
  const FastBrain prices;
  const auto plan = makePlan(m_model, {.precisions = {DataType::F16, DataType::BF16}}, &prices);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(codeOf(plan.value()->precisionMap.front().reason), "precision.measured");
  const Json json = toJson(*plan.value());
  const auto again = planFromJson(json, m_model);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again.value()->precisionMap.front().granted, DataType::BF16);
  const bool runsBrain = plan.value()->target.hardwareTypes.contains(DataType::BF16);
  for (const FusedNode& fused : again.value()->fusedNodes)
    EXPECT_EQ(fused.predictedMs.has_value(), runsBrain) << "a type that is not run has no time, whatever a file says";
  for (const PlannedCast& cast : again.value()->casts) {
    EXPECT_EQ(cast.predictedMs, std::optional(0.125));
    EXPECT_EQ(cast.predictedHow, PriceSource::Fitted);
    EXPECT_EQ(cast.predictedSpread, 0.25);
  }

  const auto engine = engineOf(plan.value(), {.backend = "reference", .threads = 1, .measureTactics = false});
  ASSERT_TRUE(engine->save(m_folder / "e.fse").ok());
  const auto loaded = openEngineFile(m_folder / "e.fse");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(toJson(*loaded.value().plan).dump(), toJson(*again.value()).dump());
}

TEST_F(PriceModelTest, RecordedPricesOfThisVersionAreReadBackAndOlderOnesAreNot) {
  const FastBrain prices;
  const auto plan = makePlan(m_model, {}, &prices);
  ASSERT_TRUE(plan.ok());
  Json json = toJson(*plan.value());
  const auto again = planFromJson(json, m_model);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(toJson(*again.value()).dump(), json.dump());

  json["version"] = 1;  // which said nothing of how a time was known
  for (Json& fused : json["fused_nodes"])
    for (const char* key : {"predicted_how", "predicted_spread"}) fused.erase(key);
  const auto old = planFromJson(json, m_model);
  ASSERT_TRUE(old.ok()) << old.error().text();
  EXPECT_EQ(old.value()->predictedMs, std::nullopt);
  for (const FusedNode& fused : old.value()->fusedNodes) EXPECT_EQ(fused.predictedMs, std::nullopt) << fused.name;
}

TEST_F(PriceModelTest, WhatABodyPassesOnTakesNoStep) {
  const auto graph = parseGraph(R"(graph "main" {
    input %x: f32[4, 256]
    const %n: int64[] = [3]
    %y: f32[4, 256] = Loop(%n, _, %x) <body=body graph "b" {
        input %i: int64[]
        input %go: bool[]
        input %u: f32[4, 256]
        %on: bool[] = Identity(%go) {name="pass"}
        %v: f32[4, 256] = Softmax(%u) {name="soft"}
        output %on
        output %v }> {name="loop"}
    output %y
  })");
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  GraphEditor editor(*graph.value());
  m_model = modelOf(editor);
  buildUntil([&] { return predicted()->predictedMs.has_value(); });
  const auto plan = predicted();
  ASSERT_EQ(plan->bodies.size(), 1U);
  const Plan& body = plannedBody(plan->bodies[0]);
  EXPECT_EQ(body.findFusedNode("pass")->predictedMs, 0.0);
  const FusedNode& loop = *plan->findFusedNode("loop");
  ASSERT_TRUE(loop.bodyTime) << "all that runs in its body was measured";
  EXPECT_EQ(loop.bodyTime->iterations, 3);
  EXPECT_EQ(loop.predictedMs, 3 * *body.findFusedNode("soft")->predictedMs);
  EXPECT_EQ(loop.predictedHow, PriceSource::Measured);
}

}  // namespace
}  // namespace fusescope::testing
