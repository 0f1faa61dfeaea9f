// Trained networks whose files leave extents open: planned so, they have the kernels that they have with fixed extents.
// They are looked for where scripts/test puts them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "session/artifact.h"
#include "session/open_model.h"

namespace fusescope {
namespace {

struct Network {
  const char *name, *package, *file, *input;
  Dims extents;
};

std::optional<std::filesystem::path> trained(const Network& network) {
  const char* home = std::getenv("HOME");
  const auto folder = std::filesystem::path(home == nullptr ? "/" : home) / ".cache" / "fusescope" / "trained";
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (!entry.path().filename().string().starts_with(network.package)) continue;
    if (std::filesystem::exists(entry.path() / network.file)) return entry.path() / network.file;
  }
  return std::nullopt;
}

std::map<std::string, int> kindsOf(const std::filesystem::path& path, const std::vector<InputOverride>& inputs) {
  std::map<std::string, int> kinds;
  const auto model = openModel(path, inputs);
  EXPECT_TRUE(model.ok()) << model.error().text();
  if (!model.ok()) return kinds;
  const auto plan = makePlan(model.value(), {});
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  if (!plan.ok()) return kinds;
  EXPECT_TRUE(verifyPlan(*plan.value()).ok());
  for (const FusedNode& fused : plan.value()->fusedNodes) ++kinds[fused.kind];
  return kinds;
}

class OpenNetworks : public ::testing::TestWithParam<Network> {};

const Network kNetworks[] = {
    {"det", "rapidocr", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", "x", {1, 3, 640, 640}},
    {"rec", "rapidocr", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", "x", {1, 3, 48, 320}},
    {"cls", "rapidocr", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", "x", {1, 3, 48, 192}},
    {"common", "ddddocr", "ddddocr/common.onnx", "input1", {1, 1, 64, 128}},
    {"common_old", "ddddocr", "ddddocr/common_old.onnx", "input1", {1, 1, 64, 128}},
};
INSTANTIATE_TEST_SUITE_P(Trained, OpenNetworks, ::testing::ValuesIn(kNetworks),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(OpenNetworks, HaveTheKernelsThatFixedExtentsGive) {
  const Network& network = GetParam();
  const auto path = trained(network);
  if (!path) GTEST_SKIP() << network.package << " is not in the cache; scripts/test fetches it";
  InputOverride fixed;
  fixed.name = network.input;
  fixed.fixed = network.extents;
  const auto open = kindsOf(*path, {}), wanted = kindsOf(*path, {fixed});
  int openNodes = 0, fixedNodes = 0;
  for (const auto& [kind, count] : open) openNodes += count;
  for (const auto& [kind, count] : wanted) fixedNodes += count;
  EXPECT_LE(openNodes * 10, fixedNodes * 11);
  for (const auto& [kind, count] : open) EXPECT_TRUE(wanted.contains(kind)) << count << " of " << kind;
}

}  // namespace
}  // namespace fusescope
