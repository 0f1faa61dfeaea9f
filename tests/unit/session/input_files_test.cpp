#include "session/input_files.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/files.h"
#include "interchange/npz.h"
#include "session/session.h"
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

TEST(InputFiles, ANpzGivesArraysByName) {
  const auto plan = planned(kAdd);
  const TemporaryFolder folder;
  ASSERT_TRUE(writeNpz(folder.path() / "in.npz", {{"x", pair(1, 2)}, {"other", pair(0, 0)}}).ok());
  const auto values = readInputFiles(*plan, folder.path() / "in.npz");
  ASSERT_TRUE(values.ok()) << values.error().text();
  EXPECT_EQ(values.value().size(), 1U);
  ASSERT_TRUE(writeNpz(folder.path() / "odd.npz", {{"in:nothing", pair(1, 2)}}).ok());
  const auto refused = readInputFiles(*plan, folder.path() / "odd.npz");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().help.find("x"), std::string::npos);
}

TEST(InputFiles, ANpyIsOfTheInputThatItIsNamedAfterOrOfTheOnlyOne) {
  const TemporaryFolder folder;
  writeNpy(folder, "w.npy", pair(3, 4));
  writeNpy(folder, "photo.npy", pair(5, 6));
  const auto two = planned(kAdd);
  const auto named = readInputFiles(*two, folder.path() / "w.npy");
  ASSERT_TRUE(named.ok()) << named.error().text();
  EXPECT_EQ(named.value().at("w").asDouble(1), 4);
  EXPECT_FALSE(readInputFiles(*two, folder.path() / "photo.npy").ok());
  const auto one = planned("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  const auto only = readInputFiles(*one, folder.path() / "photo.npy");
  ASSERT_TRUE(only.ok()) << only.error().text();
  EXPECT_EQ(only.value().at("x").asDouble(0), 5);
}

TEST(InputFiles, AFolderOfTestDataGivesInputsByTheirPlace) {
  const auto plan = planned(kAdd);
  const TemporaryFolder folder;
  folder.write("input_0.pb", tensorProtoBytes(1, 2));
  folder.write("input_1.pb", tensorProtoBytes(3, 4));
  folder.write("output_0.pb", tensorProtoBytes(4, 6));
  const auto values = readInputFiles(*plan, folder.path());
  ASSERT_TRUE(values.ok()) << values.error().text();
  EXPECT_EQ(values.value().at("x").asDouble(0), 1);
  EXPECT_EQ(values.value().at("w").asDouble(1), 4);
  const TemporaryFolder empty;
  EXPECT_FALSE(readInputFiles(*plan, empty.path()).ok());
}

}  // namespace
}  // namespace fusescope::test
