// build --then: several builds in one process, each of which makes only what its directives changed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::string productAndActivation(int i) {
  const std::string number = std::to_string(i), from = i == 0 ? "x" : "r" + std::to_string(i - 1);
  return "[mm" + number + "] h" + number + " = MatMul (" + from + ", w" + number + ") [act" + number + "] r" + number +
         " = Relu (h" + number + ") ";
}

std::string weightOf(int i, int width, int next) {
  std::string text =
      "float[" + std::to_string(width) + ", " + std::to_string(next) + "] w" + std::to_string(i) + " = {";
  for (int k = 0; k < width * next; ++k) text += (k > 0 ? ", " : "") + std::to_string(0.01 * ((k * 37 + i) % 41 - 20));
  return text + "}";
}

/// Three products of different extents, each with an activation.
std::string threeProducts() {
  const int widths[] = {8, 16, 24, 32};
  std::string weights, nodes;
  for (int i = 0; i < 3; ++i) {
    weights += (i > 0 ? ", " : "") + weightOf(i, widths[i], widths[i + 1]);
    nodes += productAndActivation(i);
  }
  return onnxBytes("g (float[4, 8] x) => (float[4, 32] r2) <" + weights + "> { " + nodes + "}");
}

std::string directivesWith(const std::string& pins) {
  return R"({"format": "fusescope.directives", "version": 3, "directives": [)" + pins + "]}";
}

std::string pin(const std::string& node, const std::string& strictness = "prefer", const std::string& type = "bf16") {
  return R"({"kind": "pin", "pattern": ")" + node + R"(", "type": ")" + type + R"(", "strictness": ")" + strictness +
         "\"}";
}

class BuildThen : public testing::Test {
 protected:
  ProcessResult build(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"build", m_model, "-o", m_engine, "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return fusescopeCommand(words);
  }
  std::string file(const std::string& name, const std::string& text) const {
    return m_folder.write(name, text).string();
  }

  TemporaryFolder m_folder;
  std::string m_model = m_folder.write("model.onnx", threeProducts()).string();
  std::string m_engine = (m_folder / "e.fse").string();
};

TEST_F(BuildThen, AreTheEnginesThatEachCommandMakes) {
  const std::string one = file("one.json", directivesWith(pin("mm1")));
  const std::string two = file("two.json", directivesWith(pin("mm1") + ", " + pin("mm2")));
  const Json json = jsonOf(build({"--no-measure", "--then", one, "--then", two, "--json"}));
  ASSERT_EQ(json["builds"].size(), 3U);
  const Json &first = json["builds"][0], &second = json["builds"][1], &third = json["builds"][2];
  EXPECT_TRUE(first["directives"].is_null());
  EXPECT_EQ(second["directives"], one);
  EXPECT_EQ(second["engine"], (m_folder / "e-one.fse").string());
  EXPECT_EQ(first["taken_over"], 0);
  EXPECT_EQ(first["compiled"], first["distinct"]);
  for (const Json& build : {second, third}) {
    EXPECT_GE(build["taken_over"].get<int>(), 1) << build.dump(1);
    EXPECT_LE(build["compiled"].get<int>(), 2) << build.dump(1);
    EXPECT_EQ(build["taken_over"].get<int>() + build["compiled"].get<int>(), build["regions"].get<int>());
    EXPECT_GT(build["seconds"].get<double>(), 0);
  }
  // Alone, a command makes the same bytes.
  for (const auto& [directives, engine] : {std::pair(one, "e-one.fse"), {two, "e-two.fse"}}) {
    const std::string alone = (m_folder / "alone.fse").string();
    const auto result =
        fusescopeCommand({"build", m_model, "-o", alone, "--threads", "1", "--no-measure", "--directives", directives});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(readTextFile(alone).value(), readTextFile(m_folder / engine).value()) << engine;
  }
  EXPECT_EQ(fusescopeCommand({"run", (m_folder / "e-two.fse").string()}).status, 0);
}

TEST_F(BuildThen, AreListedForPeople) {
  const std::string one = file("one.json", directivesWith(pin("mm1")));
  const auto result = build({"--no-measure", "--then", one});
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* words : {"taken over", "as given", "one.json", "e-one.fse"})
    EXPECT_NE(result.out.find(words), std::string::npos) << result.out;
}

TEST_F(BuildThen, AreRefusedBeforeAnythingIsBuilt) {
  const std::string one = file("one.json", directivesWith(pin("mm1")));
  std::filesystem::create_directory(m_folder / "other");
  const std::string same = file("other/one.json", directivesWith(pin("mm2")));
  const auto twice = build({"--no-measure", "--then", one, "--then", same});
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.err.find("two engines would be written"), std::string::npos) << twice.err;
  const auto missing = build({"--no-measure", "--then", (m_folder / "none.json").string()});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("none.json"), std::string::npos) << missing.err;
  EXPECT_FALSE(std::filesystem::exists(m_engine));
  const std::string plan = (m_folder / "plan.json").string();
  ASSERT_EQ(fusescopeCommand({"plan", m_model, "-o", plan}).status, 0);
  const auto ofPlan = fusescopeCommand({"build", plan, "-o", m_engine, "--then", one});
  EXPECT_EQ(ofPlan.status, 2);
  EXPECT_NE(ofPlan.err.find("already contains its directives"), std::string::npos) << ofPlan.err;
}

TEST_F(BuildThen, EndAtAPinThatIsRefused) {
  const std::string refused = file("refused.json", directivesWith(pin("mm1", "obey", "int8")));
  const std::string unknown = file("unknown.json", directivesWith(pin("nothing_of_this_name")));
  const auto none = build({"--no-measure", "--then", unknown});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("matches no node"), std::string::npos) << none.err;
  const auto result = build({"--no-measure", "--then", refused, "--json"});
  EXPECT_NE(result.status, 0);
  EXPECT_FALSE(std::filesystem::exists(m_folder / "e-refused.fse"));
}

/// The times of kernels of our own compiler, in a cache folder of the test.
class OwnTimes : public BuildThen {
 protected:
  OwnTimes() {
    if (const char* set = std::getenv("FUSESCOPE_CACHE")) m_before = set;
    ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1);
  }
  ~OwnTimes() override { ::setenv("FUSESCOPE_CACHE", m_before.c_str(), 1); }

  static std::int64_t timesKept() { return jsonOf(fusescopeCommand({"cache", "list", "--json"}))["times"]["count"]; }
  std::int64_t regionsKept() const {
    const Json json = why("1");
    return std::ranges::count_if(json["regions"], [](const Json& region) { return region["kept"] == true; });
  }
  /// Builds until times of a region are kept, which those are not that a busy machine disturbs.
  void buildMeasured() const {
    for (int i = 0; i < 50 && regionsKept() == 0; ++i) ASSERT_EQ(build({}).status, 0);
    ASSERT_GT(regionsKept(), 0);
  }
  Json why(const std::string& threads) const {
    return Json::parse(fusescopeCommand({"cache", "why", m_model, "--threads", threads, "--json"}).out);
  }

 private:
  std::string m_before;
};

TEST_F(OwnTimes, AreNeitherUsedNorKeptWithoutTheCache) {
  ASSERT_EQ(build({"--cache", "off"}).status, 0);
  EXPECT_EQ(timesKept(), 0);
  ASSERT_EQ(build({"--cache", "read"}).status, 0);
  EXPECT_EQ(timesKept(), 0);
  buildMeasured();
  const Json off = jsonOf(build({"--cache", "off", "--json"}));
  for (const Json& tactic : off["tactics"]) EXPECT_FALSE(tactic["from_cache"]) << tactic;
}

TEST_F(OwnTimes, PredictNothingWithoutTheCache) {
  const auto predicted = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan", m_model, "--json"});
    return jsonOf(fusescopeCommand(more))["predicted"];
  };
  for (int i = 0; i < 50 && predicted({})["measured_ms"] == 0; ++i)
    ASSERT_EQ(fusescopeCommand({"build", m_model, "-o", m_engine}).status, 0);
  EXPECT_GT(predicted({})["measured_ms"], 0) << "by times of earlier builds";
  EXPECT_EQ(predicted({"--cache", "off"})["measured_ms"], 0);
}

/// The time of a region that was left as noise is measured alone by the first build. A busy machine measures it again
/// until it is sure of it.
TEST_F(OwnTimes, OfRegionsThatWereLeftAsNoiseAreSaidToBeOfBefore) {
  bool areAllBefore = false;
  Json json;
  ASSERT_EQ(build({}).status, 0);
  for (int i = 0; i < 20 && !areAllBefore; ++i) {
    json = jsonOf(build({"--json"}));
    areAllBefore = std::ranges::all_of(
        json["tactics"], [](const Json& tactic) { return tactic["left"] != "noise" || tactic["from_cache"] == true; });
  }
  EXPECT_TRUE(areAllBefore) << json["tactics"];
}

TEST_F(OwnTimes, AreNamedByWhy) {
  const ProcessResult before = fusescopeCommand({"cache", "why", m_model, "--threads", "1"});
  EXPECT_EQ(before.status, 1) << before.err;
  EXPECT_NE(before.out.find("not kept"), std::string::npos) << before.out;
  EXPECT_NE(before.out.find("the times of 0 of 3 distinct regions are kept"), std::string::npos) << before.out;
  buildMeasured();
  std::int64_t kept = 0, ofOtherThreads = 0;
  const Json same = why("1"), other = why("2");
  for (const Json& region : same["regions"]) {
    if (!region["kept"]) continue;
    ++kept;
    EXPECT_EQ(region["first_day"].get<std::string>().size(), 10U) << region;
  }
  EXPECT_GT(kept, 0);
  for (const Json& region : other["regions"]) {
    EXPECT_FALSE(region["kept"]) << region;
    for (const Json& each : region["differs"])
      ofOtherThreads += each == Json{{"field", "threads"}, {"here", "2"}, {"nearest", "1"}} ? 1 : 0;
  }
  EXPECT_GE(ofOtherThreads, kept);
}

/// A machine of a team has its own folder, and the place in common. A busy machine may find the place too slow.
TEST_F(OwnTimes, OfATeamAreMeasuredOnce) {
  const std::filesystem::path team = m_folder / "team";
  std::filesystem::create_directory(team);
  ::setenv("FUSESCOPE_SHARED_STORE", team.c_str(), 1);
  Json second;
  for (int i = 0; i < 10 && (i == 0 || second["measured"] != 0); ++i) {
    for (int k = 0; k < 20; ++k) {
      ::setenv("FUSESCOPE_CACHE", (m_folder / fmt::format("first {}", i)).c_str(), 1);
      if (jsonOf(build({"--json"}))["measured"] == 0) break;
    }
    ::setenv("FUSESCOPE_CACHE", (m_folder / fmt::format("second {}", i)).c_str(), 1);
    second = jsonOf(build({"--json"}));
  }
  EXPECT_EQ(second["measured"], 0) << second;
  EXPECT_GT(timesKept(), 0) << "what is found in the place is kept here too";
  ::setenv("FUSESCOPE_CACHE", (m_folder / "third").c_str(), 1);
  const Json alone = jsonOf(build({"--json", "--cache", "off"}));
  EXPECT_GT(alone["measured"], 0) << "the place is part of the cache";
  ::unsetenv("FUSESCOPE_SHARED_STORE");
}

TEST_F(OwnTimes, AreMeasuredHereAndSaidSoIfThePlaceOfATeamCannotBeUsed) {
  ::setenv("FUSESCOPE_SHARED_STORE", (m_folder / "no such folder").c_str(), 1);
  const Json built = jsonOf(build({"--json"}));
  ::unsetenv("FUSESCOPE_SHARED_STORE");
  EXPECT_GT(built["measured"], 0);
  EXPECT_TRUE(std::ranges::any_of(built["decisions"], [](const Json& each) { return each["code"] == "cache.store"; }))
      << built["decisions"];
}

TEST_F(OwnTimes, AreRemovedDownToTheLimit) {
  buildMeasured();
  const std::int64_t before = timesKept();
  const Json gone = jsonOf(fusescopeCommand({"cache", "gc", "--limit", "1000", "--json"}));
  EXPECT_GT(gone["times_removed"], 0) << gone;
  EXPECT_EQ(timesKept(), before - gone["times_removed"].get<std::int64_t>());
  EXPECT_LE(gone["times_bytes"], 500);
}

TEST_F(OwnTimes, AreRemovedIfThatIsAsked) {
  buildMeasured();
  const std::int64_t all = timesKept();
  EXPECT_EQ(jsonOf(fusescopeCommand({"cache", "clear", "--json"}))["times_removed"], 0);
  EXPECT_EQ(timesKept(), all);
  EXPECT_EQ(jsonOf(fusescopeCommand({"cache", "clear", "--times", "--json"}))["times_removed"], all);
  EXPECT_EQ(timesKept(), 0);
}

TEST(Builds, SayHowManyRegionsWereEqual) {
  const TemporaryFolder folder;
  const std::string weights = weightOf(0, 8, 8) + ", " + weightOf(1, 8, 8) + ", " + weightOf(2, 8, 8);
  const std::string nodes = productAndActivation(0) + productAndActivation(1) + productAndActivation(2);
  const std::string model =
      folder.write("model.onnx", onnxBytes("g (float[4, 8] x) => (float[4, 8] r2) <" + weights + "> { " + nodes + "}"))
          .string();
  const ProcessResult built =
      fusescopeCommand({"build", model, "-o", (folder / "e.fse").string(), "--no-measure", "--threads", "1"});
  EXPECT_EQ(built.status, 0) << built.err;
  EXPECT_NE(built.out.find("2 of 3 regions were equal to others, and were compiled and measured once with them"),
            std::string::npos)
      << built.out;
}

}  // namespace
}  // namespace fusescope::test
