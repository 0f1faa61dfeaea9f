// What a strongly typed target's parser does not fold is folded in the network that it is written.
#include "interchange/typed_network/folded_for_target.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/importers.h"
#include "interchange/typed_network/make_typed_network.h"
#include "onnxlib/edited_network.h"
#include "passes/pipelines.h"
#include "tests/unit/compilers/planned_file.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

/// Axes that the file calculates of the rank of x, as ONNX's own expansion of an RMS norm does.
constexpr const char* kAxesOfRank = R"(
net (float[2, 3, 4] x) => (float[2, 3, 1] y, int64[1] rank) {
  shape = Shape (x)
  size = Size (shape)
  last = Constant <value_int = 2> ()
  one = Constant <value_int = 1> ()
  axes = Range (last, size, one)
  zero = Constant <value_ints = [0]> ()
  sizes = Unsqueeze (size, zero)
  rank = Identity (sizes)
  squared = Mul (x, x)
  y = ReduceMean <keepdims = 1> (squared, axes)
})";

onnxlib::FileModel written(const std::string& target) {
  const TemporaryFolder folder;
  const auto path = folder.write("network.onnx", onnxBytes(kAxesOfRank));
  const auto plan = plannedFile(path, {.target = target});
  const auto file = onnxlib::readModel(path);
  EXPECT_TRUE(plan != nullptr && file.ok());
  if (plan == nullptr || !file.ok()) return {};
  const auto network = typedNetwork(*plan, file.value(), {});
  EXPECT_TRUE(network.ok()) << network.error().text();
  if (!network.ok()) return {};
  const auto bytes = onnxlib::editNetwork(path, network.value().edits, "weights");
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  if (!bytes.ok()) return {};
  const auto made = folder.write("made.onnx", bytes.value().model);
  EXPECT_EQ(onnxlib::checkerComplaint(made).value_or(""), "");
  const auto again = onnxlib::readModel(made);
  EXPECT_TRUE(again.ok()) << again.error().text();
  return again.ok() ? again.value() : onnxlib::FileModel();
}

std::vector<std::string> operatorsOf(const onnxlib::FileModel& file) {
  std::vector<std::string> operators;
  for (const auto& node : file.graph.nodes) operators.push_back(node.op);
  return operators;
}

TEST(FoldedForTarget, AxesThatAreKnownAreConstantsAndWhatMadeThemGoes) {
  const auto file = written("tensorrt-rtx");
  const auto axes = std::ranges::find(file.graph.initializers, "axes", &onnxlib::FileTensor::name);
  ASSERT_NE(axes, file.graph.initializers.end());
  EXPECT_EQ(axes->dims, std::vector<std::int64_t>{1});
  const auto operators = operatorsOf(file);
  EXPECT_EQ(std::ranges::count(operators, "Range"), 0);
  EXPECT_EQ(std::ranges::count(operators, "ReduceMean"), 1);
  EXPECT_EQ(file.graph.outputs.at(1).name, "rank");  // what the network gives is made as before
  EXPECT_EQ(std::ranges::count(operators, "Identity"), 1);
}

TEST(FoldedForTarget, OtherTargetsAreWrittenWhatTheAuthorWrote) {
  const auto operators = operatorsOf(written("cpu"));
  EXPECT_EQ(std::ranges::count(operators, "Range"), 1);
  EXPECT_EQ(std::ranges::count(operators, "Shape"), 1);
}

}  // namespace
}  // namespace fusescope::test
