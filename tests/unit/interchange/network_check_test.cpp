// The check that a network which was written is read with the types of the plan.
#include "interchange/typed_network/network_check.h"
#include "interchange/typed_network/make_typed_network.h"

#include <gtest/gtest.h>

#include "frontends/importers.h"
#include "onnxlib/edited_network.h"
#include "onnxlib/onnx_text.h"
#include "passes/pipelines.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

class NetworkCheck : public ::testing::Test {
 protected:
  std::shared_ptr<const Plan> planOf(const std::filesystem::path& path, std::vector<DataType> precisions) const {
    auto model = importModel(path);
    EXPECT_TRUE(model.ok()) << model.error().text();
    auto prepared = prepareModel(std::move(model).value());
    EXPECT_TRUE(prepared.ok()) << prepared.error().text();
    const auto plan = makePlan(std::make_shared<const Model>(std::move(prepared).value()),
                               {.target = "cpu:avx2", .precisions = std::move(precisions)});
    EXPECT_TRUE(plan.ok()) << plan.error().text();
    return plan.value();
  }

  /// The network with the types of `plan`, as it is read again.
  std::shared_ptr<const Plan> readingOf(const Plan& plan, TypedNetwork& network) const {
    const auto file = onnxlib::readModel(plan.model->path);
    EXPECT_TRUE(file.ok());
    auto typed = typedNetwork(plan, file.value(), {});
    EXPECT_TRUE(typed.ok()) << typed.error().text();
    network = std::move(typed).value();
    const auto bytes = onnxlib::editNetwork(plan.model->path, network.edits, "w");
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return planOf(m_folder.write("typed.onnx", bytes.value().model), {});
  }

  std::filesystem::path network() const {
    const auto bytes = onnxlib::onnxTextToBytes(
        "<ir_version: 8, opset_import: [\"\" : 18]> net (float[4, 4] x) => (float[4, 4] y) "
        "{ [first] a = MatMul(x, x) [second] b = MatMul(a, x) [third] y = MatMul(b, x) }");
    EXPECT_TRUE(bytes.ok());
    return m_folder.write("model.onnx", bytes.value());
  }

  TemporaryFolder m_folder;
};

TEST_F(NetworkCheck, WhatWasWrittenIsReadTheSame) {
  const auto plan = planOf(network(), {DataType::F16});
  TypedNetwork typed;
  const auto reading = readingOf(*plan, typed);
  const auto other = otherStoredType(*plan, typed, *reading);
  EXPECT_FALSE(other.has_value()) << other->text();
}

TEST_F(NetworkCheck, AnotherTypeIsNamedWithItsValue) {
  const auto path = network();
  const auto plan = planOf(path, {DataType::F16});
  TypedNetwork typed;
  const auto reading = readingOf(*planOf(path, {}), typed);  // all in f32
  const auto other = otherStoredType(*plan, typed, *reading);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->where.value, "a");
  EXPECT_NE(other->message.find("stored as f16 in the plan, but as f32"), std::string::npos) << other->message;
  EXPECT_NE(other->message.find("the same is true of 2 other values"), std::string::npos) << other->message;
}

}  // namespace
}  // namespace fusescope::test
