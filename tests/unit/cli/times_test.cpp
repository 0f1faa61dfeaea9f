// What the command line says of times, and what it does about scratch memory.
#include <set>

#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

Json timesOf(std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "time", samplePath("fp16_overflow"), "--seconds", "0.05", "--warmup", "0", "--json", "--per-layer"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return jsonOf(fusescopeCommand(arguments));
}

TEST(Times, AnEmulatedTypeHasNone) {
  for (const char* target : {"cpu", "cpu:avx2", "cpu:avx512+avx512_fp16+avx512_bf16"}) {
    for (const char* type : {"f16", "bf16"}) {
      const Json time = timesOf({"--precision", type, "--target", target, "--backend", "reference"});
      for (const char* key : {"median_ms", "min_ms", "p95_ms", "p99_ms", "throughput"})
        EXPECT_TRUE(time[key].is_null()) << key;
      const auto reason = time["unavailable_reason"].get<std::string>();
      EXPECT_NE(reason.find("the reference runs " + std::string(type)), std::string::npos) << reason;
      EXPECT_EQ(reason.find("avx"), std::string::npos) << reason;
    }
  }
  const auto people =
      fusescopeCommand({"time", samplePath("fp16_overflow"), "--precision", "f16", "--backend", "reference"});
  EXPECT_EQ(people.status, 0);
  EXPECT_NE(people.out.find("time unavailable: the reference runs f16"), std::string::npos) << people.out;
}

TEST(Times, NarrowFloatsHaveThem) {
  for (const char* type : {"f16", "bf16"}) {
    const Json time = timesOf({"--precision", type, "--target", "cpu:none"});
    EXPECT_TRUE(time["median_ms"].is_number()) << time["unavailable_reason"];
    for (const Json& layer : time["layers"]) EXPECT_TRUE(layer["median_ms"].is_number()) << layer;
  }
}

TEST(Times, LayersOfAMixedPlanSayWhichAreReal) {
  const Json time = timesOf({"--pin", "node_linear=f16", "--backend", "reference"});
  EXPECT_TRUE(time["median_ms"].is_null());
  std::size_t real = 0, emulated = 0;
  for (const Json& layer : time["layers"]) {
    const bool isReal = layer["emulated"] == false;
    EXPECT_EQ(layer["median_ms"].is_number(), isReal) << layer;
    ++(isReal ? real : emulated);
    if (!layer["types"].is_null()) {
      EXPECT_EQ(layer["types"]["compute"] == "f16", !isReal) << layer;
    }
  }
  EXPECT_GT(real, 1U);
  EXPECT_GT(emulated, 0U);
}

TEST(Times, ABuildMeasuresNothingEmulated) {
  const TemporaryFolder folder;
  const Json build = jsonOf(fusescopeCommand({"build", samplePath("fp16_overflow"), "--precision", "f16", "--backend",
                                              "reference", "-o", (folder / "e.fse").string(), "--json"}));
  ASSERT_FALSE(build["tactics"].empty());
  for (const Json& tactic : build["tactics"])
    for (const Json& candidate : tactic["candidates"]) EXPECT_TRUE(candidate["ms"].is_null()) << tactic;
}

TEST(Times, ABuildMeasuresNarrowFloats) {
  const TemporaryFolder folder;
  const Json build = jsonOf(fusescopeCommand(
      {"build", samplePath("fp16_overflow"), "--precision", "f16", "-o", (folder / "e.fse").string(), "--json"}));
  ASSERT_FALSE(build["tactics"].empty());
  for (const Json& tactic : build["tactics"])
    for (const Json& candidate : tactic["candidates"])
      EXPECT_EQ(candidate["ms"].is_number(), candidate["name"] != "reference") << tactic;
}

TEST(Times, ABuildWithoutEffortMeasuresNothingAndSaysSo) {
  const TemporaryFolder folder;
  const std::string engine = (folder / "e.fse").string();
  // No other test uses so many threads, so that no times are known.
  const std::vector<std::string> command{"build", samplePath("bert_tiny"), "--threads", "3", "--effort", "0", "-o",
                                         engine};
  std::vector<std::string> json = command;
  json.emplace_back("--json");
  const Json build = jsonOf(fusescopeCommand(json));
  for (const Json& tactic : build["tactics"])
    for (const Json& candidate : tactic["candidates"]) EXPECT_TRUE(candidate["ms"].is_null()) << tactic;
  const Json& measuring = build["measuring"];
  EXPECT_EQ(measuring["budget_seconds"], 0);
  EXPECT_EQ(measuring["budget_asked"], true);
  EXPECT_GT(measuring["left_effort"], 0);
  EXPECT_EQ(measuring["measured"], 0);
  const auto people = fusescopeCommand(command);
  EXPECT_NE(people.out.find("were not measured, of"), std::string::npos) << people.out << people.err;
  EXPECT_EQ(fusescopeCommand({"build", samplePath("bert_tiny"), "--effort", "-1", "-o", engine}).status, 2);
  EXPECT_EQ(fusescopeCommand({"build", samplePath("bert_tiny"), "--effort", "1", "--no-measure", "-o", engine}).status,
            2);
}

TEST(Times, StepsAreToldOneByOne) {
  const Json time =
      jsonOf(fusescopeCommand({"time", samplePath("squeezenet1_1"), "--steps", "4", "--warmup", "0", "--json"}));
  ASSERT_EQ(time["steps_ms"].size(), 4U);
  EXPECT_EQ(time["samples"], 4);
  EXPECT_EQ(time["first_ms"], time["steps_ms"].front());
  EXPECT_EQ(time["last_ms"], time["steps_ms"].back());
  double sum = 0;
  for (const Json& ms : time["steps_ms"]) sum += ms.get<double>();
  EXPECT_DOUBLE_EQ(time["mean_ms"].get<double>(), sum / 4);
  const auto people = fusescopeCommand({"run", samplePath("squeezenet1_1"), "--steps", "2"});
  EXPECT_NE(people.out.find("2 steps: mean "), std::string::npos) << people.out << people.err;
}

TEST(Times, StepsThatCannotBeAreBadUse) {
  const std::string network = samplePath("squeezenet1_1");
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"time", network, "--feed", "view=x"},
                                             {"time", network, "--steps", "0"},
                                             {"time", network, "--steps", "2", "--per-layer"},
                                             {"time", network, "--steps", "2", "--seconds", "1"},
                                             {"time", network, "--steps", "2", "--feed", "view"},
                                             {"run", network, "--steps", "2", "--feed", "=x"},
                                             {"run", network, "--steps", "2", "--feed", "view=y"},
                                             {"run", network, "--steps", "2", "--feed", "view=x"}}) {
    const auto result = fusescopeCommand(bad);
    EXPECT_EQ(result.status, 2) << bad.back();
    EXPECT_FALSE(result.err.empty()) << bad.back();
  }
  const auto shape = fusescopeCommand({"run", network, "--steps", "2", "--feed", "view=x"});
  EXPECT_NE(shape.err.find("tensor 'x': in step 2 of 2: has extents [1, 1000]"), std::string::npos) << shape.err;
}

TEST(Times, MemoryIsThatOfTheProcess) {
  for (const char* verb : {"run", "time"}) {
    std::vector<std::string> command{verb, samplePath("squeezenet1_1"), "--json"};
    if (std::string_view(verb) == "time") command.insert(command.end(), {"--seconds", "0.05", "--warmup", "0"});
    const Json memory = jsonOf(fusescopeCommand(command))["memory"];
    const auto peak = memory["peak_resident_bytes"].get<std::int64_t>();
    EXPECT_GE(peak, memory["resident_bytes"].get<std::int64_t>());
    EXPECT_GE(memory["resident_bytes"].get<std::int64_t>(), memory["mapped_bytes"].get<std::int64_t>());
    EXPECT_GE(memory["arena_bytes"].get<std::int64_t>() + 4 * (3 * 224 * 224 + 1000),
              memory["live_bytes"].get<std::int64_t>());
    EXPECT_GT(memory["live_bytes"].get<std::int64_t>(), 4 * 64 * 111 * 111) << "the first convolution's output";
    EXPECT_GT(memory["weight_bytes"].get<std::int64_t>(), 0);
    EXPECT_GT(peak, memory["weight_bytes"].get<std::int64_t>() + memory["live_bytes"].get<std::int64_t>());
  }
}

TEST(Times, AComparisonWithAnEmulatedEngineHasNoRatio) {
  const TemporaryFolder folder;
  const auto a = (folder / "a.fse").string(), b = (folder / "b.fse").string();
  ASSERT_EQ(fusescopeCommand({"build", samplePath("fp16_overflow"), "-o", a}).status, 0);
  ASSERT_EQ(
      fusescopeCommand({"build", samplePath("fp16_overflow"), "--precision", "f16", "--backend", "reference", "-o", b})
          .status,
      0);
  const Json compared = jsonOf(fusescopeCommand({"compare", a, b, "--seconds", "0.2", "--json"}));
  EXPECT_TRUE(compared["b_ms"].is_null());
  EXPECT_TRUE(compared["ratio_range"].is_null());
  for (const Json& group : compared["groups"]) {
    EXPECT_TRUE(group["b_ms"].is_null()) << group;
    EXPECT_TRUE(group["delta_ms"].is_null()) << group;
  }
  EXPECT_NE(compared["time_unavailable"].get<std::string>().find("B: the reference runs f16"), std::string::npos);
}

TEST(Times, APlanSaysHowItsTimeIsKnown) {
  const TemporaryFolder folder;
  const std::string engine = (folder / "e.fse").string();
  ASSERT_EQ(fusescopeCommand({"build", samplePath("squeezenet1_1"), "-o", engine}).status, 0);
  const Json plan = jsonOf(fusescopeCommand({"plan", samplePath("squeezenet1_1"), "--json"}));
  const Json& predicted = plan["predicted"];
  EXPECT_EQ(predicted["ms"], plan["predicted_ms"]);
  double measured = 0, fitted = 0;
  std::int64_t unknown = 0;
  for (const char* part : {"fused_nodes", "casts"}) {
    for (const Json& entry : plan[part]) {
      const Json& how = entry["predicted_how"];
      EXPECT_EQ(how.is_null(), entry["predicted_ms"].is_null()) << entry;
      unknown += how.is_null() ? 1 : 0;
      if (how == "measured") measured += entry["predicted_ms"].get<double>();
      if (how == "fitted") fitted += entry["predicted_ms"].get<double>();
    }
  }
  EXPECT_GT(measured, 0);
  EXPECT_DOUBLE_EQ(predicted["measured_ms"].get<double>(), measured);
  EXPECT_DOUBLE_EQ(predicted["fitted_ms"].get<double>(), fitted);
  EXPECT_EQ(predicted["unknown"], unknown);
}

/// Builds bert_tiny within a workspace.
ProcessResult buildWithin(const std::string& bytes, const std::string& engine) {
  return fusescopeCommand(
      {"build", samplePath("bert_tiny"), "--workspace", bytes, "--no-measure", "-o", engine, "--json"});
}

TEST(Workspace, IsRefusedWithWhatItWouldTake) {
  const TemporaryFolder folder;
  const auto engine = (folder / "e.fse").string();
  const auto refused = buildWithin("1", engine);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("bytes of scratch memory; --workspace allows 1"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("node 'node_"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("Give --workspace "), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(engine));
}

TEST(Workspace, IsObeyedAndKeptByTheEngine) {
  const TemporaryFolder folder;
  const auto engine = (folder / "e.fse").string();
  // What each refusal says that it takes, until nothing is refused.
  std::string bytes = "1";
  ProcessResult built = buildWithin(bytes, engine);
  for (int i = 0; i < 20 && built.status == 2; ++i) {
    const std::string ask = "Give --workspace ";
    const std::size_t at = built.err.find(ask);
    ASSERT_NE(at, std::string::npos) << built.err;
    bytes = built.err.substr(at + ask.size(), built.err.find(' ', at + ask.size()) - at - ask.size());
    built = buildWithin(bytes, engine);
  }
  const Json report = jsonOf(built);
  std::set<std::pair<std::string, std::string>> refused;
  for (const Json& decision : report["decisions"]) {
    if (decision["code"] != "tactic.workspace") continue;
    EXPECT_GT(decision["arguments"]["bytes"].get<std::int64_t>(), std::stoll(bytes));
    refused.emplace(decision["subjects"][0]["fused_node"], decision["arguments"]["tactic"]);
  }
  EXPECT_FALSE(refused.empty()) << "the unfused way needs room for what is between its parts";
  for (const Json& tactic : report["tactics"]) {
    EXPECT_FALSE(refused.contains({tactic["fused_node"], tactic["chosen"]})) << tactic;
    EXPECT_NE(tactic["chosen"], "reference") << tactic;
  }
  const Json saved = jsonOf(fusescopeCommand({"plan", engine, "--json"}));
  EXPECT_EQ(saved["options"]["workspace_bytes"].get<std::int64_t>(), std::stoll(bytes));
  const auto ran =
      fusescopeCommand({"run", engine, "--inputs", sampleInputs("bert_tiny"), "--expect", sampleInputs("bert_tiny")});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
}

TEST(Workspace, ZeroIsNoLimitAndNonsenseIsBadUse) {
  const TemporaryFolder folder;
  const auto engine = (folder / "e.fse").string();
  const Json free = jsonOf(buildWithin("0", engine));
  for (const Json& decision : free["decisions"]) EXPECT_NE(decision["code"], "tactic.workspace");
  for (const char* bad : {"-1", "lots", "1.5", "99999999999999999999"}) {
    const auto result = buildWithin(bad, engine);
    EXPECT_EQ(result.status, 2) << bad;
    EXPECT_NE(result.err.find("--workspace"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace fusescope::test
