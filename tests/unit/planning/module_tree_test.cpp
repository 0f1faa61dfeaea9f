#include "planning/patterns/module_tree.h"

#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using Names = std::vector<std::string>;

/// A network of nodes in a row: "Relu layer.0/act" is a Relu of that name.
std::shared_ptr<const Model> networkOf(const Names& nodes) {
  testing::ModelBuilder builder;
  ValueId value = builder.input("x", {2, 2});
  for (const std::string& node : nodes) {
    const std::size_t blank = node.find(' ');
    value = builder.node(node.substr(0, blank), node.substr(blank + 1), {value}, {2, 2});
  }
  builder.output(value);
  return builder.build();
}

/// One line a block: how deep it is, its path, how many nodes it holds, "run" if it is one, and its title.
Names printed(const ModuleTree& tree) {
  Names lines;
  for (const Module& module : tree.modules) {
    std::string line;
    for (std::int32_t at = module.parent; at >= 0; at = tree.modules[static_cast<std::size_t>(at)].parent) line += "> ";
    line += module.path + " " + std::to_string(module.nodes.size()) + (module.isRun ? " run" : "");
    lines.push_back(line + ": " + module.title);
  }
  return lines;
}

/// A layer of an encoder: six nodes, of which two are in a module within it.
void addLayer(Names& nodes, const std::string& layer, const char* last = "Tanh") {
  const std::string at = "/enc/layer." + layer;
  for (const char* node : {"Relu ATT/a", "Abs ATT/b", "Neg /c", "Exp /d", "Sin /e"}) {
    std::string text = node;
    const std::size_t within = text.find("ATT");
    text = within == std::string::npos ? text.insert(text.find('/'), at) : text.replace(within, 3, at + "/att");
    nodes.push_back(text);
  }
  nodes.push_back(std::string(last) + " " + at + "/f");
}

TEST(ModuleTree, EqualLayersAreARunAndTitlesSayWhere) {
  Names nodes{"Cos /emb/a", "Cos /emb/b"};
  for (const char* layer : {"0", "1", "2"}) addLayer(nodes, layer);
  nodes.emplace_back("Erf /head/last");
  const ModuleTree tree = moduleTreeOf(*networkOf(nodes));
  EXPECT_FALSE(tree.byStructure);
  EXPECT_EQ(printed(tree), (Names{"emb 2: emb",                            //
                                  "enc 18 run: layer.0…2",                 //
                                  "> enc.layer.0 6: layer.0",              //
                                  "> > enc.layer.0.att 2: layer.0 · att",  //
                                  "> enc.layer.1 6: layer.1",              //
                                  "> > enc.layer.1.att 2: layer.1 · att",  //
                                  "> enc.layer.2 6: layer.2",              //
                                  "> > enc.layer.2.att 2: layer.2 · att"}))
      << "a module that holds nothing but a list of layers is that list";
  EXPECT_EQ(tree.find("enc.layer.1.att"), 5);
  EXPECT_EQ(tree.find("enc"), 1);
  EXPECT_EQ(tree.find("enc.layer"), -1);
}

TEST(ModuleTree, ALayerThatIsUnlikeTheOthersIsInNoRun) {
  Names nodes;
  addLayer(nodes, "0");
  addLayer(nodes, "1");
  addLayer(nodes, "2", "Sqrt");
  nodes.emplace_back("Erf /head/a");
  nodes.emplace_back("Erf /head/b");
  EXPECT_EQ(printed(moduleTreeOf(*networkOf(nodes))),
            (Names{"enc 18: enc", "> enc.layer.0…1 12 run: layer.0…1", "> > enc.layer.0 6: layer.0",
                   "> > > enc.layer.0.att 2: layer.0 · att", "> > enc.layer.1 6: layer.1",
                   "> > > enc.layer.1.att 2: layer.1 · att", "> enc.layer.2 6: layer.2",
                   "> > enc.layer.2.att 2: layer.2 · att", "head 2: head"}));
}

TEST(ModuleTree, ANodeThatNamesNoModuleIsWhereItsNeighboursAre) {
  const auto model = networkOf({"Abs /a/x", "Neg between", "Abs /a/y", "Neg border", "Abs /b/x", "Exp /b/y"});
  const ModuleTree tree = moduleTreeOf(*model);
  EXPECT_EQ(printed(tree), (Names{"a 3: a", "b 2: b"}));
  EXPECT_EQ(tree.moduleOf[model->graph->order()[1].index], 0);
  EXPECT_EQ(tree.moduleOf[model->graph->order()[3].index], -1);
}

TEST(ModuleTree, WhatRepeatsIsABlockWhereNoModulesAreNamed) {
  Names nodes{"Cos n"};
  for (int i = 0; i < 3; ++i)
    for (const char* op : {"Relu", "Abs", "Neg", "Exp"})
      nodes.push_back(std::string(op) + " n" + std::to_string(nodes.size()));
  const ModuleTree tree = moduleTreeOf(*networkOf(nodes));
  EXPECT_TRUE(tree.byStructure);
  EXPECT_EQ(printed(tree), (Names{"block.1…3 12 run: block 1…3", "> block.1 4: block 1", "> block.2 4: block 2",
                                  "> block.3 4: block 3"}));
}

TEST(ModuleTree, WhatSeveralBlocksReadIsInNoneOfThem) {
  testing::ModelBuilder builder;
  const ValueId x = builder.input("x", {2, 2});
  const ValueId mask = builder.node("Abs", "/enc/layer.0/mask", {x}, {2, 2});
  ValueId value = builder.node("Cos", "/emb/a", {x}, {2, 2});
  for (const std::string layer : {"0", "1"}) {
    value = builder.node("Add", "/enc/layer." + layer + "/add", {value, mask}, {2, 2});
    for (const std::string op : {"Relu", "Neg", "Exp"})
      value = builder.node(op, "/enc/layer." + layer + "/" + op, {value}, {2, 2});
  }
  builder.output(value);
  EXPECT_EQ(printed(moduleTreeOf(*builder.build())),
            (Names{"enc 9: enc", "> enc.layer.0…1 8 run: layer.0…1", "> > enc.layer.0 4: layer.0",
                   "> > enc.layer.1 4: layer.1"}));
}

TEST(ModuleTree, AModuleThatIsCalledHereAndThereIsNoBlock) {
  const auto model = networkOf({"Abs /a/x", "Neg /act/r", "Abs /a/y", "Neg /act/s", "Abs /b/x", "Exp /b/y"});
  EXPECT_EQ(moduleTreeOf(*model).find("act"), -1) << "the network leaves it for a and comes back";
}

TEST(ModuleTree, NothingIsToldOfANetworkThatRepeatsNothing) {
  EXPECT_TRUE(moduleTreeOf(*networkOf({"Relu a", "Abs b", "Neg c"})).modules.empty());
}

}  // namespace
}  // namespace fusescope
