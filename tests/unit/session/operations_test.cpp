#include "session/operations/operation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <set>

#include "base/files.h"
#include "session/operations/calibrate_operation.h"
#include "session/operations/shared_settings.h"
#include "session/operations/time_operation.h"
#include "session/operations/tune_operation.h"

namespace fusescope {
namespace {

/// Each with its name: operations that are commands, and parts of them.
std::vector<const Operation*> allOperations() {
  std::vector<const Operation*> all;
  for (const Operation* operation : operations()) {
    all.push_back(operation);
    for (const Operation& part : operation->parts) all.push_back(&part);
  }
  return all;
}

std::vector<Option> ownOptions(const Operation& operation) {
  return operation.usualOptions == nullptr ? std::vector<Option>() : operation.usualOptions();
}

/// The options of the groups that `has` says, with pointers into objects that stay.
std::vector<Option> sharedOptions(const std::function<bool(OptionGroup)>& has) {
  static PlanSettings plan;
  static InputSettings inputs;
  static EngineSettings engine;
  static StepsSettings steps;
  std::vector<Option> all;
  const auto add = [&](OptionGroup group, const std::vector<Option>& options) {
    if (has(group)) all.insert(all.end(), options.begin(), options.end());
  };
  add(OptionGroup::Plan, plan.planOptions());
  add(OptionGroup::Extents, plan.extentsOptions());
  add(OptionGroup::Inputs, inputs.options());
  add(OptionGroup::Engine, engine.options());
  add(OptionGroup::ShapeCache, engine.shapeCacheOptions());
  add(OptionGroup::Steps, steps.options());
  return all;
}

void expectSentences(const std::string& text, const std::string& of) {
  ASSERT_FALSE(text.empty()) << of;
  EXPECT_EQ(text.back(), '.') << of << ": " << text;
  const char first = text.front();
  EXPECT_FALSE(first >= 'a' && first <= 'z') << of << ": " << text;
}

TEST(Operations, EachOptionIsDescribedInSentences) {
  for (const Operation* operation : allOperations()) {
    expectSentences(std::string(operation->summary) + ".", std::string(operation->name));
    for (const Option& option : ownOptions(*operation))
      expectSentences(option.help, std::string(operation->name) + " " + option.name);
  }
  for (const Option& option : sharedOptions([](OptionGroup) { return true; }))
    expectSentences(option.help, option.name);
}

TEST(Operations, NoOptionHasTheNameOfAnother) {
  for (const Operation* operation : allOperations()) {
    std::set<std::string> names{"json", "help", "session"};
    std::vector<Option> all = ownOptions(*operation);
    const std::vector<Option> shared = sharedOptions([&](OptionGroup group) {
      return operation->has(group) || (group == OptionGroup::Extents && operation->has(OptionGroup::Plan));
    });
    all.insert(all.end(), shared.begin(), shared.end());
    for (const Option& option : all)
      EXPECT_TRUE(names.insert(option.name).second) << operation->name << " " << option.name;
  }
}

TEST(Operations, TheDocumentIsMadeOfTheList) {
  const std::string path = std::string(FUSESCOPE_SOURCE_DIR) + "/docs/commands.md";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(writeFileAtomically(path, commandsDocument()).ok());
  }
  const auto text = readTextFile(path);
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(text.value(), commandsDocument())
      << "UPDATE_GOLDEN=1 build/tests/unit_session --gtest_filter=Operations.* writes it anew";
}

TEST(Options, AreReadBackFromJson) {
  TuneSettings settings;
  settings.goal = {
      .maxError = 0.01, .minSpeedup = 1.5, .evaluations = 40, .seconds = 2.5, .seed = 7, .baselines = true};
  settings.of = "y";
  settings.explain = true;
  const Json json = settingsJson(settings);
  EXPECT_EQ(json["max_error"], 0.01);
  EXPECT_FALSE(json.contains("metric")) << "what is as usual is left out";
  const auto back = settingsFromJson<TuneSettings>(json);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back.value(), settings);
}

TEST(Options, OfEarlierSessionsAreRead) {
  const auto settings = settingsFromJson<TuneSettings>(
      Json::parse(R"({"max_error":null,"min_speedup":null,"of":"","metric":"","seconds":0.0,"evaluations":0,"seed":1,
                      "explain":false,"baselines":false})"));
  ASSERT_TRUE(settings.ok()) << settings.error().text();
  EXPECT_EQ(settings.value(), TuneSettings());
}

TEST(Options, RefuseWhatIsOutOfRangeOrOfAnotherKind) {
  const auto problem = [](const char* json) {
    const auto settings = settingsFromJson<CalibrateSettings>(Json::parse(json));
    return settings.ok() ? std::string() : settings.error().where.attribute + ": " + settings.error().message;
  };
  EXPECT_EQ(problem(R"({"percentile":40})"), "percentile: 40.0 must be between 50 and 100");
  EXPECT_NE(problem(R"({"method":"most"})").find("method: "), std::string::npos);
  EXPECT_NE(problem(R"({"weights":"entropy"})").find("weights: "), std::string::npos);
  EXPECT_NE(problem(R"({"exclude":"op:Gemm"})").find("exclude: "), std::string::npos);
  EXPECT_EQ(problem(R"({"percentile":99,"method":"percentile","per_tensor":true})"), "");
}

TEST(Options, SayWhyATextIsRefused) {
  const Option& seconds = usualOption<TimeSettings>("seconds");
  EXPECT_EQ(whyNotAccepted(seconds, "0"), "0 must be more than 0");
  EXPECT_EQ(whyNotAccepted(seconds, "soon"), "'soon' is not a number");
  EXPECT_EQ(whyNotAccepted(seconds, "inf"), "inf must be finite");
  EXPECT_EQ(whyNotAccepted(seconds, "1e-3"), "");
  const Option& seed = usualOption<TuneSettings>("seed");
  EXPECT_EQ(whyNotAccepted(seed, "2.5"), "'2.5' is not a whole number");
  EXPECT_EQ(whyNotAccepted(seed, "99999999999999999999"), "99999999999999999999 is too large");
  EXPECT_EQ(whyNotAccepted(usualOption<CalibrateSettings>("method"), "most"),
            "'most' is none of minmax, percentile, entropy, mse");
}

TEST(Options, BecomeWordsOfACommand) {
  CalibrateSettings settings;
  settings.calibration.choice.method = RangeMethod::Percentile;
  settings.calibration.choice.percentile = 99.5;
  settings.calibration.perChannel = false;
  settings.calibration.exclude = {"op:Gemm", "-odd"};
  EXPECT_EQ(commandWords(settings),
            (std::vector<std::string>{"--method", "percentile", "--percentile", "99.5", "--per-tensor", "--exclude",
                                      "op:Gemm", "--exclude=-odd"}));
  EXPECT_TRUE(commandWords(CalibrateSettings()).empty());
}

}  // namespace
}  // namespace fusescope
