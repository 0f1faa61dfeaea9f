#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "engine/description/tactic_json.h"
#include "engine/engine_file.h"
#include "engine/kernels/kernel_requests.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

std::string contentOf(const std::filesystem::path& path) {
  return readTextFile(path).value();
}

void write(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class EngineFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    m_engine = engineOf(planOf(smallNetwork(), {.directives = {splitDirective("add_bias")}}), kReference);
    const Status saved = m_engine->save(m_file);
    ASSERT_TRUE(saved.ok()) << saved.error().text();
  }
  TemporaryFolder m_folder;
  std::filesystem::path m_file = m_folder / "small.fse";
  std::unique_ptr<Engine> m_engine;
};

TEST_F(EngineFileTest, RunsWithoutTheModel) {
  ASSERT_TRUE(isEngineFile(m_file));
  auto loaded = loadEngine(m_file, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  Engine& engine = *loaded.value();
  EXPECT_EQ(engine.backend(), "reference");
  EXPECT_EQ(engine.plan().hash, m_engine->plan().hash);
  EXPECT_EQ(toJson(engine.plan()).dump(), toJson(m_engine->plan()).dump());
  for (const std::int64_t batch : {1, 2, 5}) {
    const std::map<std::string, Tensor> inputs{{"x", noise({batch, 4}, 9)}};
    const auto before = m_engine->run(inputs), after = engine.run(inputs);
    ASSERT_TRUE(after.ok()) << after.error().text();
    EXPECT_TRUE(after.value().outputs.at("y").identical(before.value().outputs.at("y")));
  }
  const TemporaryFolder other;
  ASSERT_TRUE(engine.save(other / "again.fse").ok());
  EXPECT_EQ(contentOf(other / "again.fse"), contentOf(m_file)) << "saving what was loaded gives the same bytes";
}

TEST_F(EngineFileTest, NodesKeepTheirModule) {
  Model model = *smallNetwork();
  model.origins[0].module = "block.0";
  const auto engine = engineOf(
      planOf(std::make_shared<const Model>(model), {.directives = {splitDirective("module:block.0")}}), kReference);
  ASSERT_TRUE(engine->save(m_file).ok());
  auto loaded = loadEngine(m_file, {});  // plans again by the directive
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded.value()->plan().model->origins[0].module, "block.0");
  EXPECT_EQ(toJson(loaded.value()->plan()).dump(), toJson(engine->plan()).dump());
}

TEST_F(EngineFileTest, PlanOfOtherRulesIsMadeAnewAndSaysSo) {
  Plan other = *openEngineFile(m_file).value().plan;
  other.fusedNodes[0].name = "as other rules call it";
  const std::map<std::string, Dims> extents{{"x", {2, 4}}};
  const Status written = writeEngineFile(m_file, {.plan = std::make_shared<const Plan>(other),
                                                  .backend = "reference",
                                                  .fusescopeVersion = "0.0.1",
                                                  .extents = extents});
  ASSERT_TRUE(written.ok()) << written.error().text();
  auto loaded = loadEngine(m_file, kReference);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const Plan& plan = loaded.value()->plan();
  EXPECT_EQ(plan.fusedNodes[0].name, m_engine->plan().fusedNodes[0].name);
  ASSERT_EQ(plan.decisions.back().code, "build.replanned");
  EXPECT_NE(message(plan.decisions.back()).find("with different fused_nodes"), std::string::npos)
      << message(plan.decisions.back());
  EXPECT_TRUE(loaded.value()->run({{"x", noise({3, 4}, 9)}}).ok());
}

TEST_F(EngineFileTest, CanBeInspected) {
  const auto info = openEngineFile(m_file);
  ASSERT_TRUE(info.ok()) << info.error().text();
  EXPECT_EQ(info.value().backend, "reference");
  EXPECT_EQ(info.value().fusescopeVersion, "0.1.0");
  EXPECT_EQ(info.value().tactics.size(), m_engine->plan().fusedNodes.size());
  EXPECT_EQ(info.value().bytes, static_cast<std::int64_t>(std::filesystem::file_size(m_file)));
}

/// The file with another description; sizes, offsets and checksum are made to fit.
template <class Edit>
std::string withDescription(const std::string& file, const Edit& edit) {
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, file.data() + at, sizeof value);
    return value;
  };
  Json description = Json::parse(file.substr(64, number(16)));
  edit(description);
  const std::string text = description.dump();
  std::string changed = file.substr(0, 64) + text;
  changed.resize((changed.size() + 63) / 64 * 64);
  const Hash128 hash = hashText(text);
  const std::map<std::size_t, std::uint64_t> fields{
      {16, text.size()}, {24, changed.size()}, {48, hash.high}, {56, hash.low}};
  for (const auto& [at, value] : fields) std::memcpy(changed.data() + at, &value, sizeof value);
  return changed + file.substr(number(24));
}

std::string chosenFor(const Engine& engine, const FusedNode& fused) {
  const auto& tactics = engine.report().tactics;
  const auto found = std::ranges::find(tactics, fused.identity, &TacticChoice::identity);
  return found == tactics.end() ? "" : found->chosen;
}

const BuildOptions kNative{.backend = "native", .threads = 1, .measureTactics = false};

/// Writes an engine of `plan` that chose "reference" for `fused`, which was called `calledThen`.
void writeChosen(const std::filesystem::path& file, const std::shared_ptr<const Plan>& plan, const FusedNode& fused,
                 const std::string& calledThen, const std::map<std::string, Dims>& extents) {
  const TacticChoice choice{.fusedNode = calledThen, .identity = fused.identity, .chosen = "reference"};
  const Status written =
      writeEngineFile(file, {.plan = plan, .backend = "native", .extents = extents, .tactics = {choice}});
  ASSERT_TRUE(written.ok()) << written.error().text();
}

TEST_F(EngineFileTest, ATacticIsTakenAgainByIdentityWhateverItsKernelWasCalled) {
  const auto plan = planOf(smallNetwork());
  const FusedNode& fused = plan->fusedNodes[0];
  ASSERT_NE(chosenFor(*engineOf(plan, kNative), fused), "reference") << "else the test shows nothing";
  writeChosen(m_file, plan, fused, "as it was called then", {{"x", {2, 4}}});
  auto loaded = loadEngine(m_file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(chosenFor(*loaded.value(), fused), "reference");
  EXPECT_EQ(openEngineFile(m_file).value().tactics.at(0).fusedNode, fused.name) << "called as the plan calls it";
}

/// A kernel of the nodes "a" and "b", and a node that is called "a + b".
std::shared_ptr<const Model> twoOfOneName() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({Dim(4), Dim(8)}));
  const ValueId w = editor.addConstant("w", noise({8, 8}, 1));
  const auto add = [&](const char* op, const char* name, std::vector<ValueId> inputs) {
    const ValueId result = editor.addValue(std::string(name) + "_out", f32({Dim(4), Dim(8)}));
    editor.addNode({.op = op, .name = name, .inputs = std::move(inputs), .outputs = {result}});
    return result;
  };
  editor.addOutput(add("Relu", "b", {add("MatMul", "a", {x, w})}));
  editor.addOutput(add("Softmax", "a + b", {x}));
  return modelOf(editor);
}

TEST_F(EngineFileTest, KernelsOfOneNameKeepTheirOwnTactics) {
  const auto plan = planOf(twoOfOneName());
  ASSERT_EQ(plan->fusedNodes.size(), 2U);
  const FusedNode &first = plan->fusedNodes[0], &second = plan->fusedNodes[1];
  ASSERT_EQ(first.name, second.name);
  const std::string usual = chosenFor(*engineOf(plan, kNative), second);
  ASSERT_NE(usual, "reference");
  writeChosen(m_file, plan, first, first.name, {{"x", {4, 8}}});
  auto loaded = loadEngine(m_file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(chosenFor(*loaded.value(), first), "reference");
  EXPECT_EQ(chosenFor(*loaded.value(), second), usual);
}

TEST_F(EngineFileTest, UnderOtherDirectivesOnlyTheSameKernelsTakeTheirTacticsAgain) {
  // A directive that makes other kernels of the same nodes: the whole kernel's choice says nothing of its parts.
  const auto whole = planOf(smallNetwork());
  const auto parts = planOf(smallNetwork(), {.directives = {splitDirective("matmul")}});
  writeChosen(m_file, parts, whole->fusedNodes[0], whole->fusedNodes[0].name, {{"x", {2, 4}}});
  auto loaded = loadEngine(m_file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  for (const TacticChoice& choice : loaded.value()->report().tactics) EXPECT_NE(choice.chosen, "reference");

  // One that changes nothing of a kernel leaves it its tactic.
  const auto pinned = planOf(smallNetwork(), {.directives = {parsePin("relu=f32").value()}});
  writeChosen(m_file, pinned, whole->fusedNodes[0], whole->fusedNodes[0].name, {{"x", {2, 4}}});
  loaded = loadEngine(m_file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(chosenFor(*loaded.value(), whole->fusedNodes[0]), "reference");
}

TEST_F(EngineFileTest, BeforeVersionThreeTheNameTells) {
  const auto plan = planOf(smallNetwork());
  writeChosen(m_file, plan, plan->fusedNodes[0], plan->fusedNodes[0].name, {{"x", {2, 4}}});
  write(m_file, withDescription(contentOf(m_file), [](Json& description) {
          description["version"] = 2;
          for (Json& tactic : description["tactics"]) tactic.erase("identity");
        }));
  auto loaded = loadEngine(m_file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(chosenFor(*loaded.value(), plan->fusedNodes[0]), "reference");
}

/// x [1, 16, 6, 6] through a convolution: tactics in several formats.
std::shared_ptr<const Model> convolution() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({Dim(1), Dim(16), Dim(6), Dim(6)}));
  const ValueId w = editor.addConstant("w", noise({16, 16, 3, 3}, 1));
  const ValueId y = editor.addValue("y", f32({Dim(1), Dim(16), Dim(4), Dim(4)}));
  editor.addNode({.op = "Conv", .name = "conv", .inputs = {x, w}, .outputs = {y}});
  editor.addOutput(y);
  return modelOf(editor);
}

std::vector<Tactic> tacticsOf(const Plan& plan) {
  const auto requests = KernelRequests::create(plan, {{"x", {1, 16, 6, 6}}}, 1);
  return findBackend("native")->tactics(requests.value().of(plan.fusedNodes.front()).value());
}

void writeChosen(const std::filesystem::path& file, const std::shared_ptr<const Plan>& plan, const std::string& name,
                 const std::optional<Tactic>& tactic) {
  const FusedNode& fused = plan->fusedNodes.front();
  const TacticChoice choice{.fusedNode = fused.name, .identity = fused.identity, .chosen = name, .tactic = tactic};
  const Status written = writeEngineFile(
      file, {.plan = plan, .backend = "native", .extents = {{"x", {1, 16, 6, 6}}}, .tactics = {choice}});
  ASSERT_TRUE(written.ok()) << written.error().text();
}

TEST_F(EngineFileTest, ATacticIsTakenAgainAsTheValueItIs) {
  const auto plan = planOf(convolution());
  const std::vector<Tactic> offered = tacticsOf(*plan);
  ASSERT_GE(offered.size(), 3U);
  for (const Tactic& tactic : offered) {
    EXPECT_EQ(tacticFromJson(toJson(tactic)), tactic);
    writeChosen(m_file, plan, "whatever it was called", tactic);
    auto loaded = loadEngine(m_file, kNative);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    EXPECT_EQ(loaded.value()->report().tactics.at(0).tactic, tactic) << tactic.name;
    EXPECT_TRUE(loaded.value()->report().decisions.empty()) << tactic.name;
  }
  EXPECT_EQ(openEngineFile(m_file).value().tactics.at(0).tactic, offered.back());
}

TEST_F(EngineFileTest, ATacticInOtherFormatsIsAnotherWhateverItIsCalled) {
  const auto plan = planOf(convolution());
  Tactic other = tacticsOf(*plan).front();
  other.inputs = {MemoryFormat::blockedChannels(4, 4)};
  writeChosen(m_file, plan, other.name, other);
  const auto loaded = loadEngine(m_file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const auto& decisions = loaded.value()->report().decisions;
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].code, "tactic.missing");
  EXPECT_EQ(loaded.value()->report().tactics.at(0).tactic, tacticsOf(*plan).front()) << "chosen anew";
}

TEST_F(EngineFileTest, BeforeVersionFourTheWordsOfFormatsTell) {
  const auto plan = planOf(convolution());
  const auto isBlocked = [](const Tactic& tactic) {
    return !tactic.inputs[0].isPlain() && !tactic.inputs[0].isChannelsLast();
  };
  const std::vector<Tactic> offered = tacticsOf(*plan);
  const auto blocked = std::ranges::find_if(offered, isBlocked);
  if (blocked == offered.end()) GTEST_SKIP() << "oneDNN has no blocked convolution here";
  std::string former = blocked->name;
  const std::string now = blocked->inputs[0].text();
  for (std::size_t at = former.find(now); at != std::string::npos; at = former.find(now))
    former.replace(at, now.size(), formerWord(blocked->inputs[0]));
  ASSERT_NE(former, blocked->name);
  writeChosen(m_file, plan, former, std::nullopt);
  write(m_file, withDescription(contentOf(m_file), [](Json& description) {
          description["version"] = 3;
          description.erase("fingerprint");
          for (Json& tactic : description["tactics"]) tactic.erase("tactic");
        }));
  const auto loaded = loadEngine(m_file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded.value()->report().tactics.at(0).tactic, *blocked);
  EXPECT_EQ(openEngineFile(m_file).value().fingerprint, "");
}

TEST_F(EngineFileTest, AFileOfVersionThreeOpensAndRuns) {
  const auto file = test::sampleFolder("../../tests/unit/engine/data") / "engine_description_3.bin";
  const auto info = openEngineFile(file);
  ASSERT_TRUE(info.ok()) << info.error().text();
  ASSERT_EQ(info.value().tactics.size(), 2U);
  auto loaded = loadEngine(file, kNative);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  for (const TacticChoice& before : info.value().tactics) {
    const auto& now = loaded.value()->report().tactics;
    const auto found = std::ranges::find(now, before.identity, &TacticChoice::identity);
    ASSERT_NE(found, now.end()) << before.fusedNode;
    const bool isGone = std::ranges::any_of(loaded.value()->report().decisions, [&](const Decision& decision) {
      return decision.code == "tactic.missing" && decision.arguments["tactic"] == before.chosen;
    });
    EXPECT_TRUE(isGone || found->tactic->isCalled(before.chosen)) << before.chosen << " became " << found->chosen;
  }
  const std::map<std::string, Tensor> inputs{{"x", noise({1, 3, 8, 8}, 4)}};
  BuildOptions reference = kReference;
  const auto oracle = engineOf(info.value().plan, reference);
  const auto expected = oracle->run(inputs), actual = loaded.value()->run(inputs);
  ASSERT_TRUE(expected.ok() && actual.ok());
  const Tensor &a = actual.value().outputs.at("y"), &e = expected.value().outputs.at("y");
  for (std::int64_t i = 0; i < e.count(); ++i) EXPECT_NEAR(a.asDouble(i), e.asDouble(i), 1e-4);
}

TEST_F(EngineFileTest, WhatEarlierOnesHoldOfWholeSegmentsIsReadPast) {
  write(m_file, withDescription(contentOf(m_file), [](Json& description) {
          EXPECT_FALSE(description.contains("read_back"));
          description["read_back"] = {{{"name", "some"}, {"nodes", {"nobody"}}}};
        }));
  const auto loaded = loadEngine(m_file, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(toJson(loaded.value()->plan()).dump(), toJson(m_engine->plan()).dump());
}

TEST_F(EngineFileTest, HoldsWhatAnotherCompilerMade) {
  const auto plan = planOf(smallNetwork());
  ReadBack told{.compiler = {.name = "some", .version = "1"}};
  told.kernels.push_back({.name = "first", .kind = "matmul", .nodes = {{plan->graph().order()[0], Certainty::Named}}});
  const auto made = readBackPlan(plan, told);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(openEngineFile(m_file).value().made, nullptr) << "our own compiler's";
  const Status written =
      writeEngineFile(m_file, {.plan = plan, .made = made.value(), .backend = "some", .extents = {{"x", {2, 4}}}});
  ASSERT_TRUE(written.ok()) << written.error().text();
  const auto file = openEngineFile(m_file);
  ASSERT_TRUE(file.ok()) << file.error().text();
  ASSERT_NE(file.value().made, nullptr);
  EXPECT_EQ(toJson(*file.value().made).dump(), toJson(*made.value()).dump());
}

TEST_F(EngineFileTest, SaysWhereItWasBuilt) {
  EXPECT_EQ(openEngineFile(m_file).value().fingerprint, findBackend("reference")->fingerprint().text());
}

TEST_F(EngineFileTest, TimesOfTheFirstDescriptionAreNotBelieved) {
  const auto plan = planOf(smallNetwork());
  const FusedNode& fused = plan->fusedNodes[0];
  const TacticChoice choice{
      .fusedNode = fused.name, .identity = fused.identity, .chosen = "reference", .candidates = {{"reference", 0.001}}};
  const Status written =
      writeEngineFile(m_file, {.plan = plan, .backend = "native", .extents = {{"x", {2, 4}}}, .tactics = {choice}});
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(openEngineFile(m_file).value().tactics.at(0).candidates.at(0).ms, std::optional(0.001));
  write(m_file, withDescription(contentOf(m_file), [](Json& description) { description["version"] = 1; }));
  const auto old = openEngineFile(m_file);
  ASSERT_TRUE(old.ok()) << old.error().text();
  EXPECT_EQ(old.value().tactics.at(0).chosen, "reference") << "the choice still holds";
  EXPECT_EQ(old.value().tactics.at(0).candidates.at(0).ms, std::nullopt);
}

TEST_F(EngineFileTest, ForeignAndTruncatedFilesAreErrors) {
  const std::string whole = contentOf(m_file);
  const std::filesystem::path bad = m_folder / "bad.fse";
  for (const std::size_t keep :
       {std::size_t{0}, std::size_t{7}, std::size_t{63}, std::size_t{64}, whole.size() / 2, whole.size() - 1}) {
    write(bad, whole.substr(0, keep));
    const auto loaded = loadEngine(bad, {});
    ASSERT_FALSE(loaded.ok()) << keep << " bytes";
    EXPECT_EQ(loaded.error().where.file, bad.string());
  }
  write(bad, "not an engine at all, but long enough to hold a header of sixty-four bytes");
  EXPECT_FALSE(isEngineFile(bad));
  EXPECT_NE(loadEngine(bad, {}).error().message.find("is not a Fusescope engine file"), std::string::npos);
  EXPECT_FALSE(loadEngine(m_folder / "missing.fse", {}).ok());
}

TEST_F(EngineFileTest, EveryChangedByteIsNoticed) {
  const std::string whole = contentOf(m_file);
  const std::filesystem::path bad = m_folder / "bad.fse";
  int noticed = 0, tried = 0;
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 150) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    write(bad, changed);
    ++tried;
    noticed += loadEngine(bad, {}).ok() ? 0 : 1;
  }
  // Only the padding between description and weights and after each tensor, and one reserved field, are unprotected.
  EXPECT_GE(noticed, tried - 12) << "of " << tried;
}

TEST_F(EngineFileTest, LaterVersionsAreRefusedByNumber) {
  std::string changed = contentOf(m_file);
  changed[8] = 99;
  const std::filesystem::path bad = m_folder / "later.fse";
  write(bad, changed);
  EXPECT_NE(loadEngine(bad, {}).error().message.find("version 99"), std::string::npos);
}

}  // namespace
}  // namespace fusescope::testing
