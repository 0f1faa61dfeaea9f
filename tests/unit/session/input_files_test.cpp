#include "session/inputs/load_samples.h"
#include "session/inputs/sample_source.h"
#include "session/inputs/samples.h"
#include "session/open_artifact.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "session/artifact.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kAdd = "g (float[2] x, float[2] w) => (float[2] y) { [add] y = Add (x, w) }";

std::shared_ptr<const Plan> planned(const std::string& graph) {
  const TemporaryFolder folder;
  auto artifact = openArtifact(folder.write("model.onnx", onnxBytes(graph)), {}, {});
  EXPECT_TRUE(artifact.ok());
  return artifact.ok() ? artifact.value().plan : nullptr;
}

Tensor pair(float first, float second) {
  const std::array<float, 2> values = {first, second};
  return Tensor::copyOf<float>(DataType::F32, {2}, values);
}

/// A TensorProto of two floats: dims, data_type, raw_data.
std::string tensorProtoBytes(float first, float second) {
  const std::array<float, 2> values = {first, second};
  std::string raw(sizeof values, '\0');
  std::memcpy(raw.data(), values.data(), sizeof values);
  return std::string("\x08\x02\x10\x01", 4) + wireField(9, raw);
}

void writeNpy(const TemporaryFolder& folder, const std::string& name, const Tensor& tensor) {
  const auto bytes = npyBytes(tensor, name);
  ASSERT_TRUE(bytes.ok());
  folder.write(name, bytes.value());
}

Samples samplesOf(const Plan& plan, const std::vector<std::filesystem::path>& paths,
                  std::optional<std::int64_t> batchAxis = {}) {
  SampleSource source{.paths = {}, .batchAxis = batchAxis};
  for (const auto& path : paths) source.paths.push_back(path.string());
  auto samples = loadSamples(plan, source);
  EXPECT_TRUE(samples.ok()) << samples.error().text();
  return samples.ok() ? std::move(samples).value() : Samples{};
}

Diagnostic refusalOf(const Plan& plan, const std::vector<std::filesystem::path>& paths,
                     std::optional<std::int64_t> batchAxis = {}) {
  SampleSource source{.paths = {}, .batchAxis = batchAxis};
  for (const auto& path : paths) source.paths.push_back(path.string());
  auto samples = loadSamples(plan, source);
  EXPECT_FALSE(samples.ok());
  return samples.ok() ? Diagnostic{} : std::move(samples).error();
}

double valueOf(const Samples& samples, std::size_t sample, const std::string& input, std::int64_t i) {
  return sample < samples.list.size() ? samples.list[sample].inputs.at(input).asDouble(i) : NAN;
}

void writeArchive(const std::filesystem::path& path, const NpzArrays& arrays) {
  ASSERT_TRUE(writeNpz(path, arrays).ok());
}

TEST(InputFiles, ANpzGivesArraysByName) {
  const auto plan = planned(kAdd);
  const TemporaryFolder folder;
  writeArchive(folder.path() / "in.npz", {{"x", pair(1, 2)}, {"w", pair(3, 4)}, {"other", pair(0, 0)}});
  const Samples samples = samplesOf(*plan, {folder.path() / "in.npz"});
  ASSERT_EQ(samples.list.size(), 1U);
  EXPECT_FALSE(samples.random);
  EXPECT_EQ(samples.list[0].name, "in");
  EXPECT_EQ(samples.list[0].inputs.size(), 2U);
  writeArchive(folder.path() / "odd.npz", {{"in:nothing", pair(1, 2)}});
  EXPECT_NE(refusalOf(*plan, {folder.path() / "odd.npz"}).help.find("x"), std::string::npos);
  writeArchive(folder.path() / "half.npz", {{"x", pair(1, 2)}});
  const Diagnostic missing = refusalOf(*plan, {folder.path() / "half.npz"});
  EXPECT_EQ(missing.where.value, "w");
  EXPECT_EQ(missing.where.file, (folder.path() / "half.npz").string());
  writeArchive(folder.path() / "other.npz", {{"y", pair(1, 2)}});
  EXPECT_EQ(refusalOf(*plan, {folder.path() / "other.npz"}).where.value, "y");
}

TEST(InputFiles, ANpyIsOfTheInputThatItIsNamedAfterOrOfTheOnlyOne) {
  const TemporaryFolder folder;
  writeNpy(folder, "w.npy", pair(3, 4));
  writeNpy(folder, "x.npy", pair(7, 8));
  writeNpy(folder, "photo.npy", pair(5, 6));
  const auto two = planned(kAdd);
  const Samples named = samplesOf(*two, {folder.path() / "w.npy", folder.path() / "x.npy"});
  ASSERT_EQ(named.list.size(), 1U);
  EXPECT_EQ(valueOf(named, 0, "w", 1), 4);
  EXPECT_EQ(refusalOf(*two, {folder.path() / "photo.npy"}).where.value, "photo");
  const auto one = planned("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  const Samples photos = samplesOf(*one, {folder.path() / "photo.npy", folder.path() / "w.npy"});
  ASSERT_EQ(photos.list.size(), 2U) << "the second is of the input that the first sample has already";
  EXPECT_EQ(valueOf(photos, 0, "x", 0), 5);
  EXPECT_EQ(valueOf(photos, 1, "x", 0), 3);
}

TEST(InputFiles, AFolderOfTestDataGivesInputsByTheirPlace) {
  const auto plan = planned(kAdd);
  const TemporaryFolder folder;
  for (const char* set : {"test_data_set_0", "test_data_set_1"}) {
    std::filesystem::create_directory(folder.path() / set);
    const float first = set[14] == '0' ? 1 : 10;
    folder.write(std::string(set) + "/input_0.pb", tensorProtoBytes(first, 2));
    folder.write(std::string(set) + "/input_1.pb", tensorProtoBytes(3, 4));
    folder.write(std::string(set) + "/output_0.pb", tensorProtoBytes(4, 6));
  }
  const Samples one = samplesOf(*plan, {folder.path() / "test_data_set_0"});
  ASSERT_EQ(one.list.size(), 1U);
  EXPECT_EQ(valueOf(one, 0, "x", 0), 1);
  EXPECT_EQ(valueOf(one, 0, "w", 1), 4);
  const Samples both = samplesOf(*plan, {folder.path()});
  ASSERT_EQ(both.list.size(), 2U);
  EXPECT_EQ(both.list[1].name, "test_data_set_1");
  EXPECT_EQ(valueOf(both, 1, "x", 0), 10);
  const TemporaryFolder empty;
  EXPECT_EQ(refusalOf(*plan, {empty.path()}).where.file, empty.path().string());
}

TEST(InputFiles, AFolderOfArchivesHoldsASampleEach) {
  const auto plan = planned(kAdd);
  const TemporaryFolder folder;
  writeArchive(folder.path() / "b.npz", {{"x", pair(2, 2)}, {"w", pair(0, 0)}});
  writeArchive(folder.path() / "a.npz", {{"x", pair(1, 1)}, {"w", pair(0, 0)}});
  const Samples samples = samplesOf(*plan, {folder.path(), folder.path() / "a.npz"});
  ASSERT_EQ(samples.list.size(), 3U);
  EXPECT_EQ(valueOf(samples, 0, "x", 0), 1);
  EXPECT_EQ(valueOf(samples, 1, "x", 0), 2);
  EXPECT_EQ(samples.list[2].name, "a#2") << "names tell samples apart";
  writeNpy(folder, "x.npy", pair(3, 4));
  EXPECT_NE(refusalOf(*plan, {folder.path()}).message.find("both"), std::string::npos);
}

/// A .npy of float32 [2] in base64.
constexpr const char* kOneTwo =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAgICAgICAgICAgICAgIC"
    "Ag"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAIA/AAAAQA==";

std::string feed(const std::string& x) {
  return R"({"x": {"array": ")" + x + R"(", "polygraphy_class": "ndarray"}, "w": {"array": ")" + kOneTwo +
         R"(", "polygraphy_class": "ndarray"}})";
}

TEST(InputFiles, PolygraphysInputsAreASampleEach) {
  const auto plan = planned(kAdd);
  const TemporaryFolder folder;
  const Samples samples =
      samplesOf(*plan, {folder.write("inputs.json", "[" + feed(kOneTwo) + "," + feed(kOneTwo) + "]")});
  ASSERT_EQ(samples.list.size(), 2U);
  EXPECT_EQ(samples.list[1].name, "inputs_1");
  EXPECT_EQ(valueOf(samples, 1, "w", 1), 2);
  const Diagnostic cut = refusalOf(*plan, {folder.write("cut.json", "[" + feed("k05VTVBZ!") + "]")});
  EXPECT_EQ(cut.where.attribute, "[0].x");
  EXPECT_EQ(refusalOf(*plan, {folder.write("short.json", "[" + feed("k05VTVBZ") + "]")}).where.attribute, "[0].x");
  const Diagnostic results =
      refusalOf(*plan, {folder.write("results.json", R"({"lst": [], "polygraphy_class": "RunResults"})")});
  EXPECT_NE(results.message.find("RunResults"), std::string::npos);
  for (const char* bad : {"[", "{}", "[]", "[3]", R"([{"x": 3}])"})
    EXPECT_FALSE(refusalOf(*plan, {folder.write("bad.json", bad)}).help.empty()) << bad;
}

TEST(InputFiles, AFolderOfPolygraphysFilesHoldsTheSamplesOfAll) {
  const auto plan = planned(kAdd);
  const TemporaryFolder folder;
  folder.write("a.json", "[" + feed(kOneTwo) + "," + feed(kOneTwo) + "]");
  folder.write("b.json", "[" + feed(kOneTwo) + "]");
  EXPECT_EQ(samplesOf(*plan, {folder.path()}).list.size(), 3U);
  writeArchive(folder.path() / "c.npz", {{"x", pair(1, 1)}, {"w", pair(0, 0)}});
  EXPECT_EQ(samplesOf(*plan, {folder.path()}).list.size(), 1U) << "beside archives it may be anything";
}

TEST(InputFiles, OtherNumbersForAWeightAreRefused) {
  const auto plan = planned("g (float[2] x) => (float[2] y) <float[2] w = {3, 4}> { y = Add (x, w) }");
  const TemporaryFolder folder;
  writeArchive(folder.path() / "same.npz", {{"x", pair(1, 2)}, {"w", pair(3, 4)}});
  EXPECT_EQ(samplesOf(*plan, {folder.path() / "same.npz"}).list.size(), 1U);
  writeArchive(folder.path() / "other.npz", {{"x", pair(1, 2)}, {"w", pair(3, 5)}});
  const Diagnostic refusal = refusalOf(*plan, {folder.path() / "other.npz"});
  EXPECT_EQ(refusal.where.value, "w");
  EXPECT_FALSE(refusal.help.empty());
}

TEST(InputFiles, ABatchAxisIsCutIntoSamples) {
  const auto plan = planned("g (float[1, 2] x, float[2] w) => (float[1, 2] y) { y = Add (x, w) }");
  const TemporaryFolder folder;
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const Tensor batch = Tensor::copyOf<float>(DataType::F32, {3, 2}, values);
  writeArchive(folder.path() / "in.npz", {{"x", batch}, {"w", pair(7, 8)}});
  EXPECT_EQ(refusalOf(*plan, {folder.path() / "in.npz"}).where.value, "x") << "uncut, it is too much at once";
  const Samples samples = samplesOf(*plan, {folder.path() / "in.npz"}, 0);
  ASSERT_EQ(samples.list.size(), 3U);
  EXPECT_EQ(samples.list[2].name, "in_2");
  EXPECT_EQ(samples.list[2].inputs.at("x").dims(), (Dims{1, 2}));
  EXPECT_EQ(valueOf(samples, 2, "x", 1), 6);
  EXPECT_EQ(valueOf(samples, 2, "w", 1), 8) << "what holds one sample is shared by all";
  const Tensor twice = Tensor::copyOf<float>(DataType::F32, {3, 2}, values);
  const auto pairs = planned("g (float[1, 2] x, float[1, 2] w) => (float[1, 2] y) { y = Add (x, w) }");
  writeArchive(folder.path() / "odd.npz", {{"x", twice}, {"w", twice.reshaped({2, 3})}});
  const Diagnostic unequal = refusalOf(*pairs, {folder.path() / "odd.npz"}, 0);
  EXPECT_EQ(unequal.where.attribute, "--batch-axis");
  EXPECT_EQ(unequal.where.file, (folder.path() / "odd.npz").string());
  EXPECT_EQ(refusalOf(*plan, {folder.path() / "in.npz"}, 9).where.attribute, "--batch-axis") << "none has such an axis";
}

TEST(InputFiles, AnInnerAxisIsCutToo) {
  const auto plan = planned("g (float[2, 1] x) => (float[2, 1] y) { y = Relu (x) }");
  const TemporaryFolder folder;
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  writeArchive(folder.path() / "in.npz", {{"x", Tensor::copyOf<float>(DataType::F32, {2, 3}, values)}});
  const Samples samples = samplesOf(*plan, {folder.path() / "in.npz"}, 1);
  ASSERT_EQ(samples.list.size(), 3U);
  EXPECT_EQ(valueOf(samples, 1, "x", 0), 2);
  EXPECT_EQ(valueOf(samples, 1, "x", 1), 5);
}

TEST(InputFiles, WithoutFilesInputsAreRandomAndSaySo) {
  const Samples samples = samplesOf(*planned(kAdd), {});
  ASSERT_EQ(samples.list.size(), 1U);
  EXPECT_TRUE(samples.random);
  Json json;
  addSamples(json, samples);
  EXPECT_EQ(
      json,
      Json({{"samples", 1}, {"random_inputs", true}, {"example_inputs", false}, {"not_finite_inputs", Json::array()}}));
}

}  // namespace
}  // namespace fusescope::test
