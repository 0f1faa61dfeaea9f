// The blocks of the zoo's networks, as a person would draw them.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ir/graph.h"
#include "planning/patterns/module_tree.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/support/paths.h"

namespace fusescope {
namespace {

/// "159 modules, 3 nodes in none: layer.0…11 ×12": with the runs that are in no other run.
std::string summaryOf(const ModuleTree& tree, const Graph& graph) {
  std::size_t none = 0;
  for (const NodeId node : graph.order()) none += tree.moduleOf[node.index] < 0 ? 1 : 0;
  std::string text = std::to_string(tree.modules.size()) + " modules, " + std::to_string(none) + " nodes in none";
  const char* separator = ": ";
  for (const Module& module : tree.modules) {
    bool inside = !module.isRun;
    for (std::int32_t at = module.parent; at >= 0; at = tree.modules[static_cast<std::size_t>(at)].parent)
      inside = inside || tree.modules[static_cast<std::size_t>(at)].isRun;
    if (inside) continue;
    text += separator + module.name + " ×" + std::to_string(module.children.size());
    separator = ", ";
  }
  return text;
}

const std::map<std::string, std::string> kZoo{
    {"bert_base", "159 modules, 3 nodes in none: layer.0…11 ×12"},
    {"bert_tiny", "29 modules, 3 nodes in none: layer.0…1 ×2"},
    {"bert_tiny_eager", "33 modules, 7 nodes in none: layer.0…1 ×2"},
    {"control_flow_if", "0 modules, 3 nodes in none"},
    {"decoder_kv", "16 modules, 58 nodes in none"},
    {"densenet121",
     "71 modules, 2 nodes in none: denselayer2…6 ×5, denselayer2…12 ×11, denselayer2…24 ×23, denselayer2…16 ×15"},
    {"diffusion_block", "9 modules, 18 nodes in none"},
    {"efficientnet_v2_s",
     "290 modules, 3 nodes in none: features.1.0…1 ×2, features.2…3 ×2, features.4.1…5 ×5, features.5.1…8 ×8, "
     "features.6.1…14 ×14"},
    {"fasterrcnn_mobilenet", "80 modules, 14 nodes in none: body.5…6 ×2, body.9…10 ×2, body.14…15 ×2"},
    {"fp16_overflow", "0 modules, 6 nodes in none"},
    {"gpt2_base", "63 modules, 0 nodes in none: h.0…11 ×12"},
    {"llama_32l", "195 modules, 1 nodes in none: layers.0…31 ×32"},
    {"llama_scale", "483 modules, 1 nodes in none: layers.0…79 ×80"},
    {"llama_tiny", "15 modules, 1 nodes in none: layers.0…1 ×2"},
    {"long_double", "0 modules, 14 nodes in none"},
    {"mobilenet_v2",
     "68 modules, 2 nodes in none: features.5…6 ×2, features.8…10 ×3, features.12…13 "
     "×2, features.15…16 ×2"},
    {"moe_dense", "71 modules, 0 nodes in none: block 0…1 ×2"},
    {"resnet50", "24 modules, 6 nodes in none: layer1.1…2 ×2, layer2.1…3 ×3, layer3.1…5 ×5, layer4.1…2 ×2"},
    {"resnet50_op13", "24 modules, 6 nodes in none: layer1.1…2 ×2, layer2.1…3 ×3, layer3.1…5 ×5, layer4.1…2 ×2"},
    {"rnn_lstm_gru", "3 modules, 0 nodes in none"},
    {"squeezenet1_1",
     "14 modules, 0 nodes in none: features.3…4 ×2, features.6…7 ×2, features.9…12 "
     "×4"},
    {"swin_v2_t", "94 modules, 4 nodes in none: features.7.0…1 ×2"},
    {"tiny_resnet_dynbatch", "8 modules, 9 nodes in none"},
    {"unet_small", "27 modules, 3 nodes in none"},
    {"vit_b_16", "75 modules, 3 nodes in none: encoder_layer_0…11 ×12"},
};

class ZooModules : public ::testing::TestWithParam<std::pair<const std::string, std::string>> {};

TEST_P(ZooModules, AreTheBlocksThatAPersonWouldDraw) {
  const auto path = test::zooModel(GetParam().first);
  if (!path) GTEST_SKIP() << "the shared zoo is not here";
  const auto model = openModel(*path);
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Graph& graph = *model.value()->graph;
  const ModuleTree tree = moduleTreeOf(*model.value());
  EXPECT_EQ(summaryOf(tree, graph), GetParam().second);
  for (const Module& module : tree.modules) {
    EXPECT_GE(module.nodes.size(), 2U) << module.path;
    EXPECT_EQ(&tree.modules[static_cast<std::size_t>(tree.find(module.path))], &module) << "paths are unique";
    if (!module.isRun) continue;
    const std::size_t size = tree.modules[static_cast<std::size_t>(module.children.front())].nodes.size();
    for (const std::int32_t copy : module.children) {
      const Module& of = tree.modules[static_cast<std::size_t>(copy)];
      ASSERT_EQ(of.nodes.size(), size) << of.path;
      for (std::size_t k = 0; k < size; ++k)
        EXPECT_EQ(graph.node(of.nodes[k]).op,
                  graph.node(tree.modules[static_cast<std::size_t>(module.children.front())].nodes[k]).op)
            << of.path;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ZooModules, ::testing::ValuesIn(kZoo.begin(), kZoo.end()),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace fusescope
