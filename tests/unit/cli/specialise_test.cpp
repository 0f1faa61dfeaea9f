// `time --specialise`: which engine serves which extents, and why. No time is asserted.
#include <algorithm>
#include <set>

#include "interchange/npz.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

/// A file with images for tiny_resnet_dynbatch, so many at once.
std::string imagesIn(const TemporaryFolder& folder, std::int64_t batch) {
  const auto path = (folder / ("batch_" + std::to_string(batch) + ".npz")).string();
  EXPECT_TRUE(writeNpz(path, {{"x", Tensor::zeros(DataType::F32, {batch, 3, 64, 64})}}).ok());
  return path;
}

std::vector<std::string> timeSpecialised(const std::vector<std::string>& more) {
  std::vector<std::string> command{"time",
                                   samplePath("tiny_resnet_dynbatch"),
                                   "--specialise",
                                   "--settle-seconds",
                                   "300",
                                   "--threads",
                                   "1",
                                   "--seconds",
                                   "0.05",
                                   "--warmup",
                                   "0"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

std::set<std::string> decisionsIn(const Json& document) {
  std::set<std::string> codes;
  for (const Json& decision : document.at("decisions")) codes.insert(decision.at("code").get<std::string>());
  return codes;
}

TEST(Specialise, SaysForEachSampleWhoServesAndWhy) {
  const TemporaryFolder folder;
  const Json json = jsonOf(fusescopeCommand(
      timeSpecialised({"--inputs", imagesIn(folder, 2), "--inputs", imagesIn(folder, 5), "--json", "--per-layer"})));
  EXPECT_EQ(json["format"], "fusescope.specialised");
  EXPECT_EQ(json["settled"], true);
  ASSERT_EQ(json["samples"].size(), 2U);
  std::int64_t engines = 0;
  for (const Json& sample : json["samples"]) {
    const bool isSpecialised = sample["served_by"] == "specialised";
    EXPECT_EQ(sample["state"], isSpecialised ? "taken_over" : "kept_general") << sample;
    EXPECT_EQ(sample["extents"]["x"][1], 3);
    for (const char* key : {"general_ms", "specialised_ms", "build_ms", "first_ms"})
      EXPECT_TRUE(sample[key].is_number()) << key << sample;
    EXPECT_EQ(sample["taken_over_ms"].is_number(), isSpecialised);
    EXPECT_GT(sample["calls_by_specialised"], 0);
    EXPECT_FALSE(sample["time"]["layers"].empty());
    engines += isSpecialised ? 1 : 0;
  }
  EXPECT_EQ(json["engines"], engines);
  const auto codes = decisionsIn(json);
  for (const char* code : {"build.extents_new", "build.extents_building", "build.extents_built"})
    EXPECT_TRUE(codes.contains(code)) << code;
  EXPECT_EQ(codes.contains("build.extents_taken_over"), engines > 0);
  EXPECT_EQ(codes.contains("build.extents_not_faster"), engines < 2);
}

TEST(Specialise, PeopleReadTheSame) {
  const TemporaryFolder folder;
  const auto people = fusescopeCommand(timeSpecialised({"--inputs", imagesIn(folder, 3), "--most-specialised", "1"}));
  ASSERT_EQ(people.status, 0) << people.err;
  for (const char* part : {"served by", "x [3, 3, 64, 64]", "(build.extents_built)", "which serves x [3, 3, 64, 64]:"})
    EXPECT_NE(people.out.find(part), std::string::npos) << part << people.out;
}

TEST(Specialise, WhereNothingIsOpenTheEngineServesAsItIs) {
  const Json json = jsonOf(fusescopeCommand(
      {"time", samplePath("fp16_overflow"), "--specialise", "--seconds", "0.05", "--warmup", "0", "--json"}));
  EXPECT_EQ(decisionsIn(json), std::set<std::string>{"build.extents_fixed"});
  EXPECT_EQ(json["samples"][0]["served_by"], "general");
  EXPECT_EQ(json["settled"], true);
}

TEST(Specialise, TooLittleMemoryKeepsTheGeneralEngine) {
  const TemporaryFolder folder;
  const Json json = jsonOf(
      fusescopeCommand(timeSpecialised({"--inputs", imagesIn(folder, 16), "--most-specialised-mib", "1", "--json"})));
  EXPECT_TRUE(decisionsIn(json).contains("build.extents_too_large"));
  EXPECT_EQ(json["samples"][0]["served_by"], "general");
  EXPECT_EQ(json["bytes"], 0);
}

TEST(Specialise, OptionsThatMeanNothingTogetherAreRefused) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--steps", "3"}, {"--most-specialised", "0"}, {"--most-specialised-mib", "0"}})
    EXPECT_EQ(fusescopeCommand(timeSpecialised(more)).status, 2) << more.front();
  const auto alone = fusescopeCommand({"time", samplePath("tiny_resnet_dynbatch"), "--most-specialised", "2"});
  EXPECT_EQ(alone.status, 2);
}

}  // namespace
}  // namespace fusescope::test
