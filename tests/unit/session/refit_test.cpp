// An engine with other weights is the engine that is built of them by the same tactics, or is not made at all.
#include "session/refit.h"
#include "session/open_artifact.h"
#include "session/open_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/engine_file.h"
#include "ir/graph.h"
#include "session/build_and_run.h"
#include "session/calibrate.h"
#include "session/inputs/random_inputs.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

/// "{v, v, …}": small numbers that differ, others for each seed; times `scale`.
std::string numbersOfSeed(int count, int seed, double scale = 1) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(scale * 0.01 * ((i * 37 + seed * 11) % 41 - 20.5));
  return text + "}";
}

std::string weightsNamed(const std::string& name, const std::string& dims, int count, int seed) {
  return "float[" + dims + "] " + name + " = " + numbersOfSeed(count, seed);
}

/// A network of one structure for each seed of its weights, and how it is planned.
struct RefittedNetwork {
  std::string name;
  std::string (*graph)(int seed);
  PlanOptions options{};
  std::vector<InputOverride> inputs{};
};

std::string perceptron(int seed) {
  return "g (float[4, 16] x) => (float[4, 16] y) <" + weightsNamed("w", "16, 16", 256, seed) + ", " +
         weightsNamed("b", "16", 16, seed + 1) + ", " + weightsNamed("v", "16, 16", 256, seed + 2) +
         "> { [mm] h = MatMul (x, w) [add] a = Add (h, b) [relu] r = Relu (a) [last] y = MatMul (r, v) }";
}

std::string foldedNorm(int seed) {
  return "g (float[1, 4, 8, 8] x) => (float[1, 8, 8, 8] y) <" + weightsNamed("w", "8, 4, 3, 3", 288, seed) + ", " +
         weightsNamed("s", "8", 8, seed + 1) + ", " + weightsNamed("b", "8", 8, seed + 2) + ", " +
         weightsNamed("m", "8", 8, seed + 3) + ", float[8] var = {" +
         (seed == 1 ? "1, 2, 3, 4, 5, 6, 7, 8" : "8, 7, 6, 5, 4, 3, 2, 1") +
         "}> { [conv] c = Conv <pads = [1, 1, 1, 1]> (x, w) [norm] n = BatchNormalization (c, s, b, m, var) "
         "[relu] y = Relu (n) }";
}

std::string queriesKeysValues(int seed) {
  return "g (float[1, 8, 16] x) => (float[1, 8, 16] y) <" + weightsNamed("wq", "16, 16", 256, seed) + ", " +
         weightsNamed("wk", "16, 16", 256, seed + 1) + ", " + weightsNamed("wv", "16, 16", 256, seed + 2) +
         "> { [q] q = MatMul (x, wq) [k] k = MatMul (x, wk) [v] v = MatMul (x, wv) [t] kt = Transpose <perm = [0, 2, "
         "1]> "
         "(k) [s] s = MatMul (q, kt) [p] p = Softmax (s) [o] y = MatMul (p, v) }";
}

std::string tiedTable(int seed) {
  return "g (int64[3] ids) => (float[3, 10] y) <" + weightsNamed("table", "10, 16", 160, seed) +
         "> { [embed] e = Gather (table, ids) [t] u = Transpose <perm = [1, 0]> (table) [logits] y = MatMul (e, u) }";
}

std::string loopedBody(int seed) {
  return "g (float[2, 16] x) => (float[2, 16] y) <int64 trips = {3}, bool go = {1}, " +
         weightsNamed("w", "16, 16", 256, seed) +
         "> { [loop] l = Loop (trips, go, x) <body = b (int64 i, bool c, float[2, 16] h) => (bool d, float[2, 16] n) "
         "<" +
         weightsNamed("own", "16, 16", 256, seed + 3) +
         "> { d = Identity (c) [mm] q = MatMul (h, w) [mine] o = MatMul (q, own) [relu] r = Relu (o) [sum] n = Add (r, "
         "h) "
         "}> [last] y = MatMul (l, w) }";
}

std::string branchedBody(int seed) {
  return "g (bool c, float[2, 16] x) => (float[2, 16] y) <" + weightsNamed("w", "16, 16", 256, seed) +
         "> { [if] y = If (c) <then_branch = t () => (float[2, 16] o) { [wide] k = Add (x, x) [mm] o = MatMul (k, w) },"
         " else_branch = e () => (float[2, 16] p) { [neg] k = Neg (x) [mm2] p = MatMul (k, w) }> }";
}

std::string openExtents(int seed) {
  return "g (float[batch, 16] x) => (float[batch, 16] y) <" + weightsNamed("w", "16, 16", 256, seed) +
         "> { [mm] h = MatMul (x, w) [relu] y = Relu (h) }";
}

/// Codes and scales of the author's.
std::string authorsCodes(int seed) {
  std::string codes = "{";
  for (int i = 0; i < 256; ++i) codes += (i > 0 ? ", " : "") + std::to_string((i * 37 + seed * 5) % 255 - 127);
  const std::string scale = seed == 1 ? "{0.02}" : "{0.03}";
  return "g (float[4, 16] x) => (float[4, 16] y) <int8[16, 16] w = " + codes + "}, float ws = " + scale +
         ", float xs = " + scale +
         ", int8 zero = {0}> { [q] c = QuantizeLinear (x, xs, zero) [dq] f = DequantizeLinear (c, xs, zero) "
         "[dqw] g = DequantizeLinear (w, ws, zero) [mm] y = MatMul (f, g) }";
}

/// A scalar that kernels hold in their code.
std::string scaledByNumber(int seed) {
  return "g (float[4, 16] x) => (float[4, 16] y) <" + weightsNamed("w", "16, 16", 256, seed) + ", float by = {" +
         std::to_string(0.5 + seed) + "}> { [mm] h = MatMul (x, w) [mul] y = Mul (h, by) }";
}

PlanOptions halfPrecision() {
  PlanOptions options{.target = "cpu", .precisions = {DataType::F16}};
  options.directives.push_back({.kind = DirectiveKind::Pin, .pattern = "mm", .type = DataType::BF16});
  assignIds(options.directives);
  return options;
}

std::vector<RefittedNetwork> refittedNetworks() {
  return {
      {"f32", perceptron},
      {"mixed", perceptron, halfPrecision()},
      {"weight_only", perceptron, {.target = "cpu", .weightOnly = {.type = DataType::I8}}},
      {"folded_norm", foldedNorm},
      {"qkv", queriesKeysValues},
      {"tied", tiedTable},
      {"loop", loopedBody},
      {"branches", branchedBody},
      {"open_extents", openExtents, {}, {{.name = "x", .min = Dims{1, 16}, .opt = Dims{4, 16}, .max = Dims{8, 16}}}},
      {"authors_codes", authorsCodes},
      {"number_in_code", scaledByNumber}};
}

bool hasCode(const std::vector<Decision>& decisions, std::string_view code) {
  return std::ranges::any_of(decisions, [&](const Decision& decision) { return decision.code == code; });
}

class RefitEngines : public ::testing::Test {
 protected:
  std::string model(const std::string& name, const std::string& graph) {
    return m_folder.write(name, onnxBytes(graph)).string();
  }

  /// Builds an engine of the model and writes it; gives its path.
  std::string built(const std::string& path, const PlanOptions& options = {},
                    const std::vector<InputOverride>& inputs = {}, bool measures = false) {
    const auto artifact = openArtifact(path, inputs, options);
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
    BuildOptions build = buildOptions(artifact.value(), 1);
    build.timingCache.clear();
    build.measureTactics = measures;
    const auto engine = openEngine(artifact.value(), build);
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    const std::string written = path + ".fse";
    EXPECT_TRUE(engine.value()->save(written).ok());
    return written;
  }

  static Result<Refit> refitted(const std::string& engine, const std::string& weights) {
    const auto artifact = openToRefit(engine);
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
    return refitEngine(artifact.value(), weights, {.threads = 1});
  }

  std::string saved(const Refit& refit, const std::string& name) {
    const std::string path = (m_folder / name).string();
    EXPECT_TRUE(refit.save(path).ok());
    return path;
  }

  static std::map<std::string, Tensor> outputsOf(const std::string& enginePath) {
    auto engine = loadEngine(enginePath, {.threads = 1});
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    auto result = engine.value()->run(randomInputs(engine.value()->plan()));
    EXPECT_TRUE(result.ok()) << result.error().text();
    return result.value().outputs;
  }

  static void expectSameOutputs(const std::string& a, const std::string& b) {
    const auto ofA = outputsOf(a), ofB = outputsOf(b);
    for (const auto& [name, tensor] : ofA) EXPECT_TRUE(tensor.identical(ofB.at(name))) << name;
  }

  /// The one difference that refitting with `graph` is refused for.
  Diagnostic differenceTo(const std::string& graph) {
    const std::string engine = built(model("a.onnx", perceptron(1)));
    const auto refit = refitted(engine, model("b.onnx", graph));
    EXPECT_TRUE(refit.ok()) << refit.error().text();
    EXPECT_FALSE(refit.value().ok());
    EXPECT_FALSE(refit.value().network.differences.empty());
    return refit.value().network.differences.empty() ? Diagnostic() : refit.value().network.differences.front();
  }

  TemporaryFolder m_folder;
};

TEST_F(RefitEngines, AreThoseThatAFreshBuildWrites) {
  for (const RefittedNetwork& network : refittedNetworks()) {
    SCOPED_TRACE(network.name);
    const std::string engine =
        built(model(network.name + "_a.onnx", network.graph(1)), network.options, network.inputs);
    const std::string other = model(network.name + "_b.onnx", network.graph(2));
    const auto refit = refitted(engine, other);
    ASSERT_TRUE(refit.ok()) << refit.error().text();
    for (const Diagnostic& difference : refit.value().network.differences) ADD_FAILURE() << difference.text();
    for (const Diagnostic& difference : refit.value().planDifferences) ADD_FAILURE() << difference.text();
    ASSERT_TRUE(refit.value().ok());
    EXPECT_FALSE(refit.value().sameWeights());
    EXPECT_EQ(refit.value().anew.chosenAnew, 0);
    EXPECT_EQ(refit.value().timesKept, 0);
    const std::string fresh = built(other, network.options, network.inputs);
    const std::string again = saved(refit.value(), network.name + ".fse");
    EXPECT_TRUE(fileBytes(again) == fileBytes(fresh));
    expectSameOutputs(again, fresh);
  }
}

TEST_F(RefitEngines, TakeMeasuredTacticsWithTheirTimes) {
  const std::string a = model("a.onnx", perceptron(1)), b = model("b.onnx", perceptron(2));
  const std::string engine = built(a, {}, {}, true);
  const auto refit = refitted(engine, b);
  ASSERT_TRUE(refit.ok()) << refit.error().text();
  ASSERT_TRUE(refit.value().ok());
  const auto before = openEngineFile(engine), after = openEngineFile(saved(refit.value(), "r.fse"));
  ASSERT_TRUE(after.ok()) << after.error().text();
  ASSERT_EQ(after.value().tactics.size(), before.value().tactics.size());
  for (std::size_t i = 0; i < before.value().tactics.size(); ++i) {
    EXPECT_EQ(after.value().tactics[i].tactic, before.value().tactics[i].tactic);
    EXPECT_EQ(after.value().tactics[i].candidates, before.value().tactics[i].candidates);
  }
  EXPECT_GT(refit.value().timesKept, 0);
  EXPECT_EQ(after.value().timesWithWeightsOf, a);
  EXPECT_TRUE(before.value().timesWithWeightsOf.empty());
  EXPECT_TRUE(hasCode(refit.value().decisions, "build.times_of_other_weights"));
  // The numbers are those of the new network by these tactics.
  EngineFile forced = before.value();
  forced.plan = openArtifact(b, {}, {}).value().plan;
  const auto fresh = loadEngine(forced, {.threads = 1});
  ASSERT_TRUE(fresh.ok()) << fresh.error().text();
  const auto expected = fresh.value()->run(randomInputs(*forced.plan));
  EXPECT_TRUE(expected.value().outputs.at("y").identical(outputsOf((m_folder / "r.fse").string()).at("y")));
}

TEST_F(RefitEngines, RefittedAgainStillSayWhoseTimesTheyHave) {
  const std::string a = model("a.onnx", perceptron(1)), b = model("b.onnx", perceptron(2));
  const auto once = refitted(built(a, {}, {}, true), b);
  ASSERT_TRUE(once.ok() && once.value().ok());
  const auto twice = refitted(saved(once.value(), "once.fse"), model("c.onnx", perceptron(3)));
  ASSERT_TRUE(twice.ok() && twice.value().ok());
  EXPECT_EQ(twice.value().file.timesWithWeightsOf, a);
}

TEST_F(RefitEngines, LeaveOutTimesOfAnotherMachine) {
  const std::string engine = built(model("a.onnx", perceptron(1)), {}, {}, true);
  auto content = openEngineFile(engine);
  ASSERT_TRUE(content.ok());
  content.value().fingerprint = "another machine";
  ASSERT_TRUE(writeEngineFile(m_folder / "other.fse", content.value()).ok());
  const auto refit = refitted((m_folder / "other.fse").string(), model("b.onnx", perceptron(2)));
  ASSERT_TRUE(refit.ok() && refit.value().ok());
  EXPECT_EQ(refit.value().timesKept, 0);
  EXPECT_TRUE(refit.value().file.timesWithWeightsOf.empty());
  EXPECT_TRUE(hasCode(refit.value().decisions, "build.times_of_other_machine"));
}

TEST_F(RefitEngines, SayWhichTacticsAreNotThere) {
  auto content = openEngineFile(built(model("a.onnx", perceptron(1)), {}, {}, true));
  ASSERT_TRUE(content.ok() && content.value().tactics.front().tactic);
  content.value().tactics.front().tactic->implementation = "gone";
  content.value().tactics.front().chosen = "gone";
  ASSERT_TRUE(writeEngineFile(m_folder / "other.fse", content.value()).ok());
  const std::string other = model("b.onnx", perceptron(2));
  const auto refit = refitted((m_folder / "other.fse").string(), other);
  ASSERT_TRUE(refit.ok() && refit.value().ok());
  EXPECT_EQ(refit.value().anew.chosenAnew, 1);
  EXPECT_EQ(refit.value().anew.kernels, std::ssize(content.value().tactics) - 1);
  EXPECT_TRUE(hasCode(refit.value().decisions, "tactic.missing"));
}

TEST_F(RefitEngines, SayWhereCodeHoldsOtherNumbers) {
  const std::string engine = built(model("a.onnx", scaledByNumber(1)), {}, {}, true);
  const auto refit = refitted(engine, model("b.onnx", scaledByNumber(2)));
  ASSERT_TRUE(refit.ok() && refit.value().ok());
  EXPECT_GT(refit.value().anew.codeOfNumbers, 0);
  EXPECT_TRUE(hasCode(refit.value().decisions, "build.other_numbers"));
}

TEST_F(RefitEngines, SayThatTheWeightsAreTheSame) {
  const std::string path = model("a.onnx", perceptron(1));
  const auto refit = refitted(built(path), path);
  ASSERT_TRUE(refit.ok() && refit.value().ok());
  EXPECT_TRUE(refit.value().sameWeights());
  EXPECT_TRUE(toJson(refit.value(), {}, "", 0)["same_weights"].get<bool>());
}

TEST_F(RefitEngines, AreRefusedForAnotherNetwork) {
  const auto with = [](std::string from, const std::string& to) {
    std::string graph = perceptron(2);
    graph.replace(graph.find(from), from.size(), to);
    return graph;
  };
  const Diagnostic op = differenceTo(with("Relu (a)", "Sigmoid (a)"));
  EXPECT_EQ(op.where.node, "relu");
  EXPECT_EQ(op.message, "is Sigmoid; in the engine's network it is Relu");
  const Diagnostic gone = differenceTo(with("[relu] r = Relu (a)", "[rectify] r = Sigmoid (a)"));
  EXPECT_EQ(gone.where.node, "relu");
  const Diagnostic wiring = differenceTo(with("MatMul (r, v)", "MatMul (r, w)"));
  EXPECT_EQ(wiring.where.node, "last");
  const Diagnostic extent =
      differenceTo("g (float[8, 16] x) => (float[8, 16] y)" + perceptron(2).substr(perceptron(2).find(" <float")));
  EXPECT_EQ(extent.where.value, "x");
  EXPECT_NE(extent.message.find("f32[8, 16]"), std::string::npos) << extent.message;
  EXPECT_FALSE(extent.help.empty());
}

TEST_F(RefitEngines, ReadWeightsThatLieBesideTheNetwork) {
  const auto with = [](const std::string& weights) {
    return "g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = " + weights + "> { [mm] y = MatMul (x, w) }";
  };
  const std::string engine = built(model("a.onnx", with("{1, 2, 3, 4}")));
  const std::string beside = model("b.onnx", with("[\"location\": \"w.bin\"]"));
  const auto missing = refitted(engine, beside);
  EXPECT_FALSE(missing.ok() && missing.value().ok());
  if (!missing.ok()) {
    EXPECT_NE(missing.error().text().find("w.bin"), std::string::npos) << missing.error().text();
  }
  const std::vector<float> numbers{5, 6, 7, 8};
  m_folder.write("w.bin", std::string(reinterpret_cast<const char*>(numbers.data()), 4 * sizeof(float)));
  const auto refit = refitted(engine, beside);
  ASSERT_TRUE(refit.ok()) << refit.error().text();
  ASSERT_TRUE(refit.value().ok());
  const auto other = built(model("c.onnx", with("{5, 6, 7, 8}")));
  expectSameOutputs(saved(refit.value(), "r.fse"), other);
}

TEST_F(RefitEngines, SayThatAnotherVersionMayHaveSimplifiedOtherwise) {
  std::string bytes = fileBytes(built(model("a.onnx", perceptron(1))));
  auto artifact = openToRefit(m_folder.write("old.fse", bytes)).value();
  artifact.engine->fusescopeVersion = "0.0.1";
  const auto refit = refitEngine(artifact, model("b.onnx", foldedNorm(1)), {});
  ASSERT_TRUE(refit.ok()) << refit.error().text();
  ASSERT_FALSE(refit.value().network.isSameNetwork());
  EXPECT_NE(refit.value().network.differences.front().help.find("0.0.1"), std::string::npos);
}

TEST_F(RefitEngines, AreRefusedForAnotherAttribute) {
  const std::string engine = built(model("a.onnx", queriesKeysValues(1)));
  std::string graph = queriesKeysValues(2);
  graph.replace(graph.find("Softmax (s)"), 11, "Softmax <axis = 1> (s)");
  const auto refit = refitted(engine, model("b.onnx", graph));
  ASSERT_TRUE(refit.ok()) << refit.error().text();
  ASSERT_FALSE(refit.value().network.differences.empty());
  const Diagnostic& difference = refit.value().network.differences.front();
  EXPECT_EQ(difference.where.node, "p");
  EXPECT_EQ(difference.where.attribute, "axis");
}

TEST_F(RefitEngines, AreRefusedForAnotherBody) {
  const std::string engine = built(model("a.onnx", loopedBody(1)));
  std::string graph = loopedBody(2);
  graph.replace(graph.find("Relu (o)"), 8, "Tanh (o)");
  const auto refit = refitted(engine, model("b.onnx", graph));
  ASSERT_TRUE(refit.ok()) << refit.error().text();
  ASSERT_FALSE(refit.value().network.differences.empty());
  EXPECT_EQ(refit.value().network.differences.front().where.node, "loop/relu");
}

TEST_F(RefitEngines, AreRefusedWhereWeightsChangeThePlan) {
  const PlanOptions options{.target = "cpu", .weightOnly = {.type = DataType::I8}};
  const std::string engine = built(model("a.onnx", perceptron(1)), options);
  std::string graph = perceptron(2);
  const std::size_t first = graph.find(" v = {") + 6;
  graph.replace(first, graph.find(',', first) - first, "123.25");
  const auto bytesOf = [](float number) { return std::string(reinterpret_cast<const char*>(&number), sizeof number); };
  std::string bytes = onnxBytes(graph);
  bytes.replace(bytes.find(bytesOf(123.25F)), sizeof(float), bytesOf(std::numeric_limits<float>::infinity()));
  const auto refit = refitted(engine, m_folder.write("b.onnx", bytes).string());
  ASSERT_TRUE(refit.ok()) << refit.error().text();
  ASSERT_FALSE(refit.value().ok());
  ASSERT_FALSE(refit.value().planDifferences.empty());
  EXPECT_NE(refit.value().planDifferences.front().message.find("quantize.weights_not_finite"), std::string::npos)
      << refit.value().planDifferences.front().text();
}

TEST_F(RefitEngines, CheckRecordedRangesAgainstTheNewWeights) {
  const std::string a = model("a.onnx", perceptron(1));
  const auto floats = openArtifact(a, {}, {});
  Samples samples;
  samples.list.push_back({.name = "s", .inputs = randomInputs(*floats.value().plan)});
  auto ranges = calibrate(*floats.value().plan, samples, {});
  ASSERT_TRUE(ranges.ok()) << ranges.error().text();
  PlanOptions options{.target = "cpu", .precisions = {DataType::I8}};
  options.ranges = std::make_shared<const Ranges>(std::move(ranges).value());
  const std::string engine = built(a, options);
  const auto scaled = [&](double w, double v) {
    return "g (float[4, 16] x) => (float[4, 16] y) <float[16, 16] w = " + numbersOfSeed(256, 2, w) + ", " +
           weightsNamed("b", "16", 16, 3) + ", float[16, 16] v = " + numbersOfSeed(256, 4, v) +
           "> { [mm] h = MatMul (x, w) [add] a = Add (h, b) [relu] r = Relu (a) [last] y = MatMul (r, v) }";
  };
  const std::string other = model("b.onnx", scaled(3, 0.1));
  const auto refit = refitted(engine, other);
  ASSERT_TRUE(refit.ok()) << refit.error().text();
  ASSERT_TRUE(refit.value().ok());
  const auto subject = [&](std::string_view code) {
    const auto found = std::ranges::find(refit.value().decisions, code, &Decision::code);
    return found == refit.value().decisions.end() || found->subjects.empty() ? std::string()
                                                                             : found->subjects.front().text();
  };
  EXPECT_EQ(subject("quantize.range_outgrown"), "w");
  EXPECT_EQ(subject("quantize.range_loose"), "v");
  EXPECT_TRUE(hasCode(refit.value().decisions, "quantize.range_unchecked"));
  EXPECT_TRUE(fileBytes(saved(refit.value(), "r.fse")) == fileBytes(built(other, options)));
}

TEST_F(RefitEngines, AreMadeOfAnEngineAndANetwork) {
  const std::string path = model("a.onnx", perceptron(1));
  const auto notAnEngine = refitEngine(openArtifact(path, {}, {}).value(), path, {});
  ASSERT_FALSE(notAnEngine.ok());
  EXPECT_NE(notAnEngine.error().message.find("not an engine"), std::string::npos);
  EXPECT_FALSE(openToRefit(path).ok());
  const std::string engine = built(path);
  const auto engineAsWeights = refitted(engine, engine);
  ASSERT_FALSE(engineAsWeights.ok());
  EXPECT_EQ(engineAsWeights.error().where.attribute, "--weights");
}

TEST_F(RefitEngines, AreNotMadeOfDamagedFiles) {
  const std::string engine = built(model("a.onnx", perceptron(1)));
  std::string bytes = fileBytes(engine);
  bytes[bytes.size() - 100] ^= 1;  // of a small weight, which is checked here as well
  EXPECT_FALSE(openToRefit(m_folder.write("damaged.fse", bytes)).ok());
  bytes.resize(bytes.size() / 2);
  EXPECT_FALSE(openToRefit(m_folder.write("cut.fse", bytes)).ok());
}

}  // namespace
}  // namespace fusescope::test
