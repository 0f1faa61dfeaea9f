#include <cstring>
#include <fstream>

#include "base/files.h"
#include "base/hash.h"
#include "engine/engine_file.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

const BuildOptions kReference{.backend = "reference", .threads = 1, .measureTactics = false};

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
  Plan other = m_engine->plan();
  other.fusedNodes[0].name = "as other rules call it";
  const std::map<std::string, Dims> extents{{"x", {2, 4}}};
  const Status written = writeEngineFile(
      m_file,
      {.plan = std::make_shared<const Plan>(other), .backend = "reference", .version = "0.0.1", .extents = extents});
  ASSERT_TRUE(written.ok()) << written.error().text();
  auto loaded = loadEngine(m_file, kReference);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const Plan& plan = loaded.value()->plan();
  EXPECT_EQ(plan.fusedNodes[0].name, m_engine->plan().fusedNodes[0].name);
  ASSERT_EQ(plan.decisions.back().code, "build.replanned");
  EXPECT_NE(message(plan.decisions.back()).find("with other fused_nodes"), std::string::npos)
      << message(plan.decisions.back());
  EXPECT_TRUE(loaded.value()->run({{"x", noise({3, 4}, 9)}}).ok());
}

TEST_F(EngineFileTest, CanBeInspected) {
  const auto info = inspectEngineFile(m_file);
  ASSERT_TRUE(info.ok()) << info.error().text();
  EXPECT_EQ(info.value().backend, "reference");
  EXPECT_EQ(info.value().fusescopeVersion, "0.1.0");
  EXPECT_EQ(info.value().tactics.size(), m_engine->plan().fusedNodes.size());
  EXPECT_EQ(info.value().bytes, static_cast<std::int64_t>(std::filesystem::file_size(m_file)));
}

/// The file with another version of its description, its checksum made to fit.
std::string withDescriptionVersion(std::string file, char version) {
  std::uint64_t metaBytes = 0;
  std::memcpy(&metaBytes, file.data() + 16, sizeof metaBytes);
  const std::string before = "\"format\":\"fusescope.engine\",\"version\":";
  const std::size_t at = file.find(before);
  if (at == std::string::npos) throw std::runtime_error("the description has no version");
  file[at + before.size()] = version;
  const Hash128 hash = hashText(std::string_view(file).substr(64, metaBytes));
  std::memcpy(file.data() + 48, &hash.high, sizeof hash.high);
  std::memcpy(file.data() + 56, &hash.low, sizeof hash.low);
  return file;
}

TEST_F(EngineFileTest, TimesOfTheFirstDescriptionAreNotBelieved) {
  const TacticChoice choice{.fusedNode = "matmul", .chosen = "reference", .candidates = {{"reference", 0.001}}};
  const Status written = writeEngineFile(
      m_file, {.plan = planOf(smallNetwork()), .backend = "native", .extents = {{"x", {2, 4}}}, .tactics = {choice}});
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(inspectEngineFile(m_file).value().tactics.at(0).candidates.at(0).ms, std::optional(0.001));
  write(m_file, withDescriptionVersion(contentOf(m_file), '1'));
  const auto old = inspectEngineFile(m_file);
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
