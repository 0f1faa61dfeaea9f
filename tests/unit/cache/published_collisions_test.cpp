// Collisions of other tools' caches, as they were published: none of them is one here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "compilers/probed/handed_digest.h"
#include "compilers/probed/kept_job.h"
#include "compilers/probed/probed_kind.h"
#include "onnxlib/onnx_text.h"
#include "probe/sha256.h"
#include "session/open_model.h"
#include "tests/unit/cache/network_keys.h"

namespace fusescope::test {
namespace {

MutantNetwork oneNode(MutantNode node) {
  MutantNetwork network;
  node.outputs = {"z"};
  network.nodes = {std::move(node)};
  network.outputs = {"z"};
  network.asking.options.compiler = network.asking.options.target = "onnxruntime";
  return network;
}

void expectApart(const MutantNode& a, const MutantNode& b, bool isOneKernel = false) {
  KeyMaker keys;
  const auto one = keys.keysOf(oneNode(a)), other = keys.keysOf(oneNode(b));
  ASSERT_TRUE(one && other) << oneNode(b).text();
  EXPECT_EQ(one->regions == other->regions, isOneKernel) << oneNode(b).text();
  EXPECT_NE(one->network.key, other->network.key) << oneNode(b).text();
  EXPECT_TRUE(isRightBehind(one->plan, other->plan)) << oneNode(b).text();
}

TEST(PublishedCollisions, OfOperators) {
  expectApart({"Softmax", {"x"}, {}, {{"axis", "1"}}, {}}, {"Softmax", {"x"}, {}, {{"axis", "2"}}, {}});
  // One kernel subtracts its second operand from its first; which value is which stands in the program.
  expectApart({"Sub", {"x", "y"}, {}, {}, {}}, {"Sub", {"y", "x"}, {}, {}, {}}, true);
  expectApart({"Add", {"x", "y"}, {}, {}, {}}, {"Sub", {"x", "y"}, {}, {}, {}});
  expectApart({"Gelu", {"x"}, {}, {{"approximate", "\"none\""}}, {}},
              {"Gelu", {"x"}, {}, {{"approximate", "\"tanh\""}}, {}});
}

/// Stands for a compiler: its engine says which network it was made of.
class EngineMaker final : public ProbeJob {
 public:
  EngineMaker(const TemporaryFolder& folder, int& made) : m_folder(folder), m_made(made) {}
  const Json& opened() const override { return m_opened; }
  bool isThere() const override { return true; }
  Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken&, const Progress&) override {
    const auto sha = sha256OfFile(request.files.at("network.onnx"), {});
    const auto engine = m_folder.write(fmt::format("engine{}", ++m_made), "engine of " + sha.value());
    return ProbeAnswer{.json = {{"made", m_made}}, .files = {{"engine", engine}}};
  }

 private:
  const TemporaryFolder& m_folder;
  int& m_made;
  Json m_opened;
};

/// Two models have one file name and the same names, types and extents, but other weights.
class EnginesOfOneName : public ::testing::Test {
 protected:
  /// Returns the engine that is found or made for the model, and the engine that would be right.
  std::pair<std::string, std::string> engineFor(double weight) {
    const auto bytes = onnxlib::onnxTextToBytes(
        fmt::format("<ir_version: 10, opset_import: [\"\" : 20]>\nnet (float[2, 3] x) => (float[2, 2] z) "
                    "<float[3, 2] w = {{1, 2, 3, 4, 5, {}}}> {{ [product] z = MatMul (x, w) }}",
                    weight));
    EXPECT_TRUE(bytes.ok());
    const auto model = openModel(m_folder.write("model.onnx", bytes.value()), {});
    EXPECT_TRUE(model.ok());
    const auto plan = makePlan(model.value(), {.compiler = "onnxruntime", .target = "onnxruntime"});
    EXPECT_TRUE(plan.ok());
    auto handed = makeCompilerInput(plan.value(), CompilerInputTypes::AsPlanned, {});
    EXPECT_TRUE(handed.ok());
    const auto options = findProbedKind("onnxruntime")->requestOptions(handed.value(), {.threads = 1});
    EXPECT_TRUE(options.ok());
    const auto files = filesOf(handed.value());
    KeptJob job(m_store, context());
    const auto answer = job.ask({.json = {{"op", "compile"}, {"options", options.value()}}, .files = files}, {});
    EXPECT_TRUE(answer.ok());
    std::ifstream file(answer.value().files.at("engine"));
    return {std::string(std::istreambuf_iterator<char>(file), {}),
            "engine of " + sha256OfFile(files.at("network.onnx"), {}).value()};
  }
  AnswerContext context() {
    return {.about = "model.onnx",
            .compiler = "onnxruntime",
            .version = "1.0",
            .environment = Json::object(),
            .opened = {},
            .code =
                [](std::chrono::milliseconds, const StopToken&) {
                  return Json{{"package", "c0"}};
                },
            .start = [&](const StopToken&) -> Result<std::unique_ptr<ProbeJob>> {
              return std::unique_ptr<ProbeJob>(std::make_unique<EngineMaker>(m_folder, m_made));
            },
            .isWitnessValid = [] { return true; }};
  }

  const TemporaryFolder m_folder;
  HeldStore m_store;
  int m_made = 0;
};

TEST_F(EnginesOfOneName, AreNotServedForEachOther) {
  const auto [first, ofFirst] = engineFor(6);
  EXPECT_EQ(first, ofFirst);
  const auto [second, ofSecond] = engineFor(7);
  EXPECT_EQ(second, ofSecond);
  EXPECT_NE(second, first);
  EXPECT_EQ(m_made, 2);
  EXPECT_EQ(engineFor(6), std::pair(first, ofFirst));
  EXPECT_EQ(m_made, 2) << "the first model's engine is found again";
}

/// Clocks of file systems may tick only every few milliseconds, so that two changes have one time.
TEST(HandedFiles, OneThatJustChangedIsNotKnownByItsTime) {
  const TemporaryFolder folder;
  HeldStore store;
  const auto weights = folder.write("network.onnx.data", "weights");
  folder.write("network.onnx.data.source", "where they are from");
  for (const char* digest : {"of these", "of those"}) {
    store.keep({.kind = kDigestKind, .about = {}, .madeBy = {}}, "where they are from", digest);
    const auto sha = handedSha256(store, weights, {});
    ASSERT_TRUE(sha.ok());
    EXPECT_EQ(sha.value(), digest);
  }
}

}  // namespace
}  // namespace fusescope::test
